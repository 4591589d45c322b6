import { useState } from 'preact/hooks';
import { exportFiles, rowsOf } from '../batch/batch.ts';
import { FilteredItems, ItemStatus } from '../batch/filtered-items.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { ExportFile } from '../exports/export-file.ts';
import { formatNumber, formatTotal } from '../format.ts';
import { linkTo } from '../router.ts';

const searchLink = (
  <a class="button primary" href={linkTo('/search')}>
    Build a search
  </a>
);

/** The exports of the account. */
export function ExportsPage() {
  const [isEmpty, setIsEmpty] = useState(true);
  return (
    <>
      <PageHeader
        title="Exports"
        about="Files created from your searches."
        actions={isEmpty ? null : searchLink}
      />
      <FilteredItems<ExportFile>
        of={exportFiles}
        onEmpty={setIsEmpty}
        empty={
          <EmptyState title="No exports yet" action={searchLink}>
            Build a search and export everyone it finds as one file. You see the price before
            anything is charged.
          </EmptyState>
        }
      >
        {(shown, actions, caption) => (
          <ExportTable files={shown} actions={actions} caption={caption} />
        )}
      </FilteredItems>
    </>
  );
}

interface ExportTableProps {
  files: readonly ExportFile[];
  actions: Column<ExportFile>;
  caption: string;
}

function ExportTable({ files, actions, caption }: ExportTableProps) {
  return (
    <Table
      caption={caption}
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
          cell: ({ created_at }) => <Time at={created_at} />,
        },
        actions,
      ]}
    />
  );
}
