import { type ComponentChildren, createContext } from 'preact';
import { useState } from 'preact/hooks';
import { useUnloadWarning } from '../use-unload-warning.ts';
import { readOut } from './announcer.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnce {
  /** Its kind: `key`, `secret`. */
  noun: string;
  /** Null when the answer that held it was lost. */
  text: string | null;
  /** Why to keep it, and how to get another one. */
  about: { kept: string; lost: string };
  /** Called when it is closed. */
  onClose?: () => void;
}

/** Shows a text this one time. */
export const ShowOnce = createContext<(shown: ShownOnce) => void>(() => {});

/** Pages, and over them what is shown this one time: it stays when the page changes, as by Back. */
export function WithShownOnce({ children }: { children: ComponentChildren }) {
  const [shown, setShown] = useState<ShownOnce | null>(null);
  const close = () => {
    setShown(null);
    shown?.onClose?.();
  };
  return (
    <ShowOnce.Provider value={setShown}>
      {children}
      {shown !== null && <ShownOnceDialog {...shown} onClose={close} />}
    </ShowOnce.Provider>
  );
}

/** Escape closes it only after the text was copied; before that the browser asks before it leaves the console. */
function ShownOnceDialog({ noun, text, about, onClose }: Required<ShownOnce>) {
  const [isCopied, setIsCopied] = useState(false);
  const [isRefused, setIsRefused] = useState(false);
  useUnloadWarning(text !== null && !isCopied);
  if (text === null) {
    return (
      <Dialog title={`The ${noun} was created but can’t be shown`} onClose={onClose}>
        <p class="dialog-text">The response that contained it was lost. {about.lost}</p>
        <div class="dialog-buttons">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  }
  // Browsers give the clipboard to pages with HTTPS alone; the text can be selected everywhere.
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => {
        setIsCopied(true);
        readOut(`The ${noun} was copied`);
      },
      () => setIsRefused(true),
    );
  return (
    <Dialog title={`Save this ${noun} now`} isLocked={!isCopied} onClose={onClose}>
      <div class="dialog-text">
        <p>You won’t be able to see it again. {about.kept}</p>
        <p>
          <output class="secret">
            <code>{text}</code>
          </output>
        </p>
        {isRefused && (
          <p role="alert">The browser refused to copy it. Select the {noun} and copy it.</p>
        )}
      </div>
      <div class="dialog-buttons">
        {navigator.clipboard && (
          <Button icon={isCopied ? 'check' : 'file'} onClick={copy}>
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
        )}
        <Button kind="primary" onClick={onClose}>
          I’ve saved it
        </Button>
      </div>
    </Dialog>
  );
}
