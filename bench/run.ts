/**
 * `npm run bench [-- NAME...] [--quick]`: measures the project's promises and stores the results in
 * `bench/results/latest.json` (`latest-quick.json` for a quick run) and a dated copy. Exits 1 when a result is
 * wrong, never for its time: a ratio above its goal is only reported.
 */
import type { BenchFile, StoredResult } from '../docs/bench-results.ts';
import { measureApi } from './api.ts';
import { readServer } from './bench.sql.ts';
import { type BenchStack, leadList, openBenchStack } from './bench-stack.ts';
import { type BenchResult, judge } from './benchmark.ts';
import {
  measureListeners,
  measureSlowConnections,
  measureStalledDownloads,
  measureWorkbooks,
} from './bounds.ts';
import { describeMachine, readCircumstances } from './circumstances.ts';
import { measureConsole } from './console.ts';
import { measureCopyFiles } from './copy-files.ts';
import { exportWork, measureExport } from './export.ts';
import { measureHostileUploads } from './hostile-uploads.ts';
import { measureImport } from './import.ts';
import { measureJobPerRow } from './job-per-row.ts';
import { measureLikely } from './likely.ts';
import { lineWork, measureLine } from './line.ts';
import { measureLinear } from './linear.ts';
import { measureLoad } from './load.ts';
import { measureLocalCopy } from './local-copy.ts';
import { measureLookups } from './lookups.ts';
import { POLL_MS } from './measured-run.ts';
import { measureMemory } from './memory.ts';
import { measureOpenLists } from './open-lists.ts';
import { parseOptions } from './parse-options.ts';
import { startProductionServers } from './production-servers.ts';
import { profileWorker } from './profile.ts';
import { measureRegister } from './register.ts';
import { openResultsFile, type ResultsFile } from './results-file.ts';
import { measureSearch } from './search.ts';
import { measureSearchGrowth } from './search-growth.ts';
import { measureStacks } from './stacks.ts';
import { tenFields } from './ten-fields.ts';
import { measureWorkers } from './workers.ts';

interface Size {
  persons: number;
  companies: number;
  rows: number;
  /** Single calls of a run. */
  requests: number;
  runs: number;
  /** Duration of lookups, and of single calls during a list. */
  lookupSeconds: number;
}

const fullSize: Size = {
  persons: 1_000_000,
  companies: 200_000,
  rows: 500_000,
  requests: 40_000,
  runs: 3,
  lookupSeconds: 15,
};
const quickSize: Size = {
  persons: 100_000,
  companies: 20_000,
  rows: 50_000,
  requests: 10_000,
  runs: 3,
  lookupSeconds: 5,
};
const SEED = 1;

type Benchmark = (stack: BenchStack, size: Size) => Promise<BenchResult[]>;

