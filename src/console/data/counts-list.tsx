import { Fact } from '../components/fact.tsx';
import { formatNumber } from '../format.ts';
import type { Counts } from './import-run.ts';

const words: readonly [keyof Counts, string][] = [
  ['new', 'New'],
  ['changed', 'Changed'],
  ['same', 'Unchanged'],
  ['gone', 'Ended'],
  ['merged', 'Joined with other sources'],
  ['suppressed', 'Opted out'],
  ['rejected', 'Rejected'],
];

export function CountsList({ counts }: { counts: Counts }) {
  return (
    <div>
      <dl class="facts">
        <Fact name="Rows">{formatNumber(counts.rows)}</Fact>
        {words.map(([name, label]) => (
          <Fact key={name} name={label}>
            {formatNumber(counts[name])}
          </Fact>
        ))}
      </dl>
      {counts.suppressed > 0 && (
        <p class="hint">
          Opted out: the file marks these people as unsubscribed or protected, so they are not
          imported.
        </p>
      )}
    </div>
  );
}
