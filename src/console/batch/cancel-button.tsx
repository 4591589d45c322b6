import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { useAction } from '../use-call.ts';
import type { Progress, Resource } from './batch.ts';
import { tellMovedOn } from './moved-on.ts';
import type { Live } from './use-live-batch.ts';

interface CancelButtonProps<Item extends Progress> {
  item: Item;
  of: Resource;
  live: Live<Item>;
}

/** Cancels a list or an export, after a question. */
export function CancelButton<Item extends Progress>({ item, of, live }: CancelButtonProps<Item>) {
  const [isAsked, setIsAsked] = useState(false);
  const cancelling = useAction(async () => {
    live.show(await tellMovedOn(live, call('POST', `${of.path}/${item.id}/cancel`)));
    setIsAsked(false);
  });
  const hasBegun = item.started_at !== null;
  return (
    <>
      <Button kind="danger" onClick={() => setIsAsked(true)}>
        Cancel
      </Button>
      {isAsked && (
        <ConfirmDialog
          title={`Cancel this ${of.noun}?`}
          confirm={`Cancel the ${of.noun}`}
          leave="Keep it"
          action={cancelling}
          onClose={() => {
            setIsAsked(false);
            cancelling.clear();
          }}
        >
          {hasBegun
            ? 'You keep finished rows and can download them. The rest isn’t charged.'
            : 'Nothing has been charged, and nothing will be.'}
        </ConfirmDialog>
      )}
    </>
  );
}
