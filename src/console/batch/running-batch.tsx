/** A list that was started: its progress, then its results. */
import { useState } from 'preact/hooks';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf, formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { useResource } from '../use-call.ts';
import { type Batch, isFinal, lists, stateLabel } from './batch.ts';
import { Downloads } from './downloads.tsx';
import { ProgressCard } from './progress-card.tsx';
import { Report, type ReportData } from './report.tsx';
import { RerunButton } from './rerun-button.tsx';
import { ResultRows } from './result-rows.tsx';
import { ResultsSummary } from './results-summary.tsx';
import { sayUndecidable } from './undecidable.ts';
import type { Live } from './use-live-batch.ts';
import { useToldState } from './use-told-state.ts';

interface RunningBatchProps {
  batch: Batch;
  live: Live<Batch>;
}

export function RunningBatch({ batch, live }: RunningBatchProps) {
  const { state, rows } = batch;
  const isOver = isFinal(state);
  useToldState(batch, lists);
  const hasFiles = batch.files_deleted_at === null;
  // Rows that were never looked at are no result.
  const hasResults = hasFiles && rows.processed > rows.not_processed;
  const report = useResource<ReportData>(
    isOver && hasResults && state !== 'failed' ? `/v1/batches/${batch.id}/report` : null,
  );
  const reruns = useResource<RerunPage>(
    isOver && hasFiles ? `/v1/batches?rerun_of=${batch.id}&limit=100` : null,
  );
  if (state === 'failed') return <Failed batch={batch} />;
  return (
    <>
      <Parent batch={batch} />
      <ProgressCard item={batch} of={lists} live={live}>
        {report.data && <ResultsSummary batch={batch} report={report.data} />}
      </ProgressCard>
      <ProblemNotice problem={report.problem} onRetry={report.reload} />
      {hasResults && <Results batch={batch} live={live} isOver={isOver} reruns={reruns.data} />}
      {isOver && hasFiles && !hasResults && rows.not_processed > 0 && (
        <div class="buttons">
          <RerunButton batch={batch} hasReruns={reruns.data?.data.length !== 0} />
        </div>
      )}
      {report.data && <Report batch={batch} data={report.data} />}
      {!hasFiles && (
        <p class="notice warn">
          The files of this list are no longer kept. Its counts and charges stay.
        </p>
      )}
    </>
  );
}

function Parent({ batch }: { batch: Batch }) {
  if (batch.rerun_of === null) return null;
  return (
    <p class="notice">
      <span>
        These rows are retried from <a href={linkTo(`/batches/${batch.rerun_of}`)}>another list</a>,
        and keep their row numbers. Download that list to get everything in one file.
      </span>
    </p>
  );
}

/** The latest reruns of a list. */
interface RerunPage {
  data: Batch[];
  next_cursor: string | null;
}

interface ResultsProps extends RunningBatchProps {
  isOver: boolean;
  /** Undefined until they are known. */
  reruns: RerunPage | undefined;
}

/** Rows and files, with the answers of the retries unless they are not wanted. */
function Results({ batch, live, isOver, reruns: page }: ResultsProps) {
  const [isMerged, setIsMerged] = useState(true);
  const reruns = page?.data ?? [];
  const hasReruns = reruns.some(({ rows }) => rows.processed > 0);
  const withReruns = hasReruns && isMerged;
  return (
    <section class="card results" aria-labelledby="results-title">
      <div class="card-head">
        <h2 id="results-title">Rows</h2>
        <div class="buttons">
          {isOver && batch.match === 'likely' && batch.rows.ambiguous > 0 && (
            <a class="button secondary" href={linkTo(`/batches/${batch.id}/ambiguous`)}>
              Review ambiguous rows
            </a>
          )}
          {isOver && <RerunButton batch={batch} hasReruns={page?.data.length !== 0} />}
        </div>
      </div>
      {isOver && batch.match !== 'likely' && batch.rows.ambiguous > 0 && (
        <p class="note soft">{sayUndecidable(batch.operation)}</p>
      )}
      {reruns.length > 0 && <Retries reruns={reruns} hasMore={page?.next_cursor != null} />}
      {hasReruns && (
        <label class="check">
          <input
            type="checkbox"
            checked={isMerged}
            onChange={(event) => setIsMerged(event.currentTarget.checked)}
          />
          Include the results of retries
        </label>
      )}
      <Downloads
        path={`/v1/batches/${batch.id}`}
        live={live}
        query={withReruns ? { reruns: 'true' } : {}}
        isComplete={isOver}
        notAsXlsx={batch.not_as_xlsx}
      />
      <ResultRows batch={batch} withReruns={withReruns} />
    </section>
  );
}

const RETRIES_SHOWN_MAX = 3;

/** The latest retries in a line, and the earlier ones on demand. */
function Retries({ reruns, hasMore }: { reruns: readonly Batch[]; hasMore: boolean }) {
  const earlier = reruns.slice(RETRIES_SHOWN_MAX);
  return (
    <div class="note soft">
      Latest retries: <RetryLinks reruns={reruns.slice(0, RETRIES_SHOWN_MAX)} />
      {earlier.length > 0 && (
        <details class="more-options">
          <summary>
            {formatNumber(earlier.length)}
            {hasMore && ' and more'} earlier
          </summary>
          <RetryLinks reruns={earlier} />
        </details>
      )}
    </div>
  );
}

function RetryLinks({ reruns }: { reruns: readonly Batch[] }) {
  return reruns.map((rerun, index) => (
    <span key={rerun.id}>
      {index > 0 && ', '}
      <a href={linkTo(`/batches/${rerun.id}`)}>{countOf(rerun.rows.total ?? 0, 'row')}</a>
      {` (${stateLabel(rerun.state).toLowerCase()})`}
    </span>
  ));
}

function Failed({ batch }: { batch: Batch }) {
  return (
    <section class="card stack tight">
      <h2>We couldn’t process this list</h2>
      <p>{batch.error?.detail ?? 'Something went wrong on our side.'}</p>
      <p class="soft">
        {batch.credits.charged === 0
          ? 'Nothing was charged.'
          : `${countOf(batch.credits.charged, 'credit')} charged for rows that were done before.`}
      </p>
      <div class="buttons">
        <a class="button primary" href={linkTo('/batches/new')}>
          Upload it again
        </a>
      </div>
    </section>
  );
}
