/**
 * The service as users start it (`enrich up`), on a data folder kept between runs: the graph takes minutes to
 * create and seconds to measure.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readAdminUrl, startEmbeddedPostgres } from '../infra/embedded/embedded-postgres.ts';
import { generateGraph } from '../samples/generate/generate-graph.ts';
import { writeLeadFiles } from '../samples/generate/generate-leads.ts';
import { createAccount } from '../src/core/accounts/accounts.ts';
import { environmentWithOnly, type OptionTexts, readConfig } from '../src/core/config.ts';
import { connect, type Database, inTransaction } from '../src/core/db/client.ts';
import { buildCopy } from '../src/core/graph-copy/build-copy.ts';
import { readCopyStatus } from '../src/core/graph-copy/copy-status.ts';
import { copyFolder } from '../src/core/graph-copy/manifest.ts';
import { createKey } from '../src/core/keys/keys.ts';
import { assert } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { countPersons, forgetService, settleGraph } from './bench.sql.ts';
import { countRecords, multiplyGraph } from './large-graph.sql.ts';

/** The parameters of a graph; its folder is named for all of them and for the graph's tables. */
export interface BenchGraph {
  persons: number;
  companies: number;
  seed: number;
  /** Set for a graph that has each of them so many times, see `multiplyGraph`. It is opened without a copy. */
  times?: number;
}

export interface BenchStack extends AsyncDisposable {
  sql: Database;
  databaseUrl: string;
  /** Base address of the API. */
  url: string;
  pids: { api: number; workers: number[]; postgres: number };
  /** Folder of files that live as long as the graph. */
  folder: string;
  /** Folder of the service's objects. */
  objects: string;
}

/** The contents of `up.json`. */
interface UpFile {
  url: string;
  pids: { up: number; api: number; workers: number[]; postgres: number | null };
}

/** The service ends with this process, however it ends. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});
process.once('SIGTERM', () => process.exit(1));

const READY_MS_MAX = 120_000;
const READY_POLL_MS = 50;

/**
 * Starts the service on the cached graph, which is made first if need be, with the local copy that the service makes of such a
 * graph by itself. Without `options` it is the embedded stack, whatever the environment of this process says; without
 * `workers` it has as many as `enrich up` starts. All its processes get the flags of Node.
 */
export async function openBenchStack(
  graph: BenchGraph,
  say: (line: string) => void,
  options: OptionTexts = {},
  workers: number | null = null,
  nodeFlags: readonly string[] = [],
): Promise<BenchStack> {
  const times = graph.times === undefined ? '' : `-x${graph.times}`;
  const name = `p${graph.persons}-c${graph.companies}-s${graph.seed}${times}-${await hashGraphTables()}`;
  const folder = path.join(packageRoot, '.enrich-bench', name);
  const dataDir = path.join(folder, 'data');
  await mkdir(folder, { recursive: true });
  await forgetRuns(dataDir);
  const { up, child } = await startUp(dataDir, options, workers, nodeFlags);
  // References copy from files of the server and force checkpoints, which the service's role is not allowed to
  // do.
  const databaseUrl = await readAdminUrl(dataDir);
  const sql = connect({ url: databaseUrl, connections: 4 });
  const stop = async () => {
    await sql.end();
    await stopUp(child);
  };
  try {
    await fillGraph(sql, graph, say);
    if (graph.times === undefined) await copyGraph(sql, copyFolder(dataDir), say);
    else await enlargeGraph(sql, graph, graph.times, say);
    const { api, workers, postgres } = up.pids;
    assert(postgres !== null, 'the measured server is the embedded one');
    return {
      sql,
      databaseUrl,
      url: up.url,
      pids: { api, workers, postgres },
      folder,
      objects: path.join(dataDir, 'objects'),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates an account that can pay for everything, with a live key without limits. */
export async function createBenchKey(sql: Database): Promise<string> {
  const accountId = await createAccount(sql, { name: 'Bench', credits: 1_000_000_000 });
  const unlimited = { requestsPerMinute: 1_000_000, requestsPerDay: 100_000_000 };
  return (await createKey(sql, { accountId, mode: 'live', ...unlimited })).key;
}

/** A list of plain leads about the graph, written once. Returns its path. */
export async function leadList(
  stack: BenchStack,
  rows: number,
  say: (line: string) => void,
): Promise<string> {
  const file = path.join(stack.folder, `leads-${rows}.csv`);
  if ((await stat(file).catch(() => null)) !== null) return file;
  say(`Writing a list of ${rows} leads, once ...`);
  const partial = `${file}.part`;
  const truth = path.join(stack.folder, `leads-${rows}.truth.csv`);
  await writeLeadFiles(stack.sql, { rows, seed: 1, style: 'plain' }, { leads: partial, truth });
  await rename(partial, file);
  return file;
}

/** Changes with every change of the graph's tables, whose rows are kept. */
async function hashGraphTables(): Promise<string> {
  const folder = path.join(packageRoot, 'infra', 'migrations', 'graph');
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).sort()) {
    hash.update(await readFile(path.join(folder, name)));
  }
  return hash.digest('hex').slice(0, 8);
}

/** Deletes everything of earlier runs except the graph. */
async function forgetRuns(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, 'objects'), { recursive: true, force: true });
  await using postgres = await startEmbeddedPostgres({ dataDir });
  const sql = connect({ url: postgres.url, connections: 1 });
  await inTransaction(sql, forgetService);
  await sql.end();
}

