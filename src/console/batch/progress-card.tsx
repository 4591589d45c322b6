/** How far a list or an export is, what can be done about it, what came of it. */
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Fact } from '../components/fact.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import { ProgressBar } from '../components/progress-bar.tsx';
import { formatDuration, formatNumber, formatTotal, totalOf } from '../format.ts';
import { useAction } from '../use-call.ts';
import { isFinal, type Outcome, type Progress, type Resource, rowsOf } from './batch.ts';
import { CancelButton } from './cancel-button.tsx';
import { OutcomeList } from './outcome-list.tsx';
import type { Live } from './use-live-batch.ts';
import { useMovedOn } from './use-moved-on.ts';

interface ProgressCardProps<Item extends Progress> {
  item: Item;
  of: Resource;
  live: Live<Item>;
  /** What to call an outcome, where it is not what it is for lists. */
  words?: Partial<Record<Outcome, string>>;
}

export function ProgressCard<Item extends Progress>(props: ProgressCardProps<Item>) {
  const { item, of, live, words } = props;
  const { state, rows } = item;
  const isOver = isFinal(state);
  const told = rowsOf(item);
  const [, several] = of.row;
  return (
    <section class="card stack tight" aria-labelledby="progress-title">
      <h2 id="progress-title">{isOver ? 'What came of it' : 'Progress'}</h2>
      {!isOver && <Pace item={item} of={of} />}
      <OutcomeList counts={rows} total={rows.total ?? 0} words={words} />
      <dl class="facts">
        <Fact name={`${several.slice(0, 1).toUpperCase()}${several.slice(1)}`}>
          {told === null ? '–' : formatTotal(told)}
        </Fact>
        <Fact name="Credits charged">{formatNumber(item.credits.charged)}</Fact>
        {item.credits.max !== null && <Fact name="At most">{formatNumber(item.credits.max)}</Fact>}
        {isOver && item.started_at && item.finished_at && (
          <Fact name="Took">{secondsBetween(item.started_at, item.finished_at)}</Fact>
        )}
      </dl>
      {item.reason === 'expired' && (
        <p class="notice warn">
          Cancelled automatically after being held or paused for too long. Finished {several} can be
          downloaded.
        </p>
      )}
      {item.reason === 'rows_per_minute' && (
        <p class="soft">Waiting: the key has used up its rows of this minute.</p>
      )}
      {state === 'paused' && <p class="notice warn">{whyPaused(item, of)}</p>}
      {!isOver && <Controls item={item} of={of} live={live} />}
    </section>
  );
}

function secondsBetween(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : formatDuration(seconds);
}

function Pace({ item, of: { row } }: { item: Progress; of: Resource }) {
  const { rows, rows_per_second: rate, eta_seconds: eta } = item;
  const [one, several] = row;
  const total = rows.total ?? 0;
  const told = rowsOf(item);
  const said = [
    told === null ? null : `${formatNumber(rows.processed)} of ${totalOf(told, one, several)}`,
    rate === null || item.state === 'paused' ? null : `${formatNumber(rate)} ${several} a second`,
    eta === null ? null : `about ${formatDuration(eta)} left`,
  ];
  return (
    <>
      <ProgressBar label={`${several} done`} value={rows.processed} max={Math.max(1, total)} />
      <p class="soft number">{said.filter(Boolean).join(' · ')}</p>
    </>
  );
}

function whyPaused({ reason, credits }: Progress, { noun, row: [, several] }: Resource): string {
  if (reason === 'insufficient_credits') {
    return `The credits of the account are used up. The ${noun} goes on by itself as soon as there are more; ${several} that are done can be downloaded.`;
  }
  if (reason === 'key_budget') {
    return `The key has spent what it may spend today. The ${noun} goes on by itself after midnight (UTC).`;
  }
  if (reason === 'max_credits') {
    return `The ${noun} has used up its limit of ${formatNumber(credits.max ?? 0)} credits. Raise max_credits with the API or “enrich batch cap” to continue it, or cancel it; ${several} that are done can be downloaded.`;
  }
  return 'Paused until somebody resumes it. Nothing is charged meanwhile.';
}

function Controls<Item extends Progress>({ item, of, live }: ProgressCardProps<Item>) {
  const acting = useAction(async (action: 'pause' | 'resume') =>
    live.show(await call('POST', `${of.path}/${item.id}/${action}`)),
  );
  useMovedOn([acting], live);
  const { state, reason } = item;
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
        <CancelButton item={item} of={of} live={live} />
      </div>
    </>
  );
}
