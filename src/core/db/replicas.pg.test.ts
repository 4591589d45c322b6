/**
 * Reads on a real streaming replica: which reads go there, and what holds while it lags, freezes, dies or is not a
 * replica at all.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TcpProxy } from '../../../bench/chaos/tcp-proxy.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { withDatabase } from '../../../tests/support/database-names.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import type { TestServer } from '../../../tests/support/postgres-server.ts';
import {
  startPrimary,
  startReplica,
  type TestReplica,
} from '../../../tests/support/replica-server.ts';
import { readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { metrics } from '../metrics.ts';
import { suppress } from '../suppression/suppress.ts';
import { openReplicas, type Replicas } from './replicas.ts';

const PEOPLE = 6;
let primary: TestServer;
let database: TestDatabase;
let replica: TestReplica;
let replicaUrl: string;

beforeAll(async () => {
  primary = await startPrimary();
  replica = await startReplica(primary);
  database = await createTestDatabase(primary.url);
  await importGraph(database.sql, { persons: Array.from({ length: PEOPLE }, person) });
  replicaUrl = replica.urlOf(databaseName());
}, 120_000);
afterAll(async () => {
  await replica?.close();
  await primary?.stop();
});

const person = (_: unknown, index: number) => ({
  id: index + 1,
  name: `Person ${index + 1}`,
  workEmail: `p${index + 1}@list.example`,
  position: `Engineer ${index + 1}`,
  positionId: index + 1,
  school: 'Everybody',
});
const databaseName = () => new URL(database.url).pathname.slice(1);

/** Returns once the condition holds; the test's own time limit ends the wait. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

/** Returns a metric of the replica at this address. */
async function metricOf(name: string, url: string): Promise<number | undefined> {
  const metric = await metrics.getSingleMetric(name)?.get();
  return metric?.values.find(({ labels }) => labels.replica === new URL(url).host)?.value;
}

const isUsed = async (url: string) => (await metricOf('enrich_replica_in_use', url)) === 1;

/** Waits until the replica has everything that is committed now. */
async function caughtUp(): Promise<void> {
  const [now] = await database.sql`select pg_current_wal_flush_lsn()::text as position`;
  await waitUntil(async () => {
    const [row] = await replica.admin`
      select pg_last_wal_replay_lsn() >= ${now?.position}::pg_lsn as there`;
    return row?.there === true;
  });
}

const pause = async () => {
  await caughtUp();
  await replica.admin`select pg_wal_replay_pause()`;
  await waitUntil(async () => {
    const [row] = await replica.admin`select pg_get_wal_replay_pause_state() as state`;
    return row?.state === 'paused';
  });
};
const resume = () => replica.admin`select pg_wal_replay_resume()`;

/** Waits until a statement on the replica waits for this event. */
async function untilWaiting(event: string): Promise<void> {
  await waitUntil(async () => {
    const found = await replica.admin`
      select 1 from pg_stat_activity where datname = ${databaseName()} and state = 'active'
        and (wait_event = ${event} or wait_event_type = ${event})`;
    return found.length > 0;
  });
}

