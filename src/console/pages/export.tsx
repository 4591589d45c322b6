import { exportFiles, isFinal, stateLabel, stateTone } from '../batch/batch.ts';
import { Downloads } from '../batch/downloads.tsx';
import { ProgressCard } from '../batch/progress-card.tsx';
import { type Live, useLive } from '../batch/use-live-batch.ts';
import { useToldState } from '../batch/use-told-state.ts';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';
import { PageHeader } from '../components/page-header.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { Time } from '../components/time.tsx';
import { type ExportFile, exportWords } from '../exports/export-file.ts';
import { ExportPeople } from '../exports/export-people.tsx';
import { ExportPrice } from '../exports/export-price.tsx';
import { ExportSource } from '../exports/export-source.tsx';
import { linkTo } from '../router.ts';
import type { PageProps } from './page.ts';

const back = { href: linkTo('/exports'), label: 'Exports' };

/** An export: its price, how far it is, its file. */
export function ExportPage({ params: { id = '' } }: PageProps) {
  const live = useLive<ExportFile>(`/v1/exports/${id}`, 'export');
  const { item: file, problem } = live;
  if (problem?.status === 404) return <NotThere />;
  if (file === undefined) {
    return (
      <>
        <PageHeader title="Export" back={back} />
        {problem === null ? <Loading /> : <ProblemNotice problem={problem} onRetry={live.reload} />}
      </>
    );
  }
  const about = (
    <>
      <Badge tone={stateTone(file.state)}>{stateLabel(file.state)}</Badge>
      <Time at={file.created_at} />
    </>
  );
  return (
    <>
      <PageHeader title={file.name} about={about} back={back} />
      <div class="stack">
        {!live.isConnected && !isFinal(file.state) && (
          <p class="notice warn" role="status">
            The connection was lost. The export continues without this page; reconnecting …
          </p>
        )}
        <ProblemNotice problem={problem} onRetry={live.reload} />
        <Present file={file} live={live} />
        <ExportSource file={file} />
      </div>
    </>
  );
}

/** The contents and actions for the state of the export. */
function Present({ file, live }: { file: ExportFile; live: Live<ExportFile> }) {
  useToldState(file, exportFiles);
  const { state, rows } = file;
  if (state === 'created' || state === 'validating') {
    return <p class="card loading-card">Finding people…</p>;
  }
  if (state === 'ready') return <ExportPrice file={file} live={live} />;
  if (state === 'failed') return <Failed file={file} />;
  const hasFiles = file.files_deleted_at === null;
  return (
    <>
      <ProgressCard item={file} of={exportFiles} live={live} words={exportWords} />
      {rows.matched > 0 && hasFiles && (
        <section class="card results" aria-labelledby="results-title">
          <div class="card-head">
            <h2 id="results-title">People</h2>
          </div>
          <Downloads path={`/v1/exports/${file.id}`} live={live} isComplete={isFinal(state)} />
          <ExportPeople file={file} />
        </section>
      )}
      {!hasFiles && (
        <p class="notice warn">
          The file of this export is no longer kept. Its counts and charges stay.
        </p>
      )}
    </>
  );
}

function Failed({ file }: { file: ExportFile }) {
  return (
    <section class="card stack tight">
      <h2>We couldn’t make this export</h2>
      <p>{file.error?.detail ?? 'Something went wrong on our side.'}</p>
      <p class="soft">Nothing was charged.</p>
      {file.filter !== null && (
        <div class="buttons">
          <a
            class="button primary"
            href={linkTo('/search', { filter: file.filter, view: 'export' })}
          >
            Change the search
          </a>
        </div>
      )}
    </section>
  );
}

function NotThere() {
  return (
    <>
      <PageHeader title="Export not found" back={back} />
      <EmptyState title="The link may be wrong, or it may have been deleted">
        It may belong to another account, or to the other mode: live and test data are kept apart.
      </EmptyState>
    </>
  );
}
