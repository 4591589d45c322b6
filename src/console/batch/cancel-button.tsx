import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { pageProblem } from '../problem.ts';
import { useAction } from '../use-call.ts';
import type { Progress, Resource } from './batch.ts';
import { tellMovedOn } from './moved-on.ts';
import type { Live } from './use-live-batch.ts';

/** Cancels a list or an export. Throws `Problem` for one that waits to be started and that another tab has started. */
export async function cancelItem<Item extends Progress>(item: Item, of: Resource): Promise<Item> {
  const path = `${of.path}/${item.id}`;
  if (item.state === 'ready' && (await call<Item>('GET', path)).state !== 'ready') {
    throw pageProblem(
      'invalid_state',
      `This ${of.noun} has been started or cancelled in another tab. Nothing was done here.`,
    );
  }
  return call<Item>('POST', `${path}/cancel`);
}

interface CancelButtonProps<Item extends Progress> {
  item: Item;
  of: Resource;
  live: Live<Item>;
}

/** Cancels a list or an export, after a question. */
export function CancelButton<Item extends Progress>({ item, of, live }: CancelButtonProps<Item>) {
  const [isAsked, setIsAsked] = useState(false);
  const cancelling = useAction(async () => {
    live.show(await tellMovedOn(live, cancelItem(item, of)));
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
