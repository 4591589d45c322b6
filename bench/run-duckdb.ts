/**
 * The reference that reads its own copy of the graph: DuckDB, columns in memory, a hash join on two
 * threads. It has no accounts, no other writer and nothing to recover, and is hard to beat.
 */
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { version } from '@duckdb/node-api';
import { packageRoot } from '../src/core/lib/package-root.ts';
import { exportTable } from './bench.sql.ts';
import type { BenchStack } from './bench-stack.ts';
import { type Servant, startServant } from './child.ts';
import type { ReferenceScript } from './run-reference.ts';

const THREADS = '2';

export interface DuckDb extends AsyncDisposable {
  pid: number;
  version: string;
  /** Runs the script on `leads.csv` in the folder; it writes `duckdb.csv` there. */
  run(script: ReferenceScript): Promise<void>;
}

/** Opens DuckDB on its copy of the graph, creating it if needed, with working folder `folder`. */
export async function openDuckDb(
  stack: BenchStack,
  folder: string,
  say: (line: string) => void,
): Promise<DuckDb> {
  const database = path.join(stack.folder, `duckdb-${version()}`, 'graph.duckdb');
  if ((await stat(database).catch(() => null)) === null) {
    say('Copying the graph to DuckDB, once ...');
    await copyGraph(stack, database);
  }
  const duckDb = openServant(database, folder);
  return {
    pid: duckDb.pid,
    version: await duckDb.ask<string>('select 1'),
    async run(script) {
      await duckDb.ask(await readScript(script));
    },
    [Symbol.asyncDispose]: duckDb[Symbol.asyncDispose],
  };
}

async function copyGraph(stack: BenchStack, database: string): Promise<void> {
  const folder = path.dirname(database);
  await mkdir(folder, { recursive: true });
  const tables = ['persons', 'person_identifiers'].map((table) => {
    return { table, file: path.join(folder, `${table}.csv`) };
  });
  for (const { table, file } of tables) await exportTable(stack.sql, table, file);
  const partial = `${database}.part`;
  await rm(partial, { force: true });
  {
    await using duckDb = openServant(partial, folder);
    await duckDb.ask(await readScript('tables'));
  }
  await rename(partial, database);
  for (const { file } of tables) await rm(file);
}

function openServant(database: string, folder: string): Servant {
  return startServant('bench/duckdb-process.js', {}, { words: [database, THREADS], folder });
}

async function readScript(name: ReferenceScript | 'tables'): Promise<string> {
  return readFile(path.join(packageRoot, 'bench', 'reference', `duckdb-${name}.sql`), 'utf8');
}
