/** A list that was started: how far it is, what can be done about it, what came of it. */
import { useEffect } from 'preact/hooks';
import { call } from '../api.ts';
import { readOut } from '../components/announcer.tsx';
import { Button } from '../components/button.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ProgressBar } from '../components/progress-bar.tsx';
import { countOf, formatDuration, formatNumber } from '../format.ts';
import { linkTo } from '../router.ts';
import { useAction } from '../use-call.ts';
import { type Batch, isFinal, stateLabel } from './batch.ts';
import { CancelButton } from './cancel-button.tsx';
import { Downloads } from './downloads.tsx';
import { OutcomeList } from './outcome-list.tsx';
import { Report } from './report.tsx';
import { RerunButton } from './rerun-button.tsx';
import { ResultPreview } from './result-preview.tsx';
import type { Live } from './use-live-batch.ts';
import { useMovedOn } from './use-moved-on.ts';

interface RunningBatchProps {
  batch: Batch;
  live: Live<Batch>;
}

export function RunningBatch({ batch, live }: RunningBatchProps) {
  const { state, rows } = batch;
  const isOver = isFinal(state);
  useEffect(() => {
    readOut(`${batch.name}: ${stateLabel(state)}`);
    // The credits beside the page are those of the last answer.
    if (isFinal(state)) void call('GET', `/v1/batches/${batch.id}`).catch(() => {});
  }, [batch.id, batch.name, state]);
  if (state === 'failed') return <Failed batch={batch} />;
  const hasFiles = batch.files_deleted_at === null;
  return (
    <>
      <section class="card stack tight" aria-labelledby="progress-title">
        <h2 id="progress-title">{isOver ? 'What came of it' : 'Progress'}</h2>
        {!isOver && <Pace batch={batch} />}
        <OutcomeList counts={rows} total={rows.total ?? 0} />
        <dl class="facts">
          <Fact name="Rows" value={rows.total === null ? '…' : formatNumber(rows.total)} />
          <Fact name="Credits charged" value={formatNumber(batch.credits.charged)} />
          {batch.credits.max !== null && (
            <Fact name="At most" value={formatNumber(batch.credits.max)} />
          )}
          {isOver && batch.started_at && batch.finished_at && (
            <Fact name="Took" value={secondsBetween(batch.started_at, batch.finished_at)} />
          )}
        </dl>
        {state === 'paused' && <p class="notice warn">{whyPaused(batch)}</p>}
        {!isOver && <Controls batch={batch} live={live} />}
      </section>
      {rows.processed > 0 && hasFiles && (
        <section class="card results" aria-labelledby="results-title">
          <div class="card-head">
            <h2 id="results-title">Results</h2>
            {isOver && <RerunButton batch={batch} />}
          </div>
          <Downloads path={`/v1/batches/${batch.id}`} isComplete={isOver} />
          <ResultPreview batch={batch} />
        </section>
      )}
      {isOver && rows.processed > 0 && hasFiles && <Report batch={batch} />}
      {!hasFiles && (
        <p class="notice warn">
          The files of this batch are no longer kept. Its counts and charges stay.
        </p>
      )}
    </>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}

function secondsBetween(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
}

function Pace({ batch }: { batch: Batch }) {
  const { rows, rows_per_second: rate, eta_seconds: eta } = batch;
  const total = rows.total ?? 0;
  const said = [
    `${formatNumber(rows.processed)} of ${countOf(total, 'row')}`,
    rate === null || batch.state === 'paused' ? null : `${formatNumber(rate)} rows a second`,
    eta === null ? null : `about ${formatDuration(eta)} left`,
  ];
  return (
    <>
      <ProgressBar label="Rows done" value={rows.processed} max={Math.max(1, total)} />
      <p class="soft number">{said.filter(Boolean).join(' · ')}</p>
    </>
  );
}

function whyPaused({ reason }: Batch): string {
  if (reason === 'insufficient_credits') {
    return 'The credits of the account are used up. The batch goes on by itself as soon as there are more; rows that are done can be downloaded.';
  }
  if (reason === 'key_budget') {
    return 'The key has spent what it may spend today. The batch goes on by itself after midnight (UTC).';
  }
  return 'Paused until somebody resumes it. Nothing is charged meanwhile.';
}

function Controls({ batch, live }: RunningBatchProps) {
  const acting = useAction(async (action: 'pause' | 'resume') =>
    live.show(await call('POST', `/v1/batches/${batch.id}/${action}`)),
  );
  useMovedOn([acting], live);
  const { state, reason } = batch;
  const canPause =
    ['queued', 'running'].includes(state) || (state === 'paused' && reason !== 'user');
  if (state === 'finalizing' || state === 'cancelling') return null;
  return (
    <>
      <ProblemNotice problem={acting.problem} />
      <div class="buttons">
        {state === 'paused' && reason === 'user' && (
          <Button kind="primary" isBusy={acting.isBusy} onClick={() => acting.run('resume')}>
            Resume
          </Button>
        )}
        {canPause && (
          <Button isBusy={acting.isBusy} onClick={() => acting.run('pause')}>
            Pause
          </Button>
        )}
        <CancelButton batch={batch} live={live} />
      </div>
    </>
  );
}

function Failed({ batch }: { batch: Batch }) {
  return (
    <section class="card stack tight">
      <h2>The list could not be read</h2>
      <p>{batch.error?.detail ?? 'Something went wrong on our side.'}</p>
      <p class="soft">Nothing was charged.</p>
      <div class="buttons">
        <a class="button primary" href={linkTo('/batches/new', { again: batch.id })}>
          Upload it again
        </a>
      </div>
    </section>
  );
}
