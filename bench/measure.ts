/**
 * Compares work of the service with a script on the same server and with DuckDB on its own copy, in interleaved
 * runs; all must give the same file.
 */
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { assert } from '../src/core/lib/assert.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { compareResults } from './compare-results.ts';
import { median, type Run, takeTurns } from './interleave.ts';
import { type MeasuredWork, runMeasured, secondsSince } from './measured-run.ts';
import {
  type CostlyPids,
  cpuBetween,
  readCpu,
  readPeakMemory,
  resetPeakMemory,
} from './process-cost.ts';
import { type DuckDb, openDuckDb } from './run-duckdb.ts';
import { openReference, type Reference, type ReferenceScript } from './run-reference.ts';

export interface Measurement {
  name: string;
  script: ReferenceScript;
  /** Description of the reference. */
  reference: string;
  /** The largest acceptable ratio. */
  goal: number;
  /** Also compares with DuckDB; the largest acceptable ratio to it. */
  duckDb?: { goal: number; say: (line: string) => void };
  rows: number;
  runs: number;
  /** Writes the script's input into its folder. */
  prepare?(folder: string): Promise<void>;
}

type Turn = Record<'ours' | 'reference' | 'duckDb', Run>;

/**
 * Runs of ours that do not count, before the one of each side. The processes of the service have just started: V8 compiles what
 * is hot during the first lists, which take up to 1.6 times as long.
 */
const COMPILING_RUNS = 2;

/** Measures the work until it is complete, and with its download. Throws when files differ in any cell. */
export async function measure(
  stack: BenchStack,
  work: MeasuredWork,
  measurement: Measurement,
): Promise<BenchResult[]> {
  const { name, goal, duckDb: withDuckDb } = measurement;
  const folder = path.join(stack.folder, name);
  await mkdir(folder, { recursive: true });
  await measurement.prepare?.(folder);
  const reference = await openReference(stack, folder);
  await using duckDb =
    withDuckDb === undefined ? null : await openDuckDb(stack, folder, withDuckDb.say);
  const result = path.join(folder, 'ours.csv');
  const turns = await runTurns(stack, work, { measurement, reference, duckDb, ours: result });
  const psql = {
    ...(await holdAgainst(turns, path.join(folder, 'reference.csv'), result)),
    against: `${measurement.reference} (${reference.client})`,
    reference: median(turns.map((turn) => turn.reference.wallSeconds)),
  };
  const shared = { unit: 's', better: 'lower' as const };
  const ours = median(turns.map((turn) => turn.ours.wallSeconds));
  const fetched = median(
    turns.map((turn) => turn.ours.wallSeconds + Number(turn.ours.downloadSeconds)),
  );
  const runs = turns.map((turn) => ({ ours: turn.ours, reference: turn.reference }));
  const results: BenchResult[] = [
    { ...shared, ...psql, name, ours, goal, runs },
    { ...shared, ...psql, name: `${name}-and-download`, ours: fetched, goal: null, runs: [] },
  ];
  if (duckDb !== null && withDuckDb !== undefined) {
    results.push({
      ...shared,
      ...(await holdAgainst(turns, path.join(folder, 'duckdb.csv'), result)),
      name: `${name}-duckdb`,
      against: `${measurement.reference} (DuckDB ${duckDb.version} on two threads, its own copy of the tables)`,
      ours,
      reference: median(turns.map((turn) => turn.duckDb.wallSeconds)),
      goal: withDuckDb.goal,
      // Ours are the runs above.
      runs: turns.map((turn) => ({
        ours: { wallSeconds: turn.ours.wallSeconds },
        reference: turn.duckDb,
      })),
      versions: { duckdb: duckDb.version },
    });
  }
  await rm(folder, { recursive: true });
  return results;
}

interface Sides {
  measurement: Measurement;
  reference: Reference;
  duckDb: DuckDb | null;
  /** The file of our result. */
  ours: string;
}

async function runTurns(
  stack: BenchStack,
  work: MeasuredWork,
  { measurement: { script, runs }, reference, duckDb, ours }: Sides,
): Promise<Turn[]> {
  const pids = {
    node: [stack.pids.api, ...stack.pids.workers],
    postgres: stack.pids.postgres,
    others: duckDb === null ? [] : [duckDb.pid],
  };
  const sides = {
    ours: async () => {
      const { id, run } = await runMeasured(stack, work, pids, ours);
      await rm(path.join(stack.objects, 'batches', id), { recursive: true, force: true });
      return run;
    },
    reference: () => timed(pids, () => reference.run(script)),
  };
  const runDuckDb = async (opened: DuckDb) => {
    await resetPeakMemory(opened.pid);
    const run = await timed(pids, () => opened.run(script));
    return { ...run, peakMiB: await readPeakMemory(opened.pid) };
  };
  for (let run = 0; run < COMPILING_RUNS; run++) await sides.ours();
  const turns =
    duckDb === null
      ? await takeTurns(runs, sides)
      : await takeTurns(runs, { ...sides, duckDb: () => runDuckDb(duckDb) });
  return turns as Turn[];
}

async function timed(pids: CostlyPids, work: () => Promise<void>): Promise<Run> {
  const cpu = await readCpu(pids);
  const started = performance.now();
  await work();
  const wallSeconds = secondsSince(started);
  return { wallSeconds, cpuSeconds: cpuBetween(cpu, await readCpu(pids)) };
}

/** Compares the files, and the charges with the matches. */
async function holdAgainst(turns: readonly Turn[], reference: string, ours: string) {
  const comparison = await compareResults(ours, reference);
  const { rows, matched } = comparison;
  for (const { credits } of turns.map((turn) => turn.ours)) {
    assert(credits === matched, `${matched} rows matched, ${credits} credits charged`);
  }
  const bytes = { ours: (await stat(ours)).size, reference: (await stat(reference)).size };
  return { details: { rows, comparison, bytes } };
}
