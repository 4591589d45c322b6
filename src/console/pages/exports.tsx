import { useState } from 'preact/hooks';
import { exportFiles, rowsOf } from '../batch/batch.ts';
import { FilteredItems, ItemStatus } from '../batch/filtered-items.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { type Column, Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import type { ExportFile } from '../exports/export-file.ts';
import { countOf, formatNumber, formatTotal } from '../format.ts';
import { linkTo } from '../router.ts';

const searchLink = (
  <a class="button primary" href={linkTo('/search')}>
    Build a search
  </a>
);

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
        {(shown, actions, caption) => <Exports files={shown} actions={actions} caption={caption} />}
      </FilteredItems>
    </>
  );
}

interface ExportTableProps {
  files: readonly ExportFile[];
  actions: Column<ExportFile>;
  caption: string;
}

/** Runs of schedules that found no person would bury the files: they are apart. */
function Exports({ files, actions, caption }: ExportTableProps) {
  const empty = files.filter(isNothingNew);
  const others = files.filter((file) => !isNothingNew(file));
  return (
    <>
      {others.length > 0 && <ExportTable files={others} actions={actions} caption={caption} />}
      {empty.length > 0 && (
        <details class="more-options">
          <summary>{countOf(empty.length, 'run')} of schedules with nothing new</summary>
          <ExportTable files={empty} actions={actions} caption="Runs with nothing new" />
        </details>
      )}
    </>
  );
}

const isNothingNew = ({ schedule_id, state, rows }: ExportFile) =>
  schedule_id !== null && state === 'completed' && rows.matched === 0;

function ExportTable({ files, actions, caption }: ExportTableProps) {
  return (
    <Table
      caption={caption}
      rows={files}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      columns={[
        {
          header: 'Export',
          cell: ({ id, name, schedule_id }) => (
            <>
              <a href={linkTo(`/exports/${id}`)}>{name}</a>
              <small>{schedule_id ? 'From a schedule' : 'From a search'}</small>
            </>
          ),
        },
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
        {
          header: 'Created',
          cell: ({ created_at }) => <Time at={created_at} />,
        },
        actions,
      ]}
    />
  );
}
