/**
 * Autocomplete while a batch runs: 200 lookups a second of typed text, among 50,000 job titles and 150,000
 * cities. Compared with a bare app that can only look up prefixes.
 */

import { drawNumber } from '../samples/generate/draw-number.ts';
import { inTransaction } from '../src/core/db/client.ts';
import { nameLookups } from '../src/core/graph/lookup-values.sql.ts';
import { must } from '../src/core/lib/assert.ts';
import {
  countNamedCities,
  settleLookups,
  writeCities,
  writePeopleCounts,
  writeTitles,
} from './bench.sql.ts';
import { type BenchStack, createBenchKey } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { startChild } from './child.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { drawPeople, lookupCountries, makeCities, makeTitles } from './lookup-vocabulary.ts';
import { runOpenLoop } from './open-loop.ts';
import { runBatches } from './run-batches.ts';

const TITLES_COUNT = 50_000;
const CITIES_COUNT = 150_000;
const PER_SECOND = 200;
/** Maximum for the slowest of a hundred. */
const GOAL_MS = 10;

export async function measureLookups(
  stack: BenchStack,
  leads: string,
  { seconds, runs }: { seconds: number; runs: number },
): Promise<BenchResult[]> {
  await fillLookups(stack);
  const texts = makeTexts(2000);
  const key = await createBenchKey(stack.sql);
  await using bare = await startChild('bench/bare-lookups.js', { databaseUrl: stack.databaseUrl });
  const headers = { Authorization: `Bearer ${key}` };
  const measure = async (prefix: string): Promise<Run> => {
    const addresses = texts.map(({ kind, q }) => `${prefix}/${kind}?q=${encodeURIComponent(q)}`);
    const latencies = await runOpenLoop({
      addresses,
      headers: [headers],
      perSecond: PER_SECOND,
      seconds,
    });
    return { wallSeconds: seconds, ...latencies };
  };
  const batches = runBatches(stack, { fields: null, leads }, () => createBenchKey(stack.sql));
  const pairs = await interleave(
    runs,
    () => measure(`${stack.url}/v1/lookups`),
    () => measure(bare.url),
  );
  const batchesDone = await batches.stop();
  const p99 = medians(pairs, (run) => Number(run.p99));
  return [
    {
      name: 'lookups-p99-beside-a-batch',
      unit: 'ms',
      ...p99,
      against: 'a bare Express application with one prefix select on the same table',
      better: 'lower',
      goal: null,
      details: {
        perSecond: PER_SECOND,
        goalMs: GOAL_MS,
        reached: p99.ours <= GOAL_MS,
        texts: texts.length,
        batchesDone,
      },
      runs: pairs,
    },
  ];
}

/** Adds names to those of the graph, once; no person has them, so their counts are random. */
async function fillLookups({ sql }: BenchStack): Promise<void> {
  if ((await countNamedCities(sql)) >= CITIES_COUNT) return;
  const titles = makeTitles(TITLES_COUNT);
  const cities = makeCities(CITIES_COUNT);
  await inTransaction(sql, async (tx) => {
    for (const [kind, ids] of [
      [1, await writeTitles(tx, titles)],
      [2, await writeCities(tx, cities, lookupCountries)],
    ] as const) {
      await nameLookups(tx, kind, ids);
      await writePeopleCounts(tx, kind, ids, ids.map(drawPeople));
    }
  });
  await settleLookups(sql);
}

/** Typed texts: prefixes of names of every length, prefixes of their words, and one in five with a typo. */
function makeTexts(count: number): { kind: 'job-titles' | 'locations'; q: string }[] {
  const names = {
    'job-titles': makeTitles(TITLES_COUNT),
    locations: makeCities(CITIES_COUNT).map(({ name }) => name),
  };
  return Array.from({ length: count }, (_, id) => {
    const kind = id % 2 === 0 ? 'job-titles' : 'locations';
    const name = must(names[kind][drawNumber(id, 1, names[kind].length)], 'name');
    const words = name.split(' ');
    const from = drawNumber(id, 2, 10) < 7 ? 0 : drawNumber(id, 3, words.length);
    const typed = words.slice(from).join(' ');
    const text = [...typed.slice(0, 1 + drawNumber(id, 4, typed.length))];
    const at = drawNumber(id, 5, text.length);
    if (drawNumber(id, 6, 5) === 0) text.splice(at, 2, ...text.slice(at, at + 2).reverse());
    return { kind, q: text.join('') };
  });
}