describe('a process with replicas', () => {
  function open(urls: string[], lagMs = 60_000): Replicas {
    const config = readConfig({
      DATABASE_URL: database.url,
      DATABASE_REPLICA_URLS: urls.join(','),
      DATABASE_REPLICA_LAG_MS: String(lagMs),
    });
    return openReplicas(config, database.url, createLog('silent', 'test'));
  }
  /** The port of the server that a read was sent to. */
  const portOf = (replicas: Replicas) =>
    replicas.read('any', database.sql, async (graph) => {
      const [row] = await graph<{ port: number }[]>`select inet_server_port() as port`;
      return row?.port;
    });
  const primaryPort = () => Number(new URL(primary.url).port);
  /** Writes until the replica is known to lag further than allowed. */
  const untilLeftOut = async () => {
    await database.sql`select pg_switch_wal()`;
    await waitUntil(async () => !(await isUsed(replicaUrl)));
  };

  test('reads from a replica, leaves it out while it lags, and takes it back', async () => {
    await using replicas = open([replicaUrl], 300);
    await waitUntil(() => isUsed(replicaUrl));
    expect(await portOf(replicas)).toBe(replica.port);
    await pause();
    await database.sql`create table written_while_paused ()`;
    await untilLeftOut();
    expect(await metricOf('enrich_replica_lag_seconds', replicaUrl)).toBeGreaterThan(0.3);
    expect(await portOf(replicas)).toBe(primaryPort());
    await resume();
    await waitUntil(() => isUsed(replicaUrl));
    expect(await portOf(replicas)).toBe(replica.port);
    expect(await metricOf('enrich_replica_lag_seconds', replicaUrl)).toBeLessThan(0.3);
  });

  test('uses the healthy replicas in turn', async () => {
    await using other = await TcpProxy.open(() => replica.port);
    const otherUrl = replicaUrl.replace(`:${replica.port}`, `:${other.port}`);
    await using replicas = open([replicaUrl, otherUrl]);
    await waitUntil(async () => (await isUsed(replicaUrl)) && (await isUsed(otherUrl)));
    for (let read = 0; read < 4; read++) await portOf(replicas);
    for (const url of [replicaUrl, otherUrl]) {
      const metric = await metrics.getSingleMetric('enrich_replica_reads_total')?.get();
      const answered = metric?.values.filter(({ labels }) => labels.result === 'answered');
      const own = answered?.find(({ labels }) => labels.replica === new URL(url).host);
      expect(own?.value).toBeGreaterThanOrEqual(2);
    }
  });

  test('gives up on a replica that stops responding during a read', async () => {
    await using silent = await TcpProxy.open(() => replica.port);
    const silentUrl = replicaUrl.replace(`:${replica.port}`, `:${silent.port}`);
    await using replicas = open([silentUrl], 300);
    await waitUntil(() => isUsed(silentUrl));
    expect(await portOf(replicas)).toBe(replica.port);
    silent.behave({ kind: 'blackhole' });
    expect(await portOf(replicas)).toBe(primaryPort());
    silent.behave({ kind: 'none' });
    await waitUntil(() => isUsed(silentUrl));
    expect(await portOf(replicas)).toBe(replica.port);
  });

  test('repeats a read on the primary when the replay cancelled it', async () => {
    await using replicas = open([replicaUrl]);
    await waitUntil(() => isUsed(replicaUrl));
    await database.sql`create table contested as select 1 as one`;
    await caughtUp();
    const servers: string[] = [];
    const read = replicas.read('any', database.sql, async (graph, control) => {
      servers.push(control === null ? 'primary' : 'replica');
      return graph`select pg_sleep(3600) from contested`;
    });
    await untilWaiting('PgSleep');
    await database.sql`truncate contested`;
    expect(await read).toHaveLength(0);
    expect(servers).toEqual(['replica', 'primary']);
    expect(await portOf(replicas)).toBe(replica.port);
  });

  test('never reads from a server that is not a replica of the database', async () => {
    const postgres = withDatabase(replicaUrl, 'postgres');
    // The primary itself, and another database of the replica.
    for (const wrong of [database.url.replace('127.0.0.1', 'localhost'), postgres]) {
      await using replicas = open([wrong]);
      await waitUntil(async () => (await metricOf('enrich_replica_in_use', wrong)) === 0);
      expect(await portOf(replicas)).toBe(primaryPort());
    }
  });

  test('passes on an error of the statement when the primary returns the same one', async () => {
    await using replicas = open([replicaUrl]);
    await waitUntil(() => isUsed(replicaUrl));
    const broken = replicas.read('any', database.sql, (graph) => graph`select from nothing_there`);
    await expect(broken).rejects.toMatchObject({ code: '42P01' });
  });
});

