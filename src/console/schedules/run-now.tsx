import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { countOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { goTo } from '../router.ts';
import { useAction } from '../use-call.ts';
import type { Schedule, ScheduleRun } from './schedule-words.ts';
import { useRunPrice } from './use-run-price.ts';

/** Runs a schedule in addition to its times, after showing the price. */
export function RunNow({ schedule }: { schedule: Schedule }) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setIsAsked(true)}>Run now</Button>
      {isAsked && <RunNowDialog schedule={schedule} onClose={() => setIsAsked(false)} />}
    </>
  );
}

function RunNowDialog({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { id, mode, live, filter } = schedule;
  const limits = { maxResults: schedule.max_results, maxCredits: schedule.max_credits };
  const { credits, isPending, said } = useRunPrice(filter, limits);
  const isKnown = !isPending && Number.isFinite(credits);
  const price = isKnown ? `up to ${said}` : null;
  const running = useAction(async () => {
    const run = await call<ScheduleRun>('POST', `/v1/schedules/${id}/run`, {
      // The price is a promise, also when more people match by now.
      body: price === null ? {} : { max_credits: credits },
    });
    goTo(`/exports/${run.export_id}`);
  });
  return (
    <ConfirmDialog
      title="Run this schedule now?"
      confirm={live && price !== null ? `Run for ${price}` : 'Run now'}
      kind="primary"
      isReady={!live || !isPending}
      action={running}
      onClose={onClose}
    >
      <p>
        {mode === 'new'
          ? 'Exports the people that this schedule has not delivered yet.'
          : 'Exports everyone who matches the search.'}{' '}
        {!live
          ? 'Nothing is charged in test mode.'
          : isPending
            ? 'Calculating the price… (free)'
            : price === null
              ? `Each person costs ${countOf(PERSON_PRICE, 'credit')}.`
              : `You are charged ${price}.`}
      </p>
      <p>Its next runs stay as planned.</p>
    </ConfirmDialog>
  );
}
