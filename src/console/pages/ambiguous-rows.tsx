import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { type AmbiguousRow, AmbiguousRowCard } from '../batch/ambiguous-row.tsx';
import type { Batch } from '../batch/batch.ts';
import { findOperation } from '../batch/operations.ts';
import { readFirstRows } from '../batch/read-first-rows.ts';
import { sayUndecidable } from '../batch/undecidable.ts';
import { type Decisions, useDecisions } from '../batch/use-decisions.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { asProblem, isOfGoneFiles, type Problem } from '../problem.ts';
import { linkTo } from '../router.ts';
import { useList, useResource } from '../use-call.ts';
import type { PageProps } from './page.ts';

const SAVE_ID = 'save-decisions';

/** The rows that several records fit: one click or one key chooses a record, and one button saves what was chosen. */
export function AmbiguousRowsPage({ params: { id = '' } }: PageProps) {
  const path = `/v1/batches/${id}`;
  const batch = useResource<Batch>(path);
  const rows = useList<AmbiguousRow>(`${path}/ambiguous`);
  const [current, setCurrent] = useState(0);
  const decisions = useDecisions(path);
  const isGone = [batch.problem, rows.problem, decisions.saving.problem].some(isOfGoneFiles);
  const problem = batch.problem ?? rows.problem ?? (isGone ? decisions.saving.problem : null);
  useEffect(() => {
    if (isGone) decisions.forget();
  }, [isGone]);
  const items = isGone ? [] : (rows.items ?? []);
  const choose = (index: number, id: number | null | undefined) => {
    const row = items[index];
    if (row === undefined) return;
    decisions.choose(row.row, id);
    if (id !== undefined) move(index + 1);
  };
  const move = (to: number) => {
    const next = Math.max(0, Math.min(items.length - 1, to));
    setCurrent(next);
    const row = items[next];
    if (row) document.getElementById(`row-${row.row}`)?.scrollIntoView({ block: 'nearest' });
  };
  // Before the next key, which may come before a paint: an effect would still choose for the row before.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const candidate = items[current]?.candidates[Number(event.key) - 1];
      if (event.key === 'j') move(current + 1);
      else if (event.key === 'k') move(current - 1);
      // A key that is held down chooses for one row, not for those after it.
      else if (event.repeat) return;
      else if (event.key === 's') document.getElementById(SAVE_ID)?.focus();
      else if (event.key === '0') choose(current, null);
      else if (candidate !== undefined) choose(current, candidate.id);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
  const back = { href: linkTo(`/batches/${id}`), label: batch.data?.name ?? 'List' };
  const header = batch.data?.dialect.header ?? [];
  return (
    <>
      <PageHeader title="Ambiguous rows" back={back} />
      <div class="stack">
        {batch.data && items.length > 0 && <p class="soft">{sayPrice(batch.data)}</p>}
        <ProblemNotice problem={problem} onRetry={isGone ? undefined : rows.reload} />
        {rows.items === undefined && rows.problem === null && <Loading />}
        {rows.items?.length === 0 && batch.data && <NothingToDecide batch={batch.data} />}
        <ul class="stack plain">
          {items.map((row, index) => (
            <AmbiguousRowCard
              key={row.row}
              row={row}
              header={header}
              isCurrent={index === current}
              choice={decisions.choices.get(row.row)}
              onChoose={(id) => choose(index, id)}
              onFocus={() => setCurrent(index)}
            />
          ))}
        </ul>
        {rows.hasMore && (
          <Button isBusy={rows.isLoading} onClick={rows.loadMore}>
            Show more rows
          </Button>
        )}
        {batch.data && decisions.unsaved.length > 0 && (
          <SaveBar batch={batch.data} decisions={decisions} />
        )}
      </div>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}

/** Says why no row can be decided: those that are ambiguous by an identifier have no candidates. */
function NothingToDecide({ batch }: { batch: Batch }) {
  const [isLeft, setIsLeft] = useState<boolean | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    const gone = new AbortController();
    const undecided = { outcomes: 'ambiguous', reruns: 'true' };
    readFirstRows(`/v1/batches/${batch.id}`, 1, gone.signal, undecided).then(
      (left) => setIsLeft(left.length > 0),
      (error) => gone.signal.aborted || setProblem(asProblem(error)),
    );
    return () => gone.abort();
  }, [batch.id]);
  if (isLeft === null) return problem === null ? <Loading /> : <ProblemNotice problem={problem} />;
  if (isLeft) {
    return <EmptyState title="No rows to decide">{sayUndecidable(batch.operation)}</EmptyState>;
  }
  return (
    <EmptyState title="No ambiguous rows">
      {batch.rows.ambiguous > 0
        ? 'Every ambiguous row of this list is decided.'
        : 'No row of this list is ambiguous.'}
    </EmptyState>
  );
}

const priceOf = ({ operation, live }: Batch) => (live ? (findOperation(operation)?.price ?? 0) : 0);

function sayPrice(batch: Batch): string {
  const cost = batch.live
    ? `Each record you choose costs ${countOf(priceOf(batch), 'credit')} when you save. Until then you can change every choice.`
    : 'Test mode: nothing is charged.';
  return `${cost} Keys: 1 to 5 choose a record, 0 none of them, J and K move between rows, S moves to Save.`;
}

/** The price of the choices and the button that saves them, always in view. */
function SaveBar({
  batch,
  decisions: { unsaved, saving },
}: {
  batch: Batch;
  decisions: Decisions;
}) {
  const records = unsaved.filter(({ id }) => id !== null).length;
  const price = countOf(records * priceOf(batch), 'credit');
  const save = `Save ${countOf(unsaved.length, 'decision')}`;
  return (
    <div class="start-bar">
      <ProblemNotice problem={saving.problem} />
      <div class="start-line">
        <div class="start-price" aria-live="polite">
          <strong>{price}</strong>
          <span class="soft">
            {batch.live
              ? 'at most; saved decisions can’t be changed'
              : 'in test mode; saved decisions can’t be changed'}
          </span>
        </div>
        <div class="buttons">
          <Button id={SAVE_ID} kind="primary" isBusy={saving.isBusy} onClick={() => saving.run()}>
            {batch.live && records > 0 ? `${save} for ${price}` : save}
          </Button>
        </div>
      </div>
    </div>
  );
}
