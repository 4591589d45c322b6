import { useState } from 'preact/hooks';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import type { MadeKey } from './key.ts';

/** The text of a new key, the one time that it is shown. */
export function MadeKeyDialog({ made, onClose }: { made: MadeKey; onClose: () => void }) {
  const [isCopied, setIsCopied] = useState(false);
  if (made.key === null) {
    return (
      <Dialog title="The key is there, its text is not" onClose={onClose}>
        <p class="dialog-text">
          The answer that showed it was lost on its way. Roll the key {made.prefix}… to get another
          one with the same settings.
        </p>
        <div class="dialog-buttons">
          <Button kind="primary" onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  }
  const text = made.key;
  // Browsers give the clipboard to pages with HTTPS alone; the text can be selected everywhere.
  const copy = () =>
    navigator.clipboard?.writeText(text).then(() => {
      setIsCopied(true);
      readOut('The key was copied');
    });
  return (
    <Dialog title="Keep this key now" onClose={onClose}>
      <div class="dialog-text">
        <p>It is shown this once and stored nowhere. Whoever has it can spend your credits.</p>
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
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}
