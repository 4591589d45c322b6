/**
 * The results of benchmarks. `latest.json`, which is committed, holds the medians of every benchmark's last
 * measurement; each run also has a dated file with every single run. A quick run has files of its own.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type BenchFile, benchFile, type RunPair } from '../docs/bench-results.ts';
import { medianOf } from '../docs/performance-page.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';

const folder = path.join(packageRoot, 'bench', 'results');

/** The results file of a run. */
export interface ResultsFile {
  /** From the package root. */
  path: string;
  /** Adds the findings of one benchmark, replacing its earlier ones. */
  keep(found: BenchFile): Promise<void>;
}

/** Opens the files of a run that starts now. `benchmarks` are all existing ones. */
export function openResultsFile(
  isQuick: boolean,
  benchmarks: readonly string[],
  say: (line: string) => void,
): ResultsFile {
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-');
  const latest = path.join(folder, isQuick ? 'latest-quick.json' : 'latest.json');
  const dated = path.join(folder, `${time}${isQuick ? '-quick' : ''}.json`);
  return {
    path: path.relative(packageRoot, latest),
    async keep(found) {
      await mkdir(folder, { recursive: true });
      const before = await readResults(latest);
      if (before !== null && !isComparable(before, found)) {
        say('Other machine or settings than before: what was kept of those is dropped.');
      }
      await write(latest, mergeResults(before, keepMedians(found), benchmarks));
      await write(dated, mergeResults(await readResults(dated), found, benchmarks));
    },
  };
}

/** Replaces the runs of each finding by one pair, the medians of every figure. */
export function keepMedians(found: BenchFile): BenchFile {
  const results = found.results.map((result) => ({
    ...result,
    runs: result.runs.length === 0 ? [] : [medianOfLeaves(result.runs) as RunPair],
  }));
  return { ...found, results };
}

/** The median of every number in values of the same shape; other values are those of the first. */
function medianOfLeaves(values: readonly unknown[]): unknown {
  const [first] = values;
  if (typeof first === 'number') {
    return medianOf(values.map((value) => (typeof value === 'number' ? value : null)));
  }
  if (typeof first !== 'object' || first === null) return first;
  const at = (key: string) =>
    medianOfLeaves(values.map((value) => (value as Record<string, unknown> | null)?.[key]));
  if (Array.isArray(first)) return first.map((_, index) => at(String(index)));
  return Object.fromEntries(Object.keys(first).map((key) => [key, at(key)]));
}

/**
 * Replaces the findings of one benchmark. Others stay when they were measured on the same machine with the same
 * settings and their benchmark still exists.
 */
export function mergeResults(
  before: BenchFile | null,
  found: BenchFile,
  benchmarks: readonly string[],
): BenchFile {
  if (before === null || !isComparable(before, found)) return found;
  const renewed = new Set(found.results.map(({ benchmark }) => benchmark));
  const kept = before.results.filter(
    ({ benchmark }) => benchmarks.includes(benchmark) && !renewed.has(benchmark),
  );
  return { ...found, results: [...kept, ...found.results] };
}

function isComparable(before: BenchFile, found: BenchFile): boolean {
  return (
    isDeepStrictEqual(before.machine, found.machine) &&
    isDeepStrictEqual(before.settings, found.settings)
  );
}

/** Null for a file that does not exist or has another format. */
async function readResults(file: string): Promise<BenchFile | null> {
  const text = await readFile(file, 'utf8').catch(() => 'null');
  return benchFile.safeParse(JSON.parse(text)).data ?? null;
}

async function write(file: string, results: BenchFile): Promise<void> {
  const { machine, settings, results: found } = results;
  const head = [machine, settings].map((part) => JSON.stringify(part));
  // One line per finding, so that a diff shows the replaced measurements.
  const lines = found.map((result) => JSON.stringify(result)).join(',\n');
  await writeFile(
    file,
    `{"machine":${head[0]},\n"settings":${head[1]},\n"results":[\n${lines}\n]}\n`,
  );
}
