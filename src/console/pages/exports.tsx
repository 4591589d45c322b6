import { rowsOf, stateLabel, stateTone } from '../batch/batch.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import type { ExportFile } from '../exports/export-file.ts';
import { formatNumber, formatTime, formatTotal } from '../format.ts';
import { linkTo } from '../router.ts';
import { useList } from '../use-call.ts';

const searchLink = (
  <a class="button primary" href={linkTo('/search')}>
    Build a search
  </a>
);

/** The exports of the account, newest first. */
export function ExportsPage() {
  const exported = useList<ExportFile>('/v1/exports');
  const { items } = exported;
  return (
    <>
      <PageHeader
        title="Exports"
        about="Files of the people whom a search means."
        actions={items?.length === 0 ? null : searchLink}
      />
      <ProblemNotice problem={exported.problem} onRetry={exported.reload} />
      {items === undefined && exported.isLoading && <Loading />}
      {items?.length === 0 && (
        <EmptyState title="No exports yet" action={searchLink}>
          Build a search and take everybody whom it means as one file. You see the price before
          anything is charged.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && <ExportTable files={items} />}
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

function ExportTable({ files }: { files: ExportFile[] }) {
  return (
    <Table
      caption="Exports, newest first"
      rows={files}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        { header: 'Export', cell: ({ id, name }) => <a href={linkTo(`/exports/${id}`)}>{name}</a> },
        {
          header: 'State',
          cell: ({ state }) => <Badge tone={stateTone(state)}>{stateLabel(state)}</Badge>,
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
        { header: 'Made', cell: ({ schedule_id }) => (schedule_id ? 'by a schedule' : 'by hand') },
        {
          header: 'Created',
          cell: ({ created_at }) => <time dateTime={created_at}>{formatTime(created_at)}</time>,
        },
      ]}
    />
  );
}
