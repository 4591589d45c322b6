import { useState } from 'preact/hooks';
import type { Calls } from '../../client/api-types.ts';
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
import { linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useResource } from '../use-call.ts';
import type { PageProps } from './page.ts';

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
      <MadeBy keyId={batch.key_id} />
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

/** The key that made a list; a person who signed in has one of the console. */
function MadeBy({ keyId }: { keyId: string }) {
  const mayRead = session.get()?.key.scopes.includes('account') ?? false;
  const keys = useResource<Calls['GET /v1/keys']['response']>(
    mayRead ? '/v1/keys?limit=100' : null,
  );
  if (keys.data === undefined) return null;
  const key = keys.data.data.find(({ id }) => id === keyId);
  // Of more keys than were read, another one may have made it.
  if (key === undefined && keys.data.next_cursor !== null) return null;
  return <span>by {key?.name ?? key?.prefix ?? 'the web console'}</span>;
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
