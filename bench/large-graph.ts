/**
 * `npm run bench:large -- --people N`: a graph of N people is made, copied, matched against and rolled forward, and deleted. The
 * findings replace earlier ones of as many people in `bench/results/large-graph.json`; `--keep` leaves the graph for the next
 * run.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, rename, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  type LargeGraph,
  type LargeList,
  largeGraphFile,
  largeGraphs,
} from '../docs/large-graph-results.ts';
import { environmentWithOnly } from '../src/core/config.ts';
import { rollForward } from '../src/core/graph-copy/build-copy.ts';
import {
  copyBytes,
  copyFolder,
  dropCopies,
  parseManifest,
  readManifestText,
} from '../src/core/graph-copy/manifest.ts';
import { openCopy } from '../src/core/graph-copy/open-copy.ts';
import { assert, must } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { readGraphBytes, readServer } from './bench.sql.ts';
import { type BenchGraph, type BenchStack, openBenchStack } from './bench-stack.ts';
import { describeMachine, readCircumstances } from './circumstances.ts';
import { median } from './interleave.ts';
import { COMPANIES_MAX, changePeople, listAddresses } from './large-graph.sql.ts';
import { runLine } from './line.ts';
import { secondsSince } from './measured-run.ts';
import { parseOptions } from './parse-options.ts';
import { cpuBetween, readCpu, readDiskBytes, readSharedOut } from './process-cost.ts';
import { tenFields } from './ten-fields.ts';

const execute = promisify(execFile);

/** People who are generated: the others are these again. */
const GENERATED_MAX = 100_000;
const USAGE = `usage: npm run bench:large -- --people N [--keep]; N is a multiple of ${GENERATED_MAX}`;
/** Each company has five people. */
const PEOPLE_PER_COMPANY = 5;
const ROWS_MAX = 500_000;
const CHANGED_MAX = 100_000;
const OPENINGS = 9;
const SAMPLE_MS = 500;
const MIB = 2 ** 20;
/** A smaller file costs nothing to read again. */
const EVICTED_MIN = MIB;

await main();

async function main(): Promise<void> {
  const { people, isKept } = parseOptions(
    USAGE,
    { options: { people: { type: 'string' }, keep: { type: 'boolean', default: false } } },
    ({ values }) => {
      const count = Number(values.people);
      const isMultiple = Number.isSafeInteger(count) && count > 0 && count % GENERATED_MAX === 0;
      return isMultiple ? { people: count, isKept: values.keep } : null;
    },
  );
  const persons = Math.min(GENERATED_MAX, people / 10);
  const graph = {
    ...{ persons, companies: persons / PEOPLE_PER_COMPANY, seed: 1, times: people / persons },
  };
  const { folder, found } = await measureGraph(graph);
  await keep(found);
  if (!isKept) await rm(folder, { recursive: true });
  say(`Written to ${path.relative(packageRoot, largeGraphFile)}`);
}

async function measureGraph(
  graph: Required<BenchGraph>,
): Promise<{ folder: string; found: LargeGraph }> {
  const people = graph.persons * graph.times;
  const started = performance.now();
  const loads = [loadavg()[0] ?? 0];
  await using stack = await openBenchStack(graph, say, {}, 1);
  const generateSeconds = secondsSince(started);
  const { version } = await readServer(stack.sql);
  const circumstances = await readCircumstances('large-graph', version);
  const note = <Finding>(name: string, finding: Finding): Finding => {
    loads.push(loadavg()[0] ?? 0);
    say(`${name}: ${JSON.stringify(finding)}`);
    return finding;
  };
  const graphBytes = await readGraphBytes(stack.sql);
  const build = note('build', await measureBuild(stack));
  const open = note('open', await measureOpening(stack));
  const lists: LargeList[] = [];
  const rows = Math.min(ROWS_MAX, people / 2);
  const leads = await writeList(stack, people, rows);
  for (const fields of [tenFields, null]) {
    for await (const list of measureLists(stack, { fields, leads, rows })) {
      lists.push(note('list', list));
    }
  }
  const roll = note('roll', await measureRolling(stack, people));
  const dropping = performance.now();
  await dropCopies(copyOf(stack));
  const dropSeconds = secondsSince(dropping);
  const found = {
    ...{ people, companies: Math.min(COMPANIES_MAX, graph.companies * graph.times) },
    ...{ machine: describeMachine(), commit: circumstances.commit, loads },
    ...{ measuredAt: circumstances.measuredAt, versions: circumstances.versions },
    ...{ graphBytes, generateSeconds, build, open, lists, roll, dropSeconds },
  };
  return { folder: stack.folder, found };
}

