import { formatNumber, formatShare } from '../format.ts';
import { sayOutcome } from '../words.ts';
import { type Outcome, outcomes } from './batch.ts';

interface OutcomeListProps {
  counts: Partial<Record<Outcome, number>>;
  /** Rows in all, those that are not done yet included. */
  total: number;
  /** The rows that the shares are of, when these are not all. */
  of?: number;
  /** Labels of outcomes that differ from those of lists. */
  words?: Partial<Record<Outcome, string>> | undefined;
}

/** How many rows came to each outcome, as a bar and as numbers. */
export function OutcomeList({ counts, total, of = total, words = {} }: OutcomeListProps) {
  const shown = outcomes.filter((name) => (counts[name] ?? 0) > 0);
  const done = shown.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
  return (
    <div class="outcomes">
      <div class="outcome-bar" aria-hidden="true">
        {shown.map((name) => (
          <span key={name} class={name} style={{ flexGrow: counts[name] ?? 0 }} />
        ))}
        <span class="rest" style={{ flexGrow: Math.max(0, total - done) }} />
      </div>
      <dl>
        {shown.map((name) => (
          <div key={name}>
            <dt>
              <span class={`dot ${name}`} aria-hidden="true" />
              {words[name] ?? sayOutcome(name)}
            </dt>
            <dd class="number">
              {formatNumber(counts[name] ?? 0)}
              <span class="soft">{formatShare(counts[name] ?? 0, of)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
