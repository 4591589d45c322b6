/** An import, measured beside COPY of the rows that it made into copies of the tables, with the same indexes. */
import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { environmentWithOnly } from '../src/core/config.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import { makeDatabase } from './import.sql.ts';
import { interleave, medians, type Run } from './interleave.ts';
import { cpuBetween, cpuOf, readCpu } from './process-cost.ts';

const execute = promisify(execFile);
/** Maximum ratio to COPY. */
const RATIO = 1.8;

/** A database and a folder of a benchmark's own, until it is disposed of. */
export interface ImportTarget extends AsyncDisposable {
  url: string;
  sql: Database;
  folder: string;
}

/** A migrated database without rows. `name` names the database `bench_NAME` and the folder. */
export async function openTarget(stack: BenchStack, name: string): Promise<ImportTarget> {
  const folder = path.join(stack.folder, name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const database = `bench_${name}`;
  await makeDatabase(stack.sql, database, 'create');
  const url = Object.assign(new URL(stack.databaseUrl), { pathname: `/${database}` }).href;
  const sql = connect({ url, connections: 2 });
  await migrate(sql);
  const close = async () => {
    await sql.end();
    await makeDatabase(stack.sql, database, 'drop');
    await rm(folder, { recursive: true });
  };
  return { url, sql, folder, [Symbol.asyncDispose]: close };
}

/** Runs `enrich import` with these words; resolves with the JSON that it prints. Throws when it fails. */
export async function runImport<T>(target: ImportTarget, words: readonly string[]): Promise<T> {
  const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');
  const rejects = path.join(target.folder, 'rejects.jsonl');
  const { stdout } = await execute(
    process.execPath,
    [cli, '--json', 'import', ...words, '--rejects', rejects],
    { env: environmentWithOnly({ databaseUrl: target.url }) },
  );
  return JSON.parse(stdout) as T;
}

export interface Side {
  run(): Promise<unknown>;
  /** Afterwards, not timed. */
  check(): Promise<unknown>;
}

export interface Comparison {
  /** Of the results, which are `name` and `name-cpu`. */
  name: string;
  runs: number;
  /** Read once all runs have ended. */
  details: Record<string, unknown>;
  /** Empties the tables before each run. */
  empty(): Promise<unknown>;
  ours: Side;
  copy: Side;
}

/** Runs both sides in turn. */
export async function runBesideCopy(
  stack: BenchStack,
  { name, runs, details, empty, ours, copy }: Comparison,
): Promise<BenchResult[]> {
  const pids = { node: [], postgres: stack.pids.postgres };
  const timed = async ({ run, check }: Side): Promise<Run> => {
    await empty();
    const before = await readCpu(pids);
    const started = performance.now();
    await run();
    const wallSeconds = Number(((performance.now() - started) / 1000).toFixed(3));
    const cpu = cpuBetween(before, await readCpu(pids));
    await check();
    // The import ran as a child process.
    const cpuSeconds = cpu === null ? null : { node: cpu.client, postgres: cpu.postgres };
    return { wallSeconds, cpuSeconds };
  };
  const pairs = await interleave(
    runs,
    () => timed(ours),
    () => timed(copy),
  );
  const shared = {
    unit: 's',
    against: 'COPY of the finished rows into copies of the tables, by the server, same indexes',
    better: 'lower' as const,
    details,
  };
  const wall = medians(pairs, (run) => run.wallSeconds);
  return [
    { ...shared, name, ...wall, goal: RATIO, runs: pairs },
    { ...shared, name: `${name}-cpu`, ...medians(pairs, cpuOf), goal: null, runs: [] },
  ];
}