async function startUp(
  dataDir: string,
  options: OptionTexts,
  workers: number | null,
  nodeFlags: readonly string[],
): Promise<{ up: UpFile; child: ChildProcess }> {
  // An `up.json` of a killed run must not be taken for this run's.
  await rm(path.join(dataDir, 'up.json'), { force: true });
  const entry = path.join(import.meta.dirname, '..', 'workers', 'cli.js');
  const config = readConfig();
  const words = ['up', '--port', '0', '--data-dir', dataDir];
  if (workers !== null) words.push('--workers', String(workers));
  const child = spawn(process.execPath, [...nodeFlags, entry, ...words], {
    env: environmentWithOnly({
      // A build of the local copy would begin in the midst of a measure: it is made before all of them.
      buildsLocalCopy: 'false',
      ...options,
      logLevel: config.logLevel === 'info' ? 'warn' : config.logLevel,
    }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const deadline = Date.now() + READY_MS_MAX;
  while (child.exitCode === null && Date.now() < deadline) {
    const text = await readFile(path.join(dataDir, 'up.json'), 'utf8').catch(() => '');
    if (text.endsWith('\n')) return { up: JSON.parse(text) as UpFile, child };
    await setTimeout(READY_POLL_MS);
  }
  await stopUp(child);
  throw new Error('the service did not start; its reason is above');
}

async function stopUp(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function fillGraph(
  sql: Database,
  graph: BenchGraph,
  say: (line: string) => void,
): Promise<void> {
  const persons = await countPersons(sql);
  if (persons === graph.persons) return;
  assert(persons === 0, `the kept graph holds ${graph.persons} people or none, not ${persons}`);
  say(`Making a graph of ${graph.persons} people, once ...`);
  let step = '';
  await generateGraph(sql, {
    ...graph,
    onProgress: (progress) => {
      if (progress.step !== step) say(`  ${progress.step}`);
      step = progress.step;
    },
  });
  await settleGraph(sql);
}

async function enlargeGraph(
  sql: Database,
  graph: BenchGraph,
  times: number,
  say: (line: string) => void,
): Promise<void> {
  if ((await countRecords(sql)) === graph.persons * times) return;
  say(`Making ${graph.persons * times} people of them, once ...`);
  await multiplyGraph(sql, graph, times, say);
  await settleGraph(sql);
}

/** Builds the local copy where there is none of the graph's present state. */
async function copyGraph(
  sql: Database,
  folder: string,
  say: (line: string) => void,
): Promise<void> {
  const { problem, changed } = await readCopyStatus(sql, folder);
  if (problem === null && changed === 0) return;
  say('Building the local copy ...');
  await buildCopy(sql, { folder });
}
