/** The progress of a list or an export, the actions on it, and its outcome. */
import type { ComponentChildren } from 'preact';
import { call } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Fact } from '../components/fact.tsx';
import { NoCredits } from '../components/no-credits.tsx';
import { ProblemNotice } from '../components/problem-notice.tsx';
import {
  formatDuration,
  formatNumber,
  formatShare,
  formatTime,
  formatTotal,
  totalOf,
} from '../format.ts';
import { useAction } from '../use-call.ts';
import { isFinal, type Outcome, type Progress, type Resource, rowsOf } from './batch.ts';
import { CancelButton } from './cancel-button.tsx';
import { tellMovedOn } from './moved-on.ts';
import { OutcomeList } from './outcome-list.tsx';
import { RaiseLimit } from './raise-limit.tsx';
import type { Live } from './use-live-batch.ts';

interface ProgressCardProps<Item extends Progress> {
  item: Item;
  of: Resource;
  live: Live<Item>;
  /** Labels of outcomes that differ from those of lists. */
  words?: Partial<Record<Outcome, string>>;
  /** Leads the results. */
  children?: ComponentChildren;
}

export function ProgressCard<Item extends Progress>(props: ProgressCardProps<Item>) {
  const { item, of, live, words, children } = props;
  const { state, rows } = item;
  const isOver = isFinal(state);
  const told = rowsOf(item);
  const [, several] = of.row;
  const looked = rows.processed - rows.not_processed;
  return (
    <section class="card stack tight" aria-labelledby="progress-title">
      <h2 id="progress-title">{isOver ? 'Results' : 'Progress'}</h2>
      {!isOver && <Pace item={item} of={of} />}
      {children}
      <OutcomeList counts={rows} total={rows.total ?? 0} of={rows.processed} words={words} />
      <dl class="facts">
        <Fact name={`${several.slice(0, 1).toUpperCase()}${several.slice(1)}`}>
          {told === null ? '–' : formatTotal(told)}
        </Fact>
        {of.noun === 'list' && looked > 0 && (
          <Fact name="Match rate">{formatShare(rows.matched, looked)}</Fact>
        )}
        <Fact name="Credits charged">{formatNumber(item.credits.charged)}</Fact>
        {item.credits.max !== null && <Fact name="Limit">{formatNumber(item.credits.max)}</Fact>}
        {isOver && item.finished_at && <Fact name="Finished">{formatTime(item.finished_at)}</Fact>}
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
      {state === 'paused' && <WhyPaused item={item} of={of} />}
      {state === 'paused' && item.reason === 'max_credits' && (
        <RaiseLimit item={item} of={of} live={live} />
      )}
      {!isOver && <Controls item={item} of={of} live={live} />}
    </section>
  );
}

function Pace({ item, of: { row } }: { item: Progress; of: Resource }) {
  const { rows, eta_seconds: left, rows_per_second: pace } = item;
  const [one, several] = row;
  const told = rowsOf(item);
  const said = [
    told === null ? null : `${formatNumber(rows.processed)} of ${totalOf(told, one, several)}`,
    left === null ? null : `About ${formatDuration(left)} left`,
    pace ? `${formatNumber(pace)} ${several}/s` : null,
  ];
  return <p class="soft number">{said.filter(Boolean).join(' · ')}</p>;
}

function WhyPaused({ item, of }: { item: Progress; of: Resource }) {
  if (item.reason !== 'insufficient_credits') {
    return <p class="notice warn">{whyPaused(item, of)}</p>;
  }
  return (
    <NoCredits>
      Paused: you’re out of credits. It continues automatically when credits are added. You can
      download finished {of.row[1]} now.
    </NoCredits>
  );
}

function whyPaused({ reason, credits }: Progress, { noun, row: [, several] }: Resource): string {
  if (reason === 'key_budget') {
    return 'Paused: this key reached its daily credit limit. Resumes after midnight UTC.';
  }
  if (reason === 'max_credits') {
    return `Paused: this ${noun} reached its limit of ${formatNumber(credits.max ?? 0)} credits. Raise it to continue, or cancel. You can download finished ${several} now.`;
  }
  return 'Paused. Resume to continue; nothing is charged meanwhile.';
}

function Controls<Item extends Progress>({ item, of, live }: ProgressCardProps<Item>) {
  const acting = useAction(async (action: 'pause' | 'resume') =>
    live.show(await tellMovedOn(live, call('POST', `${of.path}/${item.id}/${action}`))),
  );
  const { state, reason } = item;
  const isStopped = state === 'paused' && reason === 'user';
  const canPause = ['queued', 'running', 'paused'].includes(state) && !isStopped;
  if (state === 'finalizing' || state === 'cancelling') return null;
  return (
    <>
      <ProblemNotice problem={acting.problem} />
      <div class="buttons">
        {/* One button, so that it keeps the focus. */}
        {(canPause || isStopped) && (
          <Button
            kind={isStopped ? 'primary' : 'secondary'}
            isBusy={acting.isBusy}
            onClick={() => acting.run(isStopped ? 'resume' : 'pause')}
          >
            {isStopped ? 'Resume' : state === 'paused' ? 'Keep paused' : 'Pause'}
          </Button>
        )}
        <CancelButton item={item} of={of} live={live} />
      </div>
    </>
  );
}
