/**
 * `npm run bench [-- NAME...] [--quick]`: measures what the project promises and writes
 * `bench/results/latest.json` and a dated copy. Exits 1 when a result is wrong, never for its time: a
 * ratio above its goal is said as it is.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { type BenchStack, leadList, openBenchStack } from './bench-stack.ts';
import { type BenchResult, type JudgedResult, judge } from './benchmark.ts';
import { measureLine, pollMs } from './line.ts';
import { readServer } from './queries.ts';

interface Size {
  persons: number;
  companies: number;
  rows: number;
  runs: number;
}

const fullSize: Size = { persons: 1_000_000, companies: 200_000, rows: 500_000, runs: 5 };
const quickSize: Size = { persons: 100_000, companies: 20_000, rows: 50_000, runs: 5 };
const seed = 1;

const tenFields = [
  'id',
  'name',
  'surname',
  'email',
  'workEmail',
  'position',
  'companyId',
  'locality',
  'phone',
  'mobile',
];

type Benchmark = (stack: BenchStack, leads: string, size: Size) => Promise<BenchResult[]>;

/** Every benchmark there is. A new one is a file and an entry here. */
const benchmarks: Record<string, Benchmark> = {
  'line-ten-fields': (stack, leads, { rows, runs }) =>
    measureLine(stack, {
      name: 'line-ten-fields',
      script: 'ten-fields',
      reference: 'COPY in, one SQL join, COPY out of the same ten fields',
      fields: tenFields,
      goal: 1.2,
      leads,
      rows,
      runs,
    }),
  'line-all-columns': (stack, leads, { rows, runs }) =>
    measureLine(stack, {
      name: 'line-all-columns',
      script: 'all-columns',
      reference: 'COPY in, one SQL join, COPY out of all columns of the people',
      fields: null,
      goal: 1.2,
      leads,
      rows,
      runs,
    }),
};

await main();

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { quick: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const known = Object.keys(benchmarks);
  // `line` stands for all of its kind: `line-ten-fields`, `line-all-columns`.
  const meantBy = (word: string) =>
    known.filter((name) => name === word || name.startsWith(`${word}-`));
  const names = positionals.length === 0 ? known : [...new Set(positionals.flatMap(meantBy))];
  const unknown = positionals.filter((word) => meantBy(word).length === 0);
  if (unknown.length > 0) {
    say(
      `No such benchmark: ${unknown.join(', ')}. There are: ${Object.keys(benchmarks).join(', ')}.`,
    );
    process.exitCode = 2;
    return;
  }
  const [loadAverageBefore = 0] = loadavg();
  const size = values.quick ? quickSize : fullSize;
  const { persons, companies } = size;
  await using stack = await openBenchStack({ persons, companies, seed }, say);
  const leads = await leadList(stack, size.rows, say);
  const results: JudgedResult[] = [];
  for (const name of names) {
    say(`${name} ...`);
    for (const result of (await benchmarks[name]?.(stack, leads, size)) ?? []) {
      results.push(judge(result));
    }
  }
  await write(await describe(stack, size, loadAverageBefore), results);
}

async function describe(stack: BenchStack, size: Size, loadAverageBefore: number) {
  const server = await readServer(stack.sql);
  return {
    machine: {
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: availableParallelism(),
      memoryMiB: Math.round(totalmem() / 1024 / 1024),
      system: `${platform()} ${release()} ${arch()}`,
      // Other work on the machine slows the reference's one process more than our several: figures
      // taken under load flatter us.
      loadAverageBefore,
    },
    versions: { node: process.version, postgres: server.version },
    settings: {
      ...size,
      seed,
      workers: stack.pids.workers.length,
      pollMs,
      postgres: server.settings,
    },
  };
}

async function write(about: object, results: JudgedResult[]): Promise<void> {
  const folder = path.join(packageRoot, 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const text = `${JSON.stringify({ ...about, results }, null, 2)}\n`;
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  await writeFile(path.join(folder, `${time}.json`), text);
  await writeFile(path.join(folder, 'latest.json'), text);
  for (const result of results) say(describeResult(result));
  say(`Written to ${path.join('bench', 'results', 'latest.json')}`);
}

function describeResult({ name, ours, reference, unit, ratio, goal, ok }: JudgedResult): string {
  const judged = goal === null ? '' : `, goal ${goal}: ${ok ? 'reached' : 'MISSED'}`;
  const figures = `${ours.toFixed(2)} ${unit} against ${reference.toFixed(2)} ${unit}`;
  return `${name.padEnd(32)} ${figures}, ratio ${ratio}${judged}`;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