/** All benchmarks. A new one is a file and an entry here. */
const benchmarks: Record<string, Benchmark> = {
  'line-ten-fields': async (stack, { rows, runs }) =>
    measureLine(stack, {
      name: 'line-ten-fields',
      script: 'ten-fields',
      reference: 'a file in, one SQL join, a file out of the same ten fields',
      fields: tenFields,
      goal: 0.6,
      duckDb: { goal: 3, say },
      leads: await leadList(stack, rows, say),
      rows,
      runs,
    }),
  'line-all-columns': async (stack, { rows, runs }) =>
    measureLine(stack, {
      name: 'line-all-columns',
      script: 'all-columns',
      reference: 'a file in, one SQL join, a file out of all columns of the people',
      fields: null,
      goal: 0.7,
      duckDb: { goal: 3, say },
      leads: await leadList(stack, rows, say),
      rows,
      runs,
    }),
  ...Object.fromEntries(
    [tenFields, null].map((fields): [string, Benchmark] => {
      const name = `local-copy-${fields === null ? 'all-columns' : 'ten-fields'}`;
      return [
        name,
        async (stack, { rows, runs }) => {
          const work = lineWork(stack, { fields, leads: await leadList(stack, rows, say) });
          return measureLocalCopy(stack, { name, work, subject: 'list', rows, runs });
        },
      ];
    }),
  ),
  'local-copy-export': (stack, { persons, runs }) => {
    const work = exportWork(tenFields);
    const name = 'local-copy-export';
    return measureLocalCopy(stack, { name, work, subject: 'export', rows: persons, runs });
  },
  'copy-files': (stack, { persons }) => measureCopyFiles(stack, { persons }),
  'export-ten-fields': (stack, { persons, runs }) =>
    measureExport(stack, { fields: tenFields, persons, runs }),
  linear: (stack, { rows, runs }) =>
    measureLinear(stack, { rows: rows * 2, fields: tenFields, runs, say }),
  import: (stack, { persons, runs }) => measureImport(stack, { persons, runs, say }),
  register: (stack, { companies, runs }) => measureRegister(stack, { companies, runs, say }),
  ...Object.fromEntries(
    (['postgres', 'redis'] as const).map((store): [string, Benchmark] => [
      `job-per-row-${store}`,
      (stack, { rows, runs }) =>
        measureJobPerRow(stack, {
          store,
          rows: rows / 25,
          fields: tenFields,
          runs,
          say,
        }),
    ]),
  ),
  ...Object.fromEntries(
    (['embedded', 'redis'] as const).flatMap((store) =>
      [1, 50].map((wallets): [string, Benchmark] => {
        const name = `api-${store}-${wallets === 1 ? 'one-wallet' : 'fifty-wallets'}`;
        return [
          name,
          (stack, { requests, runs }) =>
            measureApi(stack, { name, store, wallets, requests, runs }, say),
        ];
      }),
    ),
  ),
  likely: (stack, { rows, runs }) => measureLikely(stack, { rows: rows / 10, runs: runs * 3 }),
  search: (stack) => measureSearch(stack, say),
  'search-growth': async (stack, { persons, companies }) => [
    await measureSearchGrowth(stack, { persons, companies, seed: SEED }, say),
  ],
  console: (stack, { runs }) => measureConsole(stack, runs * 2),
  'bounds-connections': (stack) => measureSlowConnections(stack),
  'bounds-listeners': (stack) => measureListeners(stack, say),
  'bounds-downloads': (stack) => measureStalledDownloads(stack, 'files', say),
  'bounds-uploads': (stack) => measureHostileUploads(stack),
  'bounds-workbooks': (stack) => measureWorkbooks(stack),
  lookups: async (stack, { rows, runs, lookupSeconds }) =>
    measureLookups(stack, await leadList(stack, rows, say), { runs, seconds: lookupSeconds }),
};

/** Benchmarks that start the service themselves, while no other runs. */
const ownStackBenchmarks: Record<string, (leads: string, size: Size) => Promise<BenchResult[]>> = {
  stacks: (leads, { persons, companies, rows, runs }) =>
    measureStacks({
      graph: { persons, companies, seed: SEED },
      leads,
      rows,
      fields: tenFields,
      runs,
      say,
    }),
  'bounds-downloads-s3': async (_leads, { persons, companies }) => {
    await using servers = await startProductionServers();
    const graph = { persons, companies, seed: SEED };
    await using stack = await openBenchStack(graph, say, servers.options);
    return await measureStalledDownloads(stack, 's3', say);
  },
  profile: async (leads, { persons, companies, rows, runs }) => {
    await profileWorker({
      graph: { persons, companies, seed: SEED },
      leads,
      rows,
      fields: tenFields,
      runs,
      say,
    });
    return [];
  },
  ...Object.fromEntries(
    (['embedded', 'redis'] as const).map(
      (store): [string, (leads: string, size: Size) => Promise<BenchResult[]>] => [
        `workers-${store}`,
        (_leads, { persons, companies, rows, runs }) =>
          measureWorkers({
            graph: { persons, companies, seed: SEED },
            store,
            rows: rows / 10,
            fields: tenFields,
            runs,
            say,
          }),
      ],
    ),
  ),
  'load-open-lists': async (_leads, { persons, companies, rows }) => {
    await using stack = await openBenchStack({ persons, companies, seed: SEED }, say);
    return await measureOpenLists(stack, { rows: rows * 0.4, fields: tenFields, say });
  },
  load: (_leads, { persons, companies, rows, lookupSeconds }) =>
    measureLoad({
      graph: { persons, companies, seed: SEED },
      rows: rows * 2,
      fields: tenFields,
      seconds: lookupSeconds,
      say,
    }),
  ...Object.fromEntries(
    [tenFields, null].map(
      (fields): [string, (leads: string, size: Size) => Promise<BenchResult[]>] => [
        `memory-${fields === null ? 'all-columns' : 'ten-fields'}`,
        (_leads, { persons, companies, rows }) =>
          measureMemory({
            graph: { persons, companies, seed: SEED },
            rows: rows * 2,
            fields,
            runs: 1,
            say,
          }),
      ],
    ),
  ),
};

