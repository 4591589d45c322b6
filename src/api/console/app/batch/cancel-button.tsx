import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { useAction } from '../use-call.ts';
import type { Batch } from './batch.ts';
import type { Live } from './use-live-batch.ts';
import { useMovedOn } from './use-moved-on.ts';

/** Cancels a batch, after a question. */
export function CancelButton({ batch, live }: { batch: Batch; live: Live<Batch> }) {
  const [isAsked, setIsAsked] = useState(false);
  const cancelling = useAction(async () => {
    live.show(await call('POST', `/v1/batches/${batch.id}/cancel`));
    setIsAsked(false);
  });
  useMovedOn([cancelling], live);
  const hasBegun = batch.started_at !== null;
  return (
    <>
      <Button kind="danger" onClick={() => setIsAsked(true)}>
        Cancel
      </Button>
      {isAsked && (
        <ConfirmDialog
          title="Cancel this batch?"
          confirm="Cancel the batch"
          action={cancelling}
          onClose={() => {
            setIsAsked(false);
            cancelling.clear();
          }}
        >
          {hasBegun
            ? 'Rows that are done stay done and can be downloaded. Nothing is charged for the rest.'
            : 'Nothing has been charged, and nothing will be.'}
        </ConfirmDialog>
      )}
    </>
  );
}
