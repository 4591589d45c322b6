import { useEffect, useRef, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { tellMovedOn } from '../batch/moved-on.ts';
import { announce } from '../components/announcer.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/dialog.tsx';
import { restOf } from '../components/field.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { CountsList } from '../data/counts-list.tsx';
import {
  bytesOf,
  type ImportRun,
  isMoving,
  isOver,
  type RunChange,
  stateOfRun,
  titleOfRun,
} from '../data/import-run.ts';
import { RejectedRows } from '../data/rejected-rows.tsx';
import { ReviewRun } from '../data/review-run.tsx';
import { RunProgress } from '../data/run-progress.tsx';
import { useSendingFiles } from '../data/use-sending-files.ts';
import { countOf, formatBytes } from '../format.ts';
import { pageProblem } from '../problem.ts';
import { goTo, linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useAction, useResource } from '../use-call.ts';
import { useChanges } from '../use-changes.ts';
import { useRepeating } from '../use-repeating.ts';
import type { PageProps } from './page.ts';

const MOVING_MS = 1_000;
const RESTING_MS = 5_000;
/** Larger files are counted on demand: that takes about as long as importing them. */
const COUNTED_BYTES_MAX = 100_000_000;

/** Files on their way into the graph: what they are, what they would change, and their import. */
export function ImportRunPage({ params }: PageProps) {
  const path = `/admin/import-runs/${params.id}`;
  const resource = useResource<ImportRun>(path);
  const { data: run, reload, refresh, replace } = resource;
  useRepeating(refresh, run !== undefined && isMoving(run) ? MOVING_MS : RESTING_MS);
  return (
    <>
      <PageHeader
        title={run === undefined ? 'Import' : titleOfRun(run)}
        back={{ href: linkTo('/data'), label: 'Data' }}
        about={
          run && (
            <>
              <Badge tone={stateOfRun(run).tone}>{stateOfRun(run).label}</Badge>
              {run.kind === 'import' && (
                <span>
                  {countOf(run.files.length, 'file')}, {formatBytes(bytesOf(run))}
                </span>
              )}
            </>
          )
        }
      />
      <ProblemNotice problem={resource.problem} onRetry={reload} />
      {run === undefined && resource.problem === null && <Loading />}
      {run && <Run run={run} path={path} replace={replace} reload={reload} />}
    </>
  );
}

interface RunProps {
  run: ImportRun;
  path: string;
  replace: (run: ImportRun) => void;
}

function Run({ run, path, replace, reload }: RunProps & { reload: () => void }) {
  const changes = useChanges<RunChange>(async (body) =>
    replace(await call<ImportRun>('PATCH', path, { body })),
  );
  const files = useSendingFiles(run.id, replace);
  const counting = useAction(async () => replace(await call<ImportRun>('POST', `${path}/count`)));
  const starting = useAction(async () => {
    // Another tab may have chosen something else since.
    const start = call<ImportRun>('POST', `${path}/start?revision=${run.revision}`);
    replace(await tellMovedOn({ reload }, start));
  });
  const isRefused = run.state === 'ready' && run.problem !== null;
  const isReady = run.state === 'ready' && run.found !== null && !isRefused;
  const isCountedAtOnce = bytesOf(run) <= COUNTED_BYTES_MAX;
  const isCounted = run.counts !== null;
  // What is imported is what the page shows.
  const isShown = changes.isSaved && !files.sending.isBusy;
  const mustCount = isReady && !isCounted && isCountedAtOnce;
  useEffect(() => {
    if (mustCount) counting.run();
  }, [mustCount]);
  useEnd(run);
  if (isOver(run) || run.state === 'importing' || run.state === 'undoing') {
    return <Outcome run={run} path={path} replace={replace} />;
  }
  const unsaved = restOf(changes.problem, ['mapping', 'source', 'as_of']);
  const problem = unsaved ?? counting.problem ?? starting.problem ?? problemOf(run);
  return (
    <div class="stack">
      <ProblemNotice problem={problem} onRetry={unsaved === null ? undefined : changes.retry}>
        {run.problem?.code === 'too_many_gone' && (
          <Button onClick={() => changes.change({ allow_gone: true })}>Import anyway</Button>
        )}
      </ProblemNotice>
      <ReviewRun run={run} changes={changes} files={files} />
      {run.found !== null && !isRefused && (
        <section class="card stack" aria-label="Changes">
          <h2>What would change</h2>
          {run.counts !== null && <CountsList counts={run.counts} />}
          {run.counts !== null && <RejectedRows run={run} path={path} />}
          {run.counts === null && run.state === 'counting' && <RunProgress run={run} />}
          {run.counts === null && run.state === 'ready' && !mustCount && (
            <p class="soft">Counting a large file takes about as long as importing it.</p>
          )}
        </section>
      )}
      <div class="buttons">
        {isReady && !isCounted && (
          <Button
            kind="primary"
            isBusy={counting.isBusy}
            isDisabled={!isShown}
            onClick={() => counting.run()}
          >
            Count changes
          </Button>
        )}
        {run.found !== null && !isRefused && (
          <Button
            kind={isCounted ? 'primary' : 'secondary'}
            isBusy={starting.isBusy}
            isDisabled={
              !isShown || !['ready', 'counting'].includes(run.state) || run.problem !== null
            }
            onClick={() => starting.run()}
          >
            {isCounted ? 'Import' : 'Import without counting'}
          </Button>
        )}
        <Discard path={path} onDone={() => goTo('/data')} />
      </div>
    </div>
  );
}

/** The run while it is imported or undone, and afterwards. */
function Outcome({ run, path, replace }: RunProps) {
  const mayEnrich = session.get()?.key.scopes.includes('batches') ?? false;
  const isStoppable = run.state === 'importing' && run.import_id === null;
  return (
    <div class="stack">
      <ProblemNotice problem={problemOf(run)} />
      <section class="card stack" aria-label="Import">
        {!isOver(run) && <RunProgress run={run} />}
        {run.state === 'cancelled' && <p>This import was discarded. Nothing was written.</p>}
        {run.state === 'done' && run.kind === 'undo' && <p>The import is undone.</p>}
        {run.counts !== null && run.import_id !== null && <CountsList counts={run.counts} />}
        {run.counts !== null && isOver(run) && <RejectedRows run={run} path={path} />}
      </section>
      <div class="buttons">
        {isOver(run) && run.import_id !== null && (
          <a class="button secondary" href={linkTo(`/data/imports/${run.import_id}`)}>
            Show import {run.import_id}
          </a>
        )}
        {isOver(run) && (
          <a class="button primary" href={linkTo('/data')}>
            Import another file
          </a>
        )}
        {run.state === 'done' && run.kind === 'import' && mayEnrich && (
          <a class="button secondary" href={linkTo('/batches/new')}>
            Enrich a list
          </a>
        )}
        {isStoppable && <Discard path={path} onDone={replace} label="Stop the import" />}
      </div>
    </div>
  );
}

interface DiscardProps {
  path: string;
  onDone: (run: ImportRun) => void;
  label?: string;
}

function Discard({ path, onDone, label = 'Discard' }: DiscardProps) {
  const [isAsking, setIsAsking] = useState(false);
  const discarding = useAction(async () => {
    const run = await call<ImportRun>('POST', `${path}/cancel`);
    setIsAsking(false);
    onDone(run);
  });
  return (
    <>
      <Button onClick={() => setIsAsking(true)}>{label}</Button>
      {isAsking && (
        <ConfirmDialog
          title="Discard this import?"
          confirm="Discard it"
          action={discarding}
          onClose={() => setIsAsking(false)}
        >
          The uploaded files are deleted. Nothing from them was written to the graph.
        </ConfirmDialog>
      )}
    </>
  );
}

function problemOf({ problem }: ImportRun) {
  return problem === null ? null : pageProblem(problem.code, problem.detail);
}

/** Says when a run that was watched has ended. */
function useEnd(run: ImportRun): void {
  const wasMoving = useRef(false);
  useEffect(() => {
    if (run.state === 'done' && wasMoving.current) {
      announce(run.kind === 'undo' ? 'The import is undone.' : 'The import is done.');
    }
    wasMoving.current = isMoving(run);
  }, [run.state]);
}
