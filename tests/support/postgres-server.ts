/**
 * Runs one throw-away Postgres for the whole test run, with a migrated template database. Test files get its
 * URL through vitest's `provide`.
 */
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { freemem, tmpdir } from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../infra/embedded/embedded-postgres.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { migrate } from '../../src/core/db/migrate.ts';
import { migrateQueue } from '../../src/jobs/queue/backend-postgres.ts';
import { TEMPLATE_DATABASE, withDatabase } from './database-names.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    serverUrl: string;
  }
}

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  project.provide('serverUrl', server.url);
  return server.stop;
}

/** A throw-away server with the template database. */
export interface TestServer {
  url: string;
  dataDir: string;
  stop(): Promise<void>;
}

const GiB = 1024 ** 3;
const MEMORY_FOLDER = '/dev/shm';

/**
 * Returns the folder for the server's files: in memory where there is plenty. A database is some 400 files, and a disk's
 * file system takes most of the processor time of making and dropping it.
 */
async function chooseFolder(): Promise<string> {
  const memory = await statfs(MEMORY_FOLDER).catch(() => null);
  const isRoomy = memory !== null && memory.bavail * memory.bsize >= 4 * GiB;
  return isRoomy && freemem() >= 8 * GiB ? MEMORY_FOLDER : tmpdir();
}

/**
 * Small, so that few pages are searched when a table or database is dropped, and little of the log is kept. Nothing lives long
 * enough to be vacuumed, and no log is read again.
 */
const small = {
  shared_buffers: '256MB',
  max_wal_size: '512MB',
  autovacuum: 'off',
  wal_compression: 'off',
};

/** Removes functions that Postgres 15 lacks from a database: tests on a newer server then notice what an older one refuses. */
async function hideNewFunctions(sql: Database): Promise<void> {
  await sql`
    delete from pg_proc where pronamespace = 'pg_catalog'::regnamespace and (
      proname in ('any_value', 'array_reverse', 'array_sample', 'array_shuffle', 'array_sort', 'casefold', 'crc32', 'crc32c',
        'date_add', 'date_subtract', 'to_bin', 'to_oct', 'uuidv4', 'uuidv7')
      or proname in ('min', 'max', 'reverse') and proargtypes[0] in ('bytea'::regtype, 'record'::regtype)
      or proname = 'random' and pronargs > 0)`;
}

/** Starts one; `settings` are server parameters. */
export async function startTestServer(settings: Record<string, string> = {}): Promise<TestServer> {
  const dataDir = await mkdtemp(path.join(await chooseFolder(), 'enrich-test-'));
  const server = await startEmbeddedPostgres({
    dataDir,
    // Nothing outlives the run, so nothing needs to survive a power cut.
    settings: {
      ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' },
      ...small,
      ...settings,
    },
  });
  const admin = connect({ url: server.adminUrl, connections: 1 });
  await admin`create database ${admin(TEMPLATE_DATABASE)}`;
  await admin.end();
  const templateUrl = withDatabase(server.adminUrl, TEMPLATE_DATABASE);
  const template = connect({ url: templateUrl, connections: 1 });
  await hideNewFunctions(template);
  await migrate(template);
  await template.end();
  await migrateQueue(templateUrl);
  return {
    url: server.adminUrl,
    dataDir,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
