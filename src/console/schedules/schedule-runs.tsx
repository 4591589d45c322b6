import { isFinal } from '../batch/batch.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { Loading } from '../components/loading.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { useList } from '../use-call.ts';
import { useRepeating } from '../use-repeating.ts';
import {
  isNothingNew,
  runLabel,
  runTone,
  type Schedule,
  type ScheduleRun,
  sayRunReason,
} from './schedule-words.ts';
import { ZoneTime } from './zone-time.tsx';

/** A list that is longer than its first page is read again by hand. */
const PAGE = 20;
const MOVING_MS = 4_000;
const RESTING_MS = 20_000;

/** The outcome of each slot of a schedule, latest first. */
export function ScheduleRuns({ schedule }: { schedule: Schedule }) {
  const runs = useList<ScheduleRun>(`/v1/schedules/${schedule.id}/runs`);
  const { items } = runs;
  const isMoving = items?.some(({ state }) => state !== 'skipped' && !isFinal(state)) === true;
  const isShort = (items?.length ?? 0) <= PAGE;
  useRepeating(
    () => {
      if (isShort && !runs.isLoading) runs.reload();
    },
    isMoving ? MOVING_MS : RESTING_MS,
  );
  return (
    <section class="card" aria-labelledby="runs-title">
      <div class="card-head">
        <h2 id="runs-title">Runs</h2>
        <Button onClick={runs.reload}>Refresh</Button>
      </div>
      <ProblemNotice problem={runs.problem} onRetry={runs.reload} />
      {items === undefined && runs.isLoading && <Loading />}
      {items?.length === 0 && <p class="soft">It has not run yet.</p>}
      {items !== undefined && items.length > 0 && (
        <RunTable runs={items} zone={schedule.time_zone} />
      )}
      {runs.hasMore && (
        <div class="more">
          <Button isBusy={runs.isLoading} onClick={runs.loadMore}>
            Show older runs
          </Button>
        </div>
      )}
    </section>
  );
}

function RunTable({ runs, zone }: { runs: ScheduleRun[]; zone: string }) {
  return (
    <Table
      caption="Runs, latest first"
      rows={runs}
      keyOf={({ slot }) => slot}
      columns={[
        { header: 'Time', cell: ({ slot }) => <ZoneTime iso={slot} zone={zone} /> },
        {
          header: 'Status',
          cell: (run) => <Badge tone={runTone(run)}>{runLabel(run)}</Badge>,
        },
        { header: 'People', isNumber: true, cell: ({ rows }) => formatNumber(rows) },
        { header: 'Credits', isNumber: true, cell: ({ credits }) => formatNumber(credits) },
        {
          header: 'File',
          cell: (run) =>
            run.export_id !== null &&
            !isNothingNew(run) && <a href={linkTo(`/exports/${run.export_id}`)}>Open the export</a>,
        },
        {
          header: 'Why',
          cell: (run) => {
            const why = sayRunReason(run);
            return why === '' ? null : <span class="why">{why}</span>;
          },
        },
      ]}
    />
  );
}
