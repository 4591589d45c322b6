import { exportFiles, rowsOf } from '../batch/batch.ts';
import { FilteredItems, ItemStatus } from '../batch/filtered-items.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { type Column, Table } from '../components/table.tsx';
import type { ExportFile } from '../exports/export-file.ts';
import { formatNumber, formatTime, formatTotal } from '../format.ts';
import { linkTo } from '../router.ts';
import { useLiveList } from '../use-live-list.ts';

const searchLink = (
  <a class="button primary" href={linkTo('/search')}>
    Build a search
  </a>
);

/** The exports of the account, newest first. */
export function ExportsPage() {
  const exported = useLiveList<ExportFile>('/v1/exports');
  const { items } = exported;
  return (
    <>
      <PageHeader
        title="Exports"
        about="Files created from your searches."
        actions={items?.length === 0 ? null : searchLink}
      />
      <ProblemNotice problem={exported.problem} onRetry={exported.reload} />
      {items === undefined && exported.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No exports yet" action={searchLink}>
          Build a search and export everyone it finds as one file. You see the price before anything
          is charged.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <FilteredItems items={items} of={exportFiles} changed={exported.reload}>
          {(shown, actions) => <ExportTable files={shown} actions={actions} />}
        </FilteredItems>
      )}
      {exported.hasMore && (
        <div class="more">
          <Button isBusy={exported.isLoading} onClick={exported.loadMore}>
            Show older exports
          </Button>
        </div>
      )}
    </>
  );
}

interface ExportTableProps {
  files: readonly ExportFile[];
  actions: Column<ExportFile>;
}

function ExportTable({ files, actions }: ExportTableProps) {
  return (
    <Table
      caption="Exports, newest first"
      rows={files}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        { header: 'Export', cell: ({ id, name }) => <a href={linkTo(`/exports/${id}`)}>{name}</a> },
        {
          header: 'Status',
          cell: (file) => <ItemStatus item={file} />,
        },
        {
          header: 'People',
          isNumber: true,
          cell: (file) => {
            const told = rowsOf(file);
            return told === null ? '–' : formatTotal(told);
          },
        },
        { header: 'In the file', isNumber: true, cell: ({ rows }) => formatNumber(rows.matched) },
        { header: 'Credits', isNumber: true, cell: ({ credits }) => formatNumber(credits.charged) },
        { header: 'Source', cell: ({ schedule_id }) => (schedule_id ? 'Schedule' : 'Search') },
        {
          header: 'Created',
          cell: ({ created_at }) => <time dateTime={created_at}>{formatTime(created_at)}</time>,
        },
        actions,
      ]}
    />
  );
}
