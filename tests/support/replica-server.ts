/**
 * A streaming replica of a test's own Postgres: its files copied while it runs, then started as a standby.
 * See "Making a Base Backup Using the Low Level API" in the manual of Postgres.
 */
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infra/embedded/embedded-postgres.ts';
import { readCredentials, writeCredentials } from '../../infra/embedded/postgres-credentials.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import { withDatabase } from './database-names.ts';
import { startTestServer, type TestServer } from './postgres-server.ts';

const small = { shared_buffers: '64MB' };

/** A server with replicas, which receive its commits asynchronously. */
export function startPrimary(): Promise<TestServer> {
  const followed = { wal_level: 'replica', full_page_writes: 'on', synchronous_commit: 'on' };
  return startTestServer({ ...followed, ...small });
}

export interface TestReplica {
  /** The URL of one of its databases. */
  urlOf(database: string): string;
  port: number;
  /** For the test's own queries, connected to the default database. */
  admin: Database;
  /** Kills its processes at once; its files stay. */
  kill(): Promise<void>;
  /** Restarts it on the same port. */
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Copies the server and starts the copy, which then follows it. */
export async function startReplica(primary: TestServer): Promise<TestReplica> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'enrich-replica-'));
  await copyServer(primary, dataDir);
  const { hostname, port, username, password } = new URL(primary.url);
  const primary_conninfo = Object.entries({ host: hostname, port, user: username, password })
    .map((pair) => pair.join('='))
    .join(' ');
  // Cancels statements that conflict with replay at once, not after half a minute.
  const settings = { primary_conninfo, max_standby_streaming_delay: '0', ...small };
  const launch = () => startEmbeddedPostgres({ dataDir, settings });
  let server: EmbeddedPostgres = await launch();
  const ownPort = Number(new URL(server.url).port);
  const admin = connect({ url: withDatabase(server.adminUrl, 'postgres'), connections: 1 });
  const kill = async () => {
    process.kill(server.pid, 'SIGQUIT');
    await server.exited;
  };
  return {
    urlOf: (database) => withDatabase(server.adminUrl, database),
    port: ownPort,
    admin,
    kill,
    async start() {
      server = await launch();
    },
    async close() {
      await admin.end({ timeout: 1 });
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function copyServer(primary: TestServer, dataDir: string): Promise<void> {
  const from = path.join(primary.dataDir, 'postgres');
  const to = path.join(dataDir, 'postgres');
  const sql = connect({ url: primary.url, connections: 1 });
  try {
    await sql`select pg_backup_start('replica', true)`;
    await cp(from, to, {
      recursive: true,
      filter: (file) => !isLeftOut(path.relative(from, file)),
    });
    const [backup] = await sql<{ labelfile: string }[]>`
      select labelfile from pg_backup_stop(false)`;
    await writeFile(path.join(to, 'backup_label'), must(backup, 'backup').labelfile);
  } finally {
    await sql.end();
  }
  await mkdir(path.join(to, 'pg_wal'), { mode: 0o700 });
  await writeFile(path.join(to, 'standby.signal'), '');
  const credentials = must(await readCredentials(primary.dataDir), 'credentials');
  await writeCredentials(dataDir, { ...credentials, port: null });
}

/** Files that belong to one server only; the log is streamed. */
function isLeftOut(file: string): boolean {
  return /^(pg_wal|postmaster\.(pid|opts))(\/|$)/.test(file);
}
