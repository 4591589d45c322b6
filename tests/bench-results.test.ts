import { expect, test } from 'vitest';
import { judge } from '../bench/benchmark.ts';
import { keepMedians, mergeResults } from '../bench/results-file.ts';
import type { BenchFile } from '../docs/bench-results.ts';

const machine = { cpu: 'a', cores: 2, memoryMiB: 1024, system: 'b' };

function fileOf(rows: number, ...found: [benchmark: string, name: string, ours: number][]) {
  const results = found.map(([benchmark, name, ours]) =>
    judge(
      {
        name,
        unit: 's',
        ours,
        reference: 2,
        against: 'c',
        better: 'lower',
        goal: 1.5,
        details: {},
        runs: [],
      },
      {
        benchmark,
        measuredAt: '2024-01-01T00:00:00.000Z',
        loadAverageBefore: 0,
        busyBefore: null,
        versions: { node: 'v20' },
        commit: null,
      },
    ),
  );
  return { machine, settings: { rows }, results } satisfies BenchFile;
}

const names = ({ results }: BenchFile) => results.map(({ name, ours }) => `${name} ${ours}`);

test('a run of one benchmark keeps the results of others', () => {
  const before = fileOf(5, ['line', 'line-ten', 1], ['line', 'line-gone', 1], ['api', 'api', 3]);
  const merged = mergeResults(before, fileOf(5, ['line', 'line-ten', 2]), ['line', 'api']);
  expect(names(merged)).toEqual(['api 3', 'line-ten 2']);
});

test('results of other settings or of a removed benchmark are not kept', () => {
  const found = fileOf(5, ['line', 'line', 2]);
  expect(names(mergeResults(fileOf(6, ['api', 'api', 3]), found, ['line', 'api']))).toEqual([
    'line 2',
  ]);
  expect(names(mergeResults(fileOf(5, ['old', 'old', 3]), found, ['line']))).toEqual(['line 2']);
});

test('a ratio is judged by its goal, and an unknown figure reaches none', () => {
  const { results } = fileOf(1, ['a', 'a', 3], ['a', 'b', 3.1], ['a', 'c', Number.NaN]);
  expect(results.map(({ ok }) => ok)).toEqual([true, false, false]);
  expect(results.at(-1)).toMatchObject({ ours: null, ratio: null });
});

test('the committed file has the median over all runs of each figure', () => {
  const file = fileOf(5, ['line', 'line', 2]);
  const run = (wallSeconds: number, node: number, workers: number[]) => ({
    ...{ wallSeconds, cpuSeconds: { node }, peakMiB: { workers } },
  });
  const pair = (ours: ReturnType<typeof run>) => ({ ours, reference: run(1, 1, []) });
  const [result] = file.results;
  if (result === undefined) throw new Error('no result');
  const runs = [run(3, 7, [10]), run(1, 9, [30]), run(2, 8, [20])].map(pair);
  const kept = keepMedians({ ...file, results: [{ ...result, runs }] });
  expect(kept.results[0]?.runs).toEqual([pair(run(2, 8, [20]))]);
});
