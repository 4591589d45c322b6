import { useState } from 'preact/hooks';
import { call } from '../api.ts';
import { tellMovedOn } from '../batch/moved-on.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { makeAndOpen } from '../components/lead-on.ts';
import { countOf } from '../format.ts';
import { PERSON_PRICE } from '../priced-operations.ts';
import { pageProblem } from '../problem.ts';
import { useAction } from '../use-call.ts';
import type { Schedule, ScheduleRun } from './schedule-words.ts';
import { useRunPrice } from './use-run-price.ts';

interface RunNowProps {
  schedule: Schedule;
  /** Reads the schedule again. */
  reload: () => void;
}

/** Runs a schedule in addition to its times, after showing the price. */
export function RunNow({ schedule, reload }: RunNowProps) {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <>
      <Button onClick={() => setIsAsked(true)}>Run now</Button>
      {isAsked && (
        <RunNowDialog schedule={schedule} reload={reload} onClose={() => setIsAsked(false)} />
      )}
    </>
  );
}

/** Throws `Problem` when a run of the schedule would no longer be as the page shows. */
async function assertShown(shown: Schedule): Promise<void> {
  const now = await call<Schedule>('GET', `/v1/schedules/${shown.id}`);
  if (runOf(now) === runOf(shown)) return;
  throw pageProblem(
    'invalid_state',
    'This schedule was changed in another tab. Check it before you run it.',
  );
}

function runOf({ filter, mode, fields, max_results, max_credits }: Schedule): string {
  return JSON.stringify([filter, mode, fields, max_results, max_credits]);
}

function RunNowDialog({ schedule, reload, onClose }: RunNowProps & { onClose: () => void }) {
  const { id, mode, live, filter } = schedule;
  const limits = { maxResults: schedule.max_results, maxCredits: schedule.max_credits };
  const { credits, isPending, said } = useRunPrice(filter, limits);
  const isKnown = !isPending && Number.isFinite(credits);
  const price = isKnown ? `up to ${said}` : null;
  const running = useAction(async () => {
    // The price is a promise, also when more people match by now.
    const body = price === null ? {} : { max_credits: credits };
    await makeAndOpen('run', 'started', async (onRepeated) => {
      await tellMovedOn({ reload }, assertShown(schedule));
      // The same run, whatever it is counted to cost by now.
      const options = { body, wanted: runOf(schedule), onRepeated };
      const run = await call<ScheduleRun>('POST', `/v1/schedules/${id}/run`, options);
      return { path: `/exports/${run.export_id}`, at: run.slot };
    });
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
