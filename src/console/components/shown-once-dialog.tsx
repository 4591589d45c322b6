import { useState } from 'preact/hooks';
import { readOut } from './announcer.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceDialogProps {
  /** Its kind: `key`, `secret`. */
  noun: string;
  /** Null when the answer that held it was lost. */
  text: string | null;
  /** Why to keep it, and how to get another one. */
  about: { kept: string; lost: string };
  onClose: () => void;
}

/** A text that is shown this one time: Escape closes it only after it was copied. */
export function ShownOnceDialog({ noun, text, about, onClose }: ShownOnceDialogProps) {
  const [isCopied, setIsCopied] = useState(false);
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
    navigator.clipboard?.writeText(text).then(() => {
      setIsCopied(true);
      readOut(`The ${noun} was copied`);
    });
  return (
    <Dialog title={`Save this ${noun} now`} isLocked={!isCopied} onClose={onClose}>
      <div class="dialog-text">
        <p>You won’t be able to see it again. {about.kept}</p>
        <p>
          <output class="secret">
            <code>{text}</code>
          </output>
        </p>
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
