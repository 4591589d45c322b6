/** A streaming replica of a test's own Postgres. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { copyServer } from '../../bench/servers/standby.ts';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../infra/embedded/embedded-postgres.ts';
import { connect, type Database } from '../../src/core/db/client.ts';
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
  const followed = await copyServer(primary, dataDir, null);
  // Cancels statements that conflict with replay at once, not after half a minute.
  const settings = { ...followed, max_standby_streaming_delay: '0', ...small };
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
