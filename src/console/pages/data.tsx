import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { DropZone } from '../components/drop-zone.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Table } from '../components/table.tsx';
import { Time } from '../components/time.tsx';
import {
  type Counts,
  type Import,
  type ImportRun,
  isOver,
  sourceLabel,
  sourceLabels,
  stateOfImport,
  stateOfRun,
  titleOfRun,
} from '../data/import-run.ts';
import { RejectsLink } from '../data/rejected-rows.tsx';
import { SendingNotice } from '../data/sending-notice.tsx';
import { useSendingFiles } from '../data/use-sending-files.ts';
import { formatNumber } from '../format.ts';
import { goTo, linkTo } from '../router.ts';
import { session } from '../session.ts';
import { useList, useResource } from '../use-call.ts';
import { useRepeating } from '../use-repeating.ts';

/** Files that become the graph, and the imports that made it. */
export function DataPage() {
  const runs = useResource<{ data: ImportRun[] }>('/admin/import-runs?limit=20');
  const history = useList<Import>('/admin/imports?limit=50');
  const files = useSendingFiles(null, ({ id }) => goTo(`/data/runs/${id}`));
  const mayEnrich = session.get()?.key.scopes.includes('batches') ?? false;
  const open = runs.data?.data.filter((run) => !isOver(run)) ?? [];
  useRepeating(() => {
    runs.refresh();
    const isShort = history.items !== undefined && history.items.length <= 50;
    if (open.length > 0 && isShort && !history.isLoading) history.reload();
  }, 4_000);
  return (
    <>
      <PageHeader
        title="Data"
        about="Import registers, CRM exports and contacts. Nothing is written until you have seen the counts."
      />
      <div class="stack">
        <section class="card" aria-label="New import">
          <DropZone
            label="Files to import"
            prompt="Drop a file here"
            accept=".csv,.tsv,.txt,.jsonl,.json,.vcf,.dat,.zip,.gz"
            hint="As you downloaded it: CSV, JSON lines, vCard, .dat, also as .zip or .gz. Drop all parts of a register together."
            file={null}
            takesMany
            onFiles={files.send}
            error={undefined}
          />
          {mayEnrich && (
            <p class="hint">
              To enrich a list, use <a href={linkTo('/batches')}>Lists</a>.
            </p>
          )}
          <SendingNotice {...files} />
        </section>
        <ProblemNotice problem={runs.problem} onRetry={runs.reload} />
        {open.length > 0 && <OpenRuns runs={open} />}
        <section class="stack" aria-label="Imports">
          <h2>History</h2>
          <ProblemNotice problem={history.problem} onRetry={history.reload} />
          {history.items === undefined && history.problem === null && <Loading />}
          {history.items?.length === 0 && (
            <p class="soft">
              Nothing has been imported yet. Start with companies, so that people find theirs. These
              files are recognised: {Object.values(sourceLabels).join(', ')}. Any other CSV or JSON
              lines gets a mapping, which you check. <code>docs/sources.md</code> says where to get
              each.
            </p>
          )}
          {history.items !== undefined && history.items.length > 0 && (
            <History imports={history.items} />
          )}
          {history.hasMore && (
            <Button isBusy={history.isLoading} onClick={history.loadMore}>
              Show more
            </Button>
          )}
        </section>
      </div>
    </>
  );
}

function OpenRuns({ runs }: { runs: readonly ImportRun[] }) {
  return (
    <section class="stack" aria-label="Under way">
      <h2>Under way</h2>
      <Table
        caption="Imports under way"
        rows={runs}
        keyOf={({ id }) => id}
        nameOf={titleOfRun}
        columns={[
          {
            header: 'File',
            cell: (run) => <a href={linkTo(`/data/runs/${run.id}`)}>{titleOfRun(run)}</a>,
          },
          {
            header: 'Status',
            cell: (run) => <Badge tone={stateOfRun(run).tone}>{stateOfRun(run).label}</Badge>,
          },
          {
            header: 'Added',
            cell: ({ created_at }) => <Time at={created_at} />,
          },
        ]}
      />
    </section>
  );
}

function History({ imports }: { imports: readonly Import[] }) {
  const count = (header: string, name: keyof Counts) => ({
    header,
    isNumber: true,
    cell: (one: Import) => formatNumber(one[name]),
  });
  return (
    <Table
      caption="History of imports"
      rows={imports}
      keyOf={({ id }) => String(id)}
      nameOf={({ files }) => files.join(', ')}
      columns={[
        {
          header: 'File',
          cell: ({ id, files, source, started_at }) => (
            <>
              <a href={linkTo(`/data/imports/${id}`)}>{files.join(', ')}</a>
              <small>
                Import {id}, {sourceLabel(source)}, <Time at={started_at} />
              </small>
            </>
          ),
        },
        {
          header: 'Status',
          cell: (one) => <Badge tone={stateOfImport(one).tone}>{stateOfImport(one).label}</Badge>,
        },
        count('Rows', 'rows'),
        count('New', 'new'),
        count('Changed', 'changed'),
        count('Unchanged', 'same'),
        count('Ended', 'gone'),
        count('Opted out', 'suppressed'),
        {
          header: 'Rejected',
          isNumber: true,
          cell: (one) => <RejectsLink of={one}>{formatNumber(one.rejected)}</RejectsLink>,
        },
      ]}
    />
  );
}
