/** A list that was started: its progress, then its results. */
import { useState } from 'preact/hooks';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { linkTo } from '../router.ts';
import { useResource } from '../use-call.ts';
import { type Batch, isFinal, lists, stateLabel } from './batch.ts';
import { Downloads } from './downloads.tsx';
import { ProgressCard } from './progress-card.tsx';
import { Report, type ReportData } from './report.tsx';
import { RerunButton } from './rerun-button.tsx';
import { ResultRows } from './result-rows.tsx';
import { ResultsSummary } from './results-summary.tsx';
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
  const reruns = useResource<{ data: Batch[] }>(
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
      {hasResults && <Results batch={batch} isOver={isOver} reruns={reruns.data?.data ?? []} />}
      {isOver && hasFiles && !hasResults && rows.not_processed > 0 && (
        <div class="buttons">
          <RerunButton batch={batch} />
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

interface ResultsProps {
  batch: Batch;
  isOver: boolean;
  reruns: readonly Batch[];
}

/** Rows and files, with the answers of the retries unless they are not wanted. */
function Results({ batch, isOver, reruns }: ResultsProps) {
  const [isMerged, setIsMerged] = useState(true);
  const hasReruns = reruns.some(({ rows }) => rows.processed > 0);
  const withReruns = hasReruns && isMerged;
  return (
    <section class="card results" aria-labelledby="results-title">
      <div class="card-head">
        <h2 id="results-title">Rows</h2>
        {isOver && batch.match === 'likely' && batch.rows.ambiguous > 0 && (
          <a class="button secondary" href={linkTo(`/batches/${batch.id}/ambiguous`)}>
            Review ambiguous rows
          </a>
        )}
        {isOver && <RerunButton batch={batch} />}
      </div>
      {reruns.length > 0 && (
        <p class="soft">
          Retries:{' '}
          {reruns.map((rerun, index) => (
            <span key={rerun.id}>
              {index > 0 && ', '}
              <a href={linkTo(`/batches/${rerun.id}`)}>{countOf(rerun.rows.total ?? 0, 'row')}</a>
              {`, ${stateLabel(rerun.state).toLowerCase()}`}
            </span>
          ))}
        </p>
      )}
      {hasReruns && (
        <label class="check">
          <input
            type="checkbox"
            checked={isMerged}
            onChange={(event) => setIsMerged(event.currentTarget.checked)}
          />
          Include the results of {countOf(reruns.length, 'retry', 'retries')}
        </label>
      )}
      <Downloads
        path={`/v1/batches/${batch.id}`}
        query={withReruns ? { reruns: 'true' } : {}}
        isComplete={isOver}
        notAsXlsx={batch.not_as_xlsx}
      />
      <ResultRows batch={batch} withReruns={withReruns} />
    </section>
  );
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
