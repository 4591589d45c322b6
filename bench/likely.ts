/** Matching by name against matching by email: the processor time of this process for each row, the same people. */

import { enrichMany } from '../src/core/enrich/enrich-many.ts';
import type { RowInput } from '../src/core/enrich/outcomes.ts';
import { must } from '../src/core/lib/assert.ts';
import { selectNamedPeople } from './bench.sql.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { interleave, median, type Run } from './interleave.ts';

const CHUNK_ROWS = 3_000;
const PROBABILITY = 0.95;
const MICROSECONDS = 1e6;

/** Measures both, interleaved. Throws when a row matches another person than the one that it names. */
export async function measureLikely(
  { sql }: BenchStack,
  { rows: wanted, runs }: { rows: number; runs: number },
): Promise<BenchResult[]> {
  const people = await selectNamedPeople(sql, wanted);
  const named = people.map(({ name, surname, company, title }): RowInput => {
    const likely = { name: `${name} ${surname}`, company, title };
    return { identifiers: [], invalid: null, likely };
  });
  const mailed = people.map(({ email }): RowInput => {
    return { identifiers: [{ kind: 'email', values: [email.toLowerCase()] }], invalid: null };
  });
  const matched = { likely: 0, exact: 0 };
  const match = async (side: keyof typeof matched, rows: readonly RowInput[]): Promise<Run> => {
    const minProbability = side === 'likely' ? PROBABILITY : null;
    const start = performance.now();
    const before = process.cpuUsage();
    matched[side] = 0;
    for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
      const some = rows.slice(from, from + CHUNK_ROWS);
      const outcomes = await enrichMany(sql, 'people.enrich', some, { minProbability });
      for (const [index, { status, id }] of outcomes.entries()) {
        if (status !== 'matched') continue;
        matched[side]++;
        const { id: expected } = must(people[from + index], 'person of the row');
        if (id !== expected) throw new Error(`Row ${from + index} matched ${id}, not ${expected}.`);
      }
    }
    const { user, system } = process.cpuUsage(before);
    const processorSeconds = (user + system) / MICROSECONDS;
    return { wallSeconds: (performance.now() - start) / 1000, processorSeconds };
  };
  const pairs = await interleave(
    runs,
    () => match('likely', named),
    () => match('exact', mailed),
  );
  const perRow = (side: 'ours' | 'reference') =>
    (median(pairs.map((pair) => Number(pair[side].processorSeconds))) * MICROSECONDS) /
    people.length;
  return [
    {
      name: 'likely.row',
      unit: 'us',
      ours: perRow('ours'),
      reference: perRow('reference'),
      against: 'the same people by their email',
      better: 'lower',
      goal: null,
      details: { rows: people.length, matched },
      runs: pairs,
    },
  ];
}
