import { type Batch, lists } from '../batch/batch.ts';
import { FilteredItems, ItemStatus } from '../batch/filtered-items.tsx';
import { operationLabel } from '../batch/operations.ts';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatNumber, formatTime } from '../format.ts';
import { linkTo } from '../router.ts';
import { useLiveList } from '../use-live-list.ts';

const uploadLink = (
  <a class="button primary" href={linkTo('/batches/new')}>
    Upload a list
  </a>
);

/** The lists of the account, newest first. */
export function BatchesPage() {
  const batches = useLiveList<Batch>('/v1/batches');
  const { items } = batches;
  return (
    <>
      <PageHeader
        title="Lists"
        about="Everything you’ve uploaded for enrichment."
        actions={items?.length === 0 ? null : uploadLink}
      />
      <ProblemNotice problem={batches.problem} onRetry={batches.reload} />
      {items === undefined && batches.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No lists yet" action={uploadLink}>
          Upload a list of people or companies. You see what we find in it and the price before
          anything is charged.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <FilteredItems items={items} of={lists} changed={batches.reload}>
          {(shown, actions) => <BatchTable batches={shown} actions={actions} />}
        </FilteredItems>
      )}
      {batches.hasMore && (
        <div class="more">
          <Button isBusy={batches.isLoading} onClick={batches.loadMore}>
            Show older lists
          </Button>
        </div>
      )}
    </>
  );
}

interface BatchTableProps {
  batches: readonly Batch[];
  actions: Column<Batch>;
}

function BatchTable({ batches, actions }: BatchTableProps) {
  return (
    <Table
      caption="Lists, newest first"
      rows={batches}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        { header: 'List', cell: ({ id, name }) => <a href={linkTo(`/batches/${id}`)}>{name}</a> },
        {
          header: 'Status',
          cell: (batch) => <ItemStatus item={batch} />,
        },
        { header: 'Operation', cell: ({ operation }) => operationLabel(operation) },
        {
          header: 'Rows',
          isNumber: true,
          cell: ({ rows }) => (rows.total === null ? '–' : formatNumber(rows.total)),
        },
        { header: 'Matched', isNumber: true, cell: ({ rows }) => formatNumber(rows.matched) },
        { header: 'Credits', isNumber: true, cell: ({ credits }) => formatNumber(credits.charged) },
        {
          header: 'Created',
          cell: ({ created_at }) => <time dateTime={created_at}>{formatTime(created_at)}</time>,
        },
        actions,
      ]}
    />
  );
}
