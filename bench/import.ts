/**
 * Filling the graph: `enrich import persons` of a JSONL file, into a database that has the companies and the
 * words, compared with COPY of the finished rows into copies of every table that the import fills, with the
 * same indexes. COPY reads no JSON, checks and compares nothing, and renders no record.
 */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { environmentWithOnly } from '../src/core/config.ts';
import { connect, type Database } from '../src/core/db/client.ts';
import { migrate } from '../src/core/db/migrate.ts';
import { personFields } from '../src/core/graph/fields.ts';
import { recordToJson } from '../src/core/graph/record.ts';
import { assert } from '../src/core/lib/assert.ts';
import { packageRoot } from '../src/core/lib/package-root.ts';
import type { BenchStack } from './bench-stack.ts';
import type { BenchResult } from './benchmark.ts';
import {
  copyFromFiles,
  copyToFiles,
  countTable,
  emptyImported,
  filledByImport,
  makeCopies,
  makeDatabase,
  nameLookups,
  neededByImport,
  readStoredPersons,
} from './import.sql.ts';
import { interleave, median, type Run } from './interleave.ts';
import { cpuBetween, cpuOf, readCpu } from './process-cost.ts';

const execute = promisify(execFile);
const DATABASE_NAME = 'bench_import';

/** Maximum ratio to COPY into the same tables and indexes. */
const IMPORT_RATIO = 1.8;

export interface ImportOptions {
  persons: number;
  runs: number;
  say: (line: string) => void;
}

/** Measures both. Throws when a table differs in any row, or a record is rejected. */
export async function measureImport(
  stack: BenchStack,
  { persons, runs, say }: ImportOptions,
): Promise<BenchResult[]> {
  const people = path.join(stack.folder, 'people.jsonl');
  if ((await stat(people).catch(() => null)) === null) {
    say(`Writing ${persons} people as JSON lines, once ...`);
    await writePeople(stack.sql, people);
  }
  const folder = path.join(stack.folder, 'import');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const target = await openTarget(stack, folder);
  const pids = { node: [], postgres: stack.pids.postgres };
  const timed = async (work: () => Promise<unknown>): Promise<Run> => {
    await emptyImported(target.sql);
    const before = await readCpu(pids);
    const started = performance.now();
    await work();
    const wallSeconds = Number(((performance.now() - started) / 1000).toFixed(3));
    const cpu = cpuBetween(before, await readCpu(pids));
    // The import ran as a child process.
    const cpuSeconds = cpu === null ? null : { node: cpu.client, postgres: cpu.postgres };
    return { wallSeconds, cpuSeconds };
  };
  try {
    const pairs = await interleave(
      runs,
      async () => {
        const run = await timed(() => importPeople(target.url, people, persons, folder));
        await keepCounts(target, 'graph');
        return run;
      },
      async () => {
        const run = await timed(() => copyFromFiles(target.sql, 'copied', filledByImport, folder));
        await keepCounts(target, 'copied');
        return run;
      },
    );
    for (const table of filledByImport) {
      const { graph, copied } = target.counts[table] ?? {};
      assert(graph !== undefined && graph === copied, `${table}: ${graph} is not ${copied}`);
    }
    const compare = (figure: (run: Run) => number) => ({
      ours: median(pairs.map((pair) => figure(pair.ours))),
      reference: median(pairs.map((pair) => figure(pair.reference))),
    });
    const shared = {
      unit: 's',
      against: 'COPY of the finished rows into copies of the tables, by the server, same indexes',
      better: 'lower' as const,
      details: { persons, bytes: (await stat(people)).size, tables: target.counts },
    };
    const wall = compare((run) => run.wallSeconds);
    return [
      { ...shared, name: 'import', ...wall, goal: IMPORT_RATIO, runs: pairs },
      { ...shared, name: 'import-cpu', ...compare(cpuOf), goal: null, runs: [] },
    ];
  } finally {
    await target.sql.end();
    await makeDatabase(stack.sql, DATABASE_NAME, 'drop');
    await rm(folder, { recursive: true });
  }
}

interface Target {
  url: string;
  sql: Database;
  /** The contents of each full table by schema: rows and a sum over all cells. */
  counts: Record<string, { graph?: string; copied?: string }>;
}

/** A separate database with everything but the people, and with the tables of the reference. */
async function openTarget(stack: BenchStack, folder: string): Promise<Target> {
  await makeDatabase(stack.sql, DATABASE_NAME, 'create');
  const url = Object.assign(new URL(stack.databaseUrl), { pathname: `/${DATABASE_NAME}` }).href;
  const sql = connect({ url, connections: 2 });
  await migrate(sql);
  await copyToFiles(stack.sql, [...neededByImport, ...filledByImport], folder);
  await copyFromFiles(sql, 'graph', neededByImport, folder);
  await nameLookups(sql);
  await makeCopies(sql, filledByImport);
  return { url, sql, counts: {} };
}

async function keepCounts(target: Target, schema: 'graph' | 'copied'): Promise<void> {
  for (const table of filledByImport) {
    const counts = target.counts[table] ?? {};
    counts[schema] = await countTable(target.sql, `${schema}.${table}`);
    target.counts[table] = counts;
  }
}

async function importPeople(
  databaseUrl: string,
  people: string,
  persons: number,
  folder: string,
): Promise<void> {
  const cli = path.join(packageRoot, 'dist', 'workers', 'cli.js');
  const rejects = path.join(folder, 'rejects.jsonl');
  const words = [cli, '--json', 'import', 'persons', people, '--rejects', rejects];
  const env = environmentWithOnly({ databaseUrl });
  const { stdout } = await execute(process.execPath, words, { env });
  const { inserted } = JSON.parse(stdout) as { inserted: number };
  assert(inserted === persons, `${inserted} of ${persons} people are new`);
}

/** The stored people in the response format, which an import reads. */
async function writePeople(sql: Database, file: string): Promise<void> {
  async function* lines() {
    for await (const rows of readStoredPersons(sql)) {
      let text = '';
      for (const { record, former } of rows) {
        const person = recordToJson(personFields, record);
        const meta = former === null ? '' : `,"_meta":${JSON.stringify({ twitterFormer: former })}`;
        text += `${person.slice(0, -1)}${meta}}\n`;
      }
      yield text;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(`${file}.part`));
  await rename(`${file}.part`, file);
}