await main();

async function main(): Promise<void> {
  const known = [...Object.keys(benchmarks), ...Object.keys(ownStackBenchmarks)];
  // `line` stands for all of its kind: `line-ten-fields`, `line-all-columns`.
  const meantBy = (word: string) =>
    known.filter((name) => name === word || name.startsWith(`${word}-`));
  const { names, isQuick } = parseOptions(
    `usage: npm run bench -- [NAME...] [--quick]\nnames: ${known.join(', ')}`,
    { options: { quick: { type: 'boolean', default: false } }, allowPositionals: true },
    ({ values, positionals }) => {
      if (positionals.some((word) => meantBy(word).length === 0)) return null;
      const chosen = [...new Set(positionals.flatMap(meantBy))];
      return { names: positionals.length === 0 ? known : chosen, isQuick: values.quick };
    },
  );
  const size = isQuick ? quickSize : fullSize;
  const file = openResultsFile(isQuick, known, say);
  const { about, leads } = await measureOnOne(names, size, file);
  for (const name of names) {
    const measure = ownStackBenchmarks[name];
    if (measure !== undefined) await measureAndKeep(name, about, file, () => measure(leads, size));
  }
  say(`Written to ${file.path}`);
}

/** Fields common to the findings of a run. */
type About = Pick<BenchFile, 'machine' | 'settings'> & { postgres: string };

/** Runs the benchmarks that share one running service; returns its description and the list used by all. */
async function measureOnOne(names: readonly string[], size: Size, file: ResultsFile) {
  const { persons, companies } = size;
  await using stack = await openBenchStack({ persons, companies, seed: SEED }, say);
  const leads = await leadList(stack, size.rows, say);
  const about = await describe(stack, size);
  for (const name of names) {
    const measure = benchmarks[name];
    if (measure !== undefined) await measureAndKeep(name, about, file, () => measure(stack, size));
  }
  return { about, leads };
}

/** Findings are stored at once: a benchmark that fails later does not lose them. */
async function measureAndKeep(
  name: string,
  { postgres, machine, settings }: About,
  file: ResultsFile,
  measure: () => Promise<BenchResult[]>,
): Promise<void> {
  say(`${name} ...`);
  const circumstances = await readCircumstances(name, postgres);
  const results = (await measure()).map((result) => judge(result, circumstances));
  if (results.length > 0) await file.keep({ machine, settings, results });
  for (const result of results) say(describeResult(result));
}

async function describe(stack: BenchStack, size: Size): Promise<About> {
  const server = await readServer(stack.sql);
  return {
    machine: describeMachine(),
    postgres: server.version,
    settings: {
      ...size,
      seed: SEED,
      workers: stack.pids.workers.length,
      pollMs: POLL_MS,
      postgres: server.settings,
    },
  };
}

function describeResult({ name, ours, reference, unit, ratio, goal, ok }: StoredResult): string {
  const judged = goal === null ? '' : `, goal ${goal}: ${ok ? 'reached' : 'MISSED'}`;
  const told = (value: number | null) => `${value?.toFixed(2) ?? '-'} ${unit}`;
  return `${name.padEnd(32)} ${told(ours)} against ${told(reference)}, ratio ${ratio}${judged}`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