function copyOf(stack: BenchStack): string {
  return copyFolder(path.dirname(stack.objects));
}

/** Builds the copy by the command, in a process of its own. */
async function measureBuild(stack: BenchStack): Promise<LargeGraph['build']> {
  const pids = { node: [], postgres: stack.pids.postgres };
  const before = await readCpu(pids);
  const started = performance.now();
  const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');
  const dataDir = path.dirname(stack.objects);
  const built = execute(process.execPath, [cli, '--json', 'graph', 'copy', 'build'], {
    env: environmentWithOnly({ databaseUrl: stack.databaseUrl, dataDir }),
  });
  const { peaks, least, result } = await sampled([built.child.pid ?? 0], stack.folder, () => built);
  const seconds = secondsSince(started);
  const cpu = cpuBetween(before, await readCpu(pids));
  const { people, companies } = parseManifest(
    must(await readManifestText(copyOf(stack)), 'a copy'),
  );
  assert(result.stderr !== undefined, 'the build has ended');
  return {
    seconds,
    // The build was a child of this process.
    cpuSeconds: { node: cpu?.client ?? 0, postgres: cpu?.postgres ?? 0 },
    bytes: copyBytes(parseManifest(must(await readManifestText(copyOf(stack)), 'a copy'))),
    tableBytes: people.slots * 8,
    records: people.count + companies.count,
    pssMiB: peaks[0] ?? 0,
    // Includes what sorts of Postgres wrote meanwhile.
    diskBytes: least.before - least.least,
  };
}

async function measureOpening(stack: BenchStack): Promise<LargeGraph['open']> {
  const folder = copyOf(stack);
  const manifest = parseManifest(must(await readManifestText(folder), 'a copy'));
  const open = async () => {
    const started = performance.now();
    const copy = await openCopy(folder, manifest);
    const seconds = secondsSince(started);
    copy.close();
    return seconds;
  };
  await evict(folder);
  const coldSeconds = await open();
  const openings: number[] = [];
  for (let opening = 0; opening < OPENINGS; opening++) openings.push(await open());
  return { coldSeconds, seconds: median(openings) };
}

async function writeList(stack: BenchStack, people: number, rows: number): Promise<string> {
  const file = path.join(stack.folder, `addresses-${rows}.csv`);
  const addresses = await listAddresses(stack.sql, people, rows);
  assert(addresses.length === rows, 'so many people have an address');
  await writeFile(file, `email\n${addresses.join('\n')}\n`);
  return file;
}

/**
 * Matches the list with the copy and without it: each time first with nothing of the graph in memory, then again. Throws when
 * a result differs in any byte.
 */
