/** A list that was started: how far it is, what can be done about it, what came of it. */
import { linkTo } from '../router.ts';
import { type Batch, isFinal, lists } from './batch.ts';
import { Downloads } from './downloads.tsx';
import { ProgressCard } from './progress-card.tsx';
import { Report } from './report.tsx';
import { RerunButton } from './rerun-button.tsx';
import { ResultPreview } from './result-preview.tsx';
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
  if (state === 'failed') return <Failed batch={batch} />;
  const hasFiles = batch.files_deleted_at === null;
  return (
    <>
      <ProgressCard item={batch} of={lists} live={live} />
      {rows.processed > 0 && hasFiles && (
        <section class="card results" aria-labelledby="results-title">
          <div class="card-head">
            <h2 id="results-title">Results</h2>
            {isOver && <RerunButton batch={batch} />}
          </div>
          <Downloads
            path={`/v1/batches/${batch.id}`}
            isComplete={isOver}
            notAsXlsx={batch.not_as_xlsx}
          />
          <ResultPreview batch={batch} />
        </section>
      )}
      {isOver && rows.processed > 0 && hasFiles && <Report batch={batch} />}
      {!hasFiles && (
        <p class="notice warn">
          The files of this batch are no longer kept. Its counts and charges stay.
        </p>
      )}
    </>
  );
}

function Failed({ batch }: { batch: Batch }) {
  return (
    <section class="card stack tight">
      <h2>The list could not be read</h2>
      <p>{batch.error?.detail ?? 'Something went wrong on our side.'}</p>
      <p class="soft">Nothing was charged.</p>
      <div class="buttons">
        <a class="button primary" href={linkTo('/batches/new')}>
          Upload it again
        </a>
      </div>
    </section>
  );
}
