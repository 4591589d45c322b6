import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { announce } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { useAction } from '../use-call.ts';
import type { Key, MadeKey } from './key.ts';

interface KeyActionsProps {
  keyShown: Key;
  onRolled: (made: MadeKey) => void;
  onChanged: () => void;
}

/** Replaces a key or ends it, each after a question. */
export function KeyActions({ keyShown, onRolled, onChanged }: KeyActionsProps) {
  const [asked, setAsked] = useState<'roll' | 'revoke' | null>(null);
  const { id, prefix } = keyShown;
  const rolling = useAction(async () => {
    const made = await call<MadeKey>('POST', `/v1/keys/${id}/roll`, { body: {} });
    setAsked(null);
    onRolled(made);
  });
  const revoking = useAction(async () => {
    await call('DELETE', `/v1/keys/${id}`);
    setAsked(null);
    announce(`The key ${prefix}… was revoked.`);
    onChanged();
  });
  const close = () => {
    setAsked(null);
    rolling.clear();
    revoking.clear();
  };
  const label = keyShown.name ?? `${prefix}…`;
  return (
    <div class="buttons tight">
      <Button kind="quiet" onClick={() => setAsked('roll')}>
        Rotate<span class="unseen"> {label}</span>
      </Button>
      <Button kind="quiet" onClick={() => setAsked('revoke')}>
        Revoke<span class="unseen"> {label}</span>
      </Button>
      {asked === 'roll' && (
        <ConfirmDialog
          title={`Rotate ${label}?`}
          confirm="Rotate the key"
          kind="primary"
          action={rolling}
          onClose={close}
        >
          You get a new key with the same settings. The old one stays valid for 24 hours, so that
          your programs can switch.
        </ConfirmDialog>
      )}
      {asked === 'revoke' && (
        <ConfirmDialog
          title={`Revoke ${label}?`}
          confirm="Revoke the key"
          action={revoking}
          onClose={close}
        >
          Apps using this key stop working immediately. Lists it started will finish. This can’t be
          undone.
        </ConfirmDialog>
      )}
    </div>
  );
}