async function* measureLists(
  stack: BenchStack,
  { rows, ...options }: { fields: readonly string[] | null; leads: string; rows: number },
): AsyncGenerator<LargeList> {
  const folder = copyOf(stack);
  const hidden = `${folder}.hidden`;
  const result = path.join(stack.folder, 'large.csv');
  const pids = { node: [stack.pids.api, ...stack.pids.workers], postgres: stack.pids.postgres };
  let expected: string | null = null;
  for (const from of ['copy', 'postgres'] as const) {
    if (from === 'postgres') await rename(folder, hidden);
    await evict(from === 'copy' ? folder : path.join(path.dirname(stack.objects), 'postgres'));
    for (const isCold of [true, false]) {
      const read = await readDiskBytes(pids);
      const { peaks, result: line } = await sampled(pids.node, stack.folder, () =>
        runLine(stack, options, pids, result),
      );
      const diskBytes = (await readDiskBytes(pids)) - read;
      const { wallSeconds: seconds, cpuSeconds, credits } = line.run;
      const both = `${credits} ${await digest(result)}`;
      expected ??= both;
      assert(both === expected, 'the same list has the same result and price');
      await rm(result);
      await rm(path.join(stack.objects, 'batches', line.id), { recursive: true, force: true });
      const { node = 0, postgres = 0 } = (cpuSeconds ?? {}) as Record<string, number>;
      yield {
        ...{ fields: options.fields === null ? 'all' : 'ten', from, isCold, rows, seconds },
        ...{
          cpuSeconds: { node, postgres },
          pssMiB: { api: peaks[0] ?? 0, worker: peaks[1] ?? 0 },
        },
        ...{ diskBytes, credits: Number(credits) },
      };
    }
  }
  await rename(hidden, folder);
}

async function measureRolling(stack: BenchStack, people: number): Promise<LargeGraph['roll']> {
  const changed = await changePeople(stack.sql, people, Math.min(CHANGED_MAX, people / 10));
  const folder = copyOf(stack);
  const replaces = must(await readManifestText(folder), 'a copy');
  const started = performance.now();
  const { peaks, result } = await sampled([process.pid], stack.folder, () =>
    rollForward(stack.sql, { folder, replaces, shareMax: 1 }),
  );
  const seconds = secondsSince(started);
  assert(result.delta?.people.covered === changed, 'the delta has the people who changed');
  const bytes = copyBytes(result) - copyBytes(parseManifest(replaces));
  return { seconds, changed, bytes, pssMiB: peaks[0] ?? 0 };
}

/** Runs `work`; returns the peak memory of these processes in MiB meanwhile, and the free bytes of the disk. */
async function sampled<Result>(
  pids: readonly number[],
  folder: string,
  work: () => Promise<Result>,
): Promise<{ peaks: number[]; least: { before: number; least: number }; result: Result }> {
  const peaks = pids.map(() => 0);
  const before = await readFree(folder);
  let least = before;
  const sample = async () => {
    const now = await Promise.all(pids.map(readSharedOut));
    for (const [index, mebibytes] of now.entries()) {
      peaks[index] = Math.max(peaks[index] ?? 0, mebibytes ?? 0);
    }
    least = Math.min(least, await readFree(folder));
  };
  const timer = setInterval(() => void sample(), SAMPLE_MS);
  try {
    return { peaks, least: { before, least }, result: await work() };
  } finally {
    clearInterval(timer);
  }
}

async function readFree(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Makes the system forget what it holds in memory of the files below a folder (GNU dd; elsewhere it does nothing). */
async function evict(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || ((await stat(file).catch(() => null))?.size ?? 0) < EVICTED_MIN)
      continue;
    await execute('sync', [file]).catch(() => {});
    const words = [`if=${file}`, 'iflag=nocache', 'count=0', 'status=none'];
    await execute('dd', words).catch(() => {});
  }
}

async function digest(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of createReadStream(file)) hash.update(block as Buffer);
  return hash.digest('hex');
}

/** Replaces the findings of as many people. */
async function keep(found: LargeGraph): Promise<void> {
  const text = await readFile(largeGraphFile, 'utf8').catch(() => '[]');
  const others = largeGraphs
    .parse(JSON.parse(text))
    .filter(({ people }) => people !== found.people);
  const all = [...others, found].sort((a, b) => a.people - b.people);
  const lines = all.map((graph) => JSON.stringify(graph)).join(',\n');
  await writeFile(largeGraphFile, `[\n${lines}\n]\n`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
