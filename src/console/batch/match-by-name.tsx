/** The option to match rows by name where no identifier does, with what it brings and costs. */
import { useRef } from 'preact/hooks';
import { countOf } from '../format.ts';
import type { Batch } from './batch.ts';
import type { Changes } from './use-changes.ts';

interface MatchByNameProps {
  batch: Batch;
  changes: Changes;
}

type Quote = NonNullable<Batch['quote']>;

export function MatchByName({ batch, changes: { pending, change } }: MatchByNameProps) {
  const mode = pending.match ?? batch.match;
  // The price without it, to compare with.
  const exact = useRef<Quote | null>(null);
  const { quote } = batch;
  const isPriced = quote?.state === 'done' && pending.match === undefined;
  if (isPriced && batch.match === 'exact') exact.current = quote;
  return (
    <label>
      <input
        type="checkbox"
        checked={mode === 'likely'}
        onChange={(event) => change({ match: event.currentTarget.checked ? 'likely' : 'exact' })}
      />
      <span>
        Also match by name
        <span class="hint">
          {mode === 'likely'
            ? sayMore(exact.current, isPriced ? quote : null)
            : sayUnmatched(quote)}
        </span>
      </span>
    </label>
  );
}

/** Says what turning it on tells: how many more rows match, where matches of this list are counted for free. */
function sayUnmatched(quote: Batch['quote']): string {
  const { matched, no_match = 0, invalid = 0 } = quote?.rows ?? {};
  const about = 'Rows that no identifier matches are matched by name and company, or place.';
  const isKnown = quote?.state === 'done';
  if (!isKnown || (matched !== undefined && no_match + invalid === 0)) return about;
  const told = matched === undefined ? 'the price' : 'how many more rows match, and the price,';
  return `${about} Turn it on to see ${told} for free.`;
}

/** How many more rows match, and for how much. */
function sayMore(before: Quote | null, after: Quote | null): string {
  if (after === null) return 'Calculating how many more rows match…';
  const matched = (quote: Quote | null) => quote?.rows?.matched;
  const more = (matched(after) ?? 0) - (matched(before) ?? 0);
  if (before === null || matched(before) === undefined || matched(after) === undefined) {
    return 'Only matches that are right in 95 of 100 cases are charged; rows that several records fit are free.';
  }
  const credits = (after.credits ?? 0) - (before.credits ?? 0);
  const rows = countOf(more, 'more row matches', 'more rows match');
  return `${rows} by name, for ${countOf(credits, 'more credit')}.`;
}
