import { useState } from 'preact/hooks';
import { type Batch, isFinal, stateLabel, stateTone } from '../batch/batch.ts';
import { operationLabel } from '../batch/operations.ts';
import { ReviewBatch } from '../batch/review-batch.tsx';
import { RunningBatch } from '../batch/running-batch.tsx';
import { useLive } from '../batch/use-live-batch.ts';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Time } from '../components/time.tsx';
import type { PageProps } from '../page.ts';
import { linkTo } from '../router.ts';

const back = { href: linkTo('/batches'), label: 'Lists' };

/** A list: its columns, options and price, then its progress, then its results. */
export function BatchPage({ params: { id = '' } }: PageProps) {
  const live = useLive<Batch>(`/v1/batches/${id}`, 'batch');
  const { item: batch, problem } = live;
  // Stays as it is while the file is read again.
  const [isFormatOpen, setIsFormatOpen] = useState(false);
  if (problem?.status === 404) return <NotThere />;
  if (batch === undefined) {
    return (
      <>
        <PageHeader title="List" back={back} />
        {problem === null ? <Loading /> : <ProblemNotice problem={problem} onRetry={live.reload} />}
      </>
    );
  }
  const about = (
    <>
      <Badge tone={stateTone(batch.state)}>{stateLabel(batch.state)}</Badge>
      <span>{operationLabel(batch.operation)}</span>
      <Time at={batch.created_at} />
    </>
  );
  return (
    <>
      <PageHeader title={batch.name} about={about} back={back} />
      <div class="stack">
        {!live.isConnected && !isFinal(batch.state) && (
          <p class="notice warn" role="status">
            Connection lost. Reconnecting… Your list isn’t affected.
          </p>
        )}
        <ProblemNotice problem={problem} onRetry={live.reload} />
        {isBeingRead(batch) && <p class="card loading-card">Reading your file…</p>}
        {batch.state === 'ready' && (
          <ReviewBatch
            batch={batch}
            live={live}
            isFormatOpen={isFormatOpen}
            onFormatOpen={setIsFormatOpen}
          />
        )}
        {!isBeingRead(batch) && batch.state !== 'ready' && (
          <RunningBatch batch={batch} live={live} />
        )}
      </div>
    </>
  );
}

function isBeingRead({ state }: Batch): boolean {
  return state === 'created' || state === 'validating';
}

function NotThere() {
  return (
    <>
      <PageHeader title="List not found" back={back} />
      <EmptyState title="The link may be wrong">
        The list may belong to another account, or to the other mode: live and test data are kept
        apart.
      </EmptyState>
    </>
  );
}
