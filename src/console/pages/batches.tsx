import { useState } from 'preact/hooks';
import { type Batch, lists } from '../batch/batch.ts';
import { FilteredItems, ItemStatus } from '../batch/filtered-items.tsx';
import { operationLabel } from '../batch/operations.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { FirstSteps } from '../components/first-steps.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import { formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';

const uploadLink = (
  <a class="button primary" href={linkTo('/batches/new')}>
    Upload a list
  </a>
);

/** The lists of the account. */
export function BatchesPage() {
  const [isEmpty, setIsEmpty] = useState(true);
  return (
    <>
      <PageHeader
        title="Lists"
        about="Everything you’ve uploaded for enrichment."
        actions={isEmpty ? null : uploadLink}
      />
      <FilteredItems<Batch>
        of={lists}
        onEmpty={setIsEmpty}
        empty={
          <EmptyState title="No lists yet" action={<FirstSteps />}>
            A few things to try. You see each price before anything is charged.
          </EmptyState>
        }
      >
        {(shown, actions, caption) => (
          <BatchTable batches={shown} actions={actions} caption={caption} />
        )}
      </FilteredItems>
    </>
  );
}

interface BatchTableProps {
  batches: readonly Batch[];
  actions: Column<Batch>;
  caption: string;
}

function BatchTable({ batches, actions, caption }: BatchTableProps) {
  return (
    <Table
      caption={caption}
      rows={batches}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        {
          header: 'List',
          cell: ({ id, name, operation }) => (
            <>
              <a href={linkTo(`/batches/${id}`)}>{name}</a>
              <small>{operationLabel(operation)}</small>
            </>
          ),
        },
        {
          header: 'Status',
          cell: (batch) => <ItemStatus item={batch} />,
        },
        {
          header: 'Rows',
          isNumber: true,
          cell: ({ rows }) => (rows.total === null ? '–' : formatNumber(rows.total)),
        },
        { header: 'Matched', isNumber: true, cell: ({ rows }) => formatNumber(rows.matched) },
        { header: 'Credits', isNumber: true, cell: ({ credits }) => formatNumber(credits.charged) },
        {
          header: 'Created',
          cell: ({ created_at }) => <Time at={created_at} />,
        },
        actions,
      ]}
    />
  );
}
