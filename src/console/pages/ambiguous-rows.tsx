import { useEffect, useState } from 'preact/hooks';
import { type AmbiguousRow, AmbiguousRowCard } from '../batch/ambiguous-row.tsx';
import type { Batch } from '../batch/batch.ts';
import { findOperation } from '../batch/operations.ts';
import { useDecisions } from '../batch/use-decisions.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { countOf } from '../format.ts';
import { linkTo } from '../router.ts';
import { useList, useResource } from '../use-call.ts';
import type { PageProps } from './page.ts';

/** The rows that several records fit: one click or one key takes a record. */
export function AmbiguousRowsPage({ params: { id = '' } }: PageProps) {
  const path = `/v1/batches/${id}`;
  const batch = useResource<Batch>(path);
  const rows = useList<AmbiguousRow>(`${path}/ambiguous`);
  const [current, setCurrent] = useState(0);
  const items = rows.items ?? [];
  const decisions = useDecisions(path);
  const decide = (index: number, choice: number | null) => {
    const row = items[index];
    if (row === undefined) return;
    decisions.decide({ row: row.row, id: choice });
    move(index + 1);
  };
  const move = (to: number) => {
    const next = Math.max(0, Math.min(items.length - 1, to));
    setCurrent(next);
    const row = items[next];
    if (row) document.getElementById(`row-${row.row}`)?.scrollIntoView({ block: 'nearest' });
  };
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const candidate = items[current]?.candidates[Number(event.key) - 1];
      if (event.key === 'j') move(current + 1);
      else if (event.key === 'k') move(current - 1);
      else if (event.key === '0') decide(current, null);
      else if (candidate !== undefined) decide(current, candidate.id);
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
        {batch.data && <p class="soft">{sayPrice(batch.data)}</p>}
        <ProblemNotice problem={batch.problem ?? rows.problem} onRetry={rows.reload} />
        <ProblemNotice problem={decisions.problem} />
        {rows.items === undefined && rows.problem === null && <Loading />}
        {rows.items?.length === 0 && (
          <EmptyState title="No ambiguous rows">Every row of this list is decided.</EmptyState>
        )}
        <ul class="stack plain">
          {items.map((row, index) => (
            <AmbiguousRowCard
              key={row.row}
              row={row}
              header={header}
              isCurrent={index === current}
              chosen={decisions.chosen.get(row.row)}
              onChoose={(choice) => decide(index, choice)}
              onFocus={() => setCurrent(index)}
            />
          ))}
        </ul>
        {rows.hasMore && (
          <Button isBusy={rows.isLoading} onClick={rows.loadMore}>
            Show more rows
          </Button>
        )}
      </div>
    </>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select');
}

function sayPrice({ operation, live }: Batch): string {
  const price = live ? (findOperation(operation)?.price ?? 0) : 0;
  const cost = live
    ? `Each record you choose costs ${countOf(price, 'credit')}, once`
    : 'Test mode: nothing is charged';
  return `${cost}. Keys: 1 to 5 choose a record, 0 none of them, J and K move between rows.`;
}