describe('a search', () => {
  let pipeline: Pipeline;
  let caller: Caller;
  beforeAll(async () => {
    const environment = {
      DATABASE_URL: database.url,
      DATABASE_REPLICA_URLS: replicaUrl,
      DATABASE_REPLICA_LAG_MS: '3600000',
    };
    pipeline = await openPipeline(environment, 'files', undefined, database);
    caller = await pipeline.account(1_000);
    await waitUntil(() => isUsed(replicaUrl));
  });
  afterAll(() => pipeline.close());

  interface Person {
    id: number;
    name: string;
  }
  const search = async (query = ''): Promise<Person[]> => {
    const response = await pipeline.call(caller, `/personsearch/?school=Everybody${query}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Person[];
  };
  /** The exact number of people, which costs a credit. */
  const count = async (): Promise<number> => {
    const query = 'school=Everybody&limit=1&count=true';
    const response = await pipeline.call(caller, `/personsearch/?${query}`);
    return Number(response.headers.get('x-total-count'));
  };
  const idsOf = (people: readonly Person[]) => people.map(({ id }) => id);
  /** Renames a person; a paused replica still finds the old name. */
  const rename = (id: number, name: string) =>
    importGraph(database.sql, { persons: [{ ...person(null, id - 1), name }] });
  const doNotContact = async (method: string, emails: string[]) => {
    const response = await pipeline.call(caller, '/v1/do-not-contact', {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ emails }),
    });
    expect(response.status).toBe(200);
  };

  test('reads pages, counts and lookups on the replica, and charges on the primary', async () => {
    await pause();
    await rename(1, 'Renamed');
    await importGraph(database.sql, { persons: [person(null, PEOPLE)] });
    const before = (await pipeline.wallet(caller))?.balance ?? 0;
    const people = await search();
    expect(people.map(({ name }) => name)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `Person ${n}`));
    expect((await pipeline.wallet(caller))?.balance).toBe(before - PEOPLE);
    expect(idsOf(await search('&skip=4&limit=1'))).toEqual([5]);
    expect(await count()).toBe(PEOPLE);
    const titles = await pipeline.call(caller, '/v1/lookups/job-titles?q=engineer');
    expect(((await titles.json()) as { data: unknown[] }).data).toHaveLength(PEOPLE);
    await resume();
    await caughtUp();
    expect((await search()).map(({ name }) => name)[0]).toBe('Renamed');
    expect(await count()).toBe(PEOPLE + 1);
  });

  test('respects recent changes of the do-not-contact list, whatever the replica knows', async () => {
    await pause();
    await doNotContact('POST', ['p2@list.example']);
    expect(idsOf(await search('&limit=3'))).toEqual([1, 3, 4]);
    expect(await count()).toBe(PEOPLE);
    await resume();
    await caughtUp();
    expect(idsOf(await search('&limit=3'))).toEqual([1, 3, 4]);
    await pause();
    await doNotContact('DELETE', ['p2@list.example']);
    expect(idsOf(await search('&limit=3'))).toEqual([1, 2, 3]);
    await resume();
  });

  test('keeps reading from the replica for other accounts while one changes its list', async () => {
    await caughtUp();
    await pause();
    await doNotContact('POST', ['p2@list.example']);
    await rename(1, 'Renamed again');
    expect((await search('&limit=1')).map(({ name }) => name)).toEqual(['Renamed again']);
    const other = await pipeline.account(10);
    const response = await pipeline.call(other, '/personsearch/?school=Everybody&limit=2');
    expect(((await response.json()) as Person[]).map(({ name }) => name)).toEqual([
      'Renamed',
      'Person 2',
    ]);
    await doNotContact('DELETE', ['p2@list.example']);
    await resume();
    await caughtUp();
  });

  test('never finds, counts or charges a person who opted out while the replica was paused', async () => {
    await pause();
    await suppress(database.sql, 'p3@list.example');
    const before = (await pipeline.wallet(caller))?.balance ?? 0;
    const people = await search();
    expect(idsOf(people)).toEqual([1, 2, 4, 5, 6, 7]);
    expect((await pipeline.wallet(caller))?.balance).toBe(before - people.length);
    expect(idsOf(await search('&skip=2&limit=1'))).toEqual([4]);
    expect(await count()).toBe(PEOPLE);
    await resume();
    await caughtUp();
    expect(idsOf(await search())).toEqual([1, 2, 4, 5, 6, 7]);
  });

  test('returns its page when the replica is killed during it, and uses the replica again later', async () => {
    await caughtUp();
    const lock = await database.sql.reserve();
    await lock`begin`;
    await lock`lock table graph.person_records in access exclusive mode`;
    // A commit replicates the lock, and the page on the replica waits for it.
    await pipeline.grant(caller, 1, 'flush');
    await caughtUp();
    const page = search();
    await untilWaiting('Lock');
    await replica.kill();
    await lock`rollback`;
    lock.release();
    expect(idsOf(await page)).toEqual([1, 2, 4, 5, 6, 7]);
    expect(await isUsed(replicaUrl)).toBe(false);
    await replica.start();
    await waitUntil(() => isUsed(replicaUrl));
    await pause();
    await rename(1, 'Renamed at last');
    expect((await search('&limit=1')).map(({ name }) => name)).toEqual(['Renamed again']);
    await resume();
  });
});
