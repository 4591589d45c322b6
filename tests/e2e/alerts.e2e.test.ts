/**
 * Each alert of `infra/grafana/alerts.yaml` fires when its condition holds, and is quiet before and after. The conditions are
 * made on the production stack in processes of its own, whose real responses to scrapes are what the rules are evaluated
 * on. Only time is not real: the clock of the Prometheus is the test's, and ages of minutes are written into the rows.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { TcpProxy } from '../../bench/chaos/tcp-proxy.ts';
import { freePort } from '../../bench/servers/free-port.ts';
import { createClient } from '../../src/client/client.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { OptionTexts } from '../../src/core/config.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import { must } from '../../src/core/lib/assert.ts';
import { openS3Client } from '../../src/core/storage/s3-client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { importGraph } from '../support/graph.ts';
import type { TestServer } from '../support/postgres-server.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/redis-server.ts';
import { startPrimary, startReplica, type TestReplica } from '../support/replica-server.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { crowd } from '../support/small-graph.ts';
import { LONGEST_WINDOW_SECONDS, SEEN_MS_MAX, watchAlerts } from './alerts.ts';
import { buildIfStale } from './compiled-code.ts';
import { startCommand } from './processes.ts';
import {
  type ApiProcess,
  type SeparateProcess,
  startApi,
  startWorker,
} from './separate-processes.ts';
import { waitFor } from './wait-for.ts';

const CASE_MS = 120_000;
const SLOW_CALL_SECONDS = 0.4;
/** Five minutes of failing calls, and the scrapes around them. */
const CALLS_FAIL_SECONDS = 450;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-alerts-'));

describeWithRedis('an alert', () => {
  let primary: TestServer;
  let replica: TestReplica;
  let database: TestDatabase;
  let redis: TestRedis;
  let s3: S3Server;
  /** Between the processes and the primary. */
  let network: TcpProxy;
  let options: OptionTexts;
  const ports = { api: 0, worker: 0 };
  const { pass, firing, expectQuiet, expectFires } = watchAlerts(ports, traffic);
  let api: ApiProcess;
  let worker: SeparateProcess;
  let accountId: string;
  let apiKey: string;

  beforeAll(async () => {
    await buildIfStale();
    [primary, redis, s3] = await Promise.all([startPrimary(), startRedis(), startS3Server()]);
    database = await createTestDatabase(primary.url);
    await importGraph(database.sql, { persons: crowd(20) });
    replica = await startReplica(primary);
    const direct = new URL(database.url);
    network = await TcpProxy.open(() => Number(direct.port));
    const proxied = new URL(direct);
    proxied.port = String(network.port);
    ports.api = await freePort();
    ports.worker = await freePort();
    options = {
      databaseUrl: proxied.href,
      databaseReplicaUrls: replica.urlOf(direct.pathname.slice(1)),
      databaseReplicaLagMs: '1000',
      databaseConnections: '4',
      redisUrl: redis.url,
      dataDir: path.join(root, 'data'),
      s3Bucket: s3.config.bucket,
      s3Endpoint: must(s3.config.endpoint, 'an endpoint'),
      s3AccessKeyId: 'tester',
      s3SecretAccessKey: 'secret of the tester',
      chunkRows: '4',
      workerConcurrency: '1',
    };
    await startProcesses();
    accountId = await createAccount(database.sql, { name: 'Team', credits: 1_000_000 });
    apiKey = (await createKey(database.sql, { accountId, mode: 'live' })).key;
    await database.sql`update api_keys set requests_per_minute = 100000`;
    expect(await run('audit')).toBe(0);
    expect(await run('backup', path.join(root, 'first'))).toBe(0);
    await expectQuiet();
  }, 120_000);

  /** Called after each test to end its conditions, also of one that failed: no later one would be quiet. */
  const lifts: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    delete s3.faults.answer;
    network.behave({ kind: 'none' });
    for (const lift of lifts.splice(0)) await lift();
    await expectQuiet();
  }, CASE_MS);

  afterAll(async () => {
    for (const one of [api, worker, network]) await one?.[Symbol.asyncDispose]();
    await database?.drop();
    await replica?.close();
    await primary?.stop();
    await s3?.close();
    await redis?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  async function startProcesses(): Promise<void> {
    worker = startWorker({ ...options, metricsPort: String(ports.worker) });
    api = await startApi({ ...options, metricsPort: String(ports.api) });
  }

  /** Calls as they always come; a failure is for the metrics to show. */
  async function traffic(): Promise<void> {
    const calls = [1, 2, 3].map((n) =>
      fetch(new URL(`/v1/people/enrich?email=p${n}%40list.example`, api.url), {
        headers: { Authorization: `Bearer ${apiKey}` },
      }).then((response) => response.arrayBuffer()),
    );
    await Promise.allSettled(calls);
  }

  const call = (route: string, body: object) =>
    fetch(new URL(route, api.url), {
      method: 'POST',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  /** Uploads a list of people and returns its id; '' when it is refused. */
  async function upload(from = 1, to = 3, options: object = {}): Promise<string> {
    const rows = Array.from({ length: to - from }, (_, n) => ({
      email: `p${from + n}@list.example`,
    }));
    const response = await call('/v1/batches', { rows, operation: 'people.enrich', ...options });
    const answer = (await response.json()) as { id?: string };
    if (!response.ok && s3.faults.answer === undefined) throw new Error(JSON.stringify(answer));
    return answer.id ?? '';
  }

  const until = (state: string, id: string) =>
    waitFor(`the list is ${state}`, SEEN_MS_MAX, async () => {
      const batch = await createClient(api.url, apiKey).getBatch(id);
      return batch.state === state && batch;
    });

  async function run(...words: string[]): Promise<number | null> {
    return startCommand(words, { ...options, databaseUrl: database.url }).ended;
  }

  it(
    'AuditOrBackupOld fires until both have run, and again when one is old',
    async () => {
      const { sql } = database;
      lifts.push(() => sql`update audits set ended_at = now()`);
      lifts.push(() => sql`update installation set backed_up_at = now()`);
      await sql`delete from audits`;
      await sql`update installation set backed_up_at = null`;
      await expectFires(['AuditOrBackupOld']);
      expect(await run('audit')).toBe(0);
      await pass(LONGEST_WINDOW_SECONDS);
      expect(firing()).toEqual(['AuditOrBackupOld']);
      expect(await run('backup', path.join(root, 'backup'))).toBe(0);
      await expectQuiet();
      await sql`update audits set ended_at = ended_at - interval '3 days'`;
      await expectFires(['AuditOrBackupOld']);
      await sql`update audits set ended_at = now()`;
      await expectQuiet();
      await sql`update installation set backed_up_at = backed_up_at - interval '3 days'`;
      await expectFires(['AuditOrBackupOld']);
    },
    CASE_MS,
  );

  it(
    'NoProcess fires without a worker, and without an API',
    async () => {
      await worker.stop();
      // Without a worker no metric tells the age of the audit.
      await expectFires(['NoProcess']);
      worker = startWorker({ ...options, metricsPort: String(ports.worker) });
      await expectQuiet();
      await api.stop();
      await expectFires(['NoProcess']);
      api = await startApi({ ...options, metricsPort: String(ports.api) });
    },
    CASE_MS,
  );

  it(
    'CallsFail fires while calls end in errors',
    async () => {
      const { sql } = database;
      lifts.push(() => sql`alter table if exists gone rename to wallets`);
      await sql`alter table wallets rename to gone`;
      await expectFires(['CallsFail']);
    },
    CASE_MS,
  );

  it(
    'CallsSlow fires while calls wait for a lock',
    async () => {
      const { sql } = database;
      const slowTraffic = () =>
        sql
          .begin(async (tx) => {
            await tx`select from wallets where account_id = ${accountId} for update`;
            const calls = traffic();
            await tx`select pg_sleep(${SLOW_CALL_SECONDS})`;
            return { calls };
          })
          .then(({ calls }) => calls);
      await expectFires(['CallsSlow'], slowTraffic);
    },
    CASE_MS,
  );

  it(
    'WorkStuck fires for a list that cannot be read, and for a schedule that is not started',
    async () => {
      const { sql } = database;
      const id = await upload(1, 3, { hold: 'true' });
      await until('ready', id);
      s3.faults.answer = ({ method }) => (method === 'GET' ? 503 : undefined);
      expect((await call(`/v1/batches/${id}/start`, {})).ok).toBe(true);
      await until('running', id);
      await sql`update batches set state_since = now() - interval '700 seconds' where id = ${id}`;
      await expectFires(['WorkStuck']);
      delete s3.faults.answer;
      await until('completed', id);
      await expectQuiet();

      const made = await call('/v1/schedules', {
        name: 'nightly',
        cron: '0 0 1 1 *',
        filter: 'id=1001',
        fields: ['id'],
      });
      expect(made.status).toBe(201);
      lifts.push(() => sql`drop function if exists refuse_run cascade`);
      await sql`
        create function refuse_run() returns trigger language plpgsql as $$
        begin raise exception 'no run'; end $$`;
      await sql`
        create trigger refuse_run before insert on schedule_runs
        for each row execute function refuse_run()`;
      await sql`update schedules set next_run_at = now() - interval '100 seconds'`;
      await expectFires(['WorkStuck']);
    },
    CASE_MS,
  );

  it(
    'WorkWaits fires while the only place of the workers is taken',
    async () => {
      const { sql } = database;
      let id = '';
      await sql.begin(async (tx) => {
        // The server ends a transaction that is idle for 10 s, which the waits below may take on a slow machine.
        await tx`set local idle_in_transaction_session_timeout = 0`;
        await tx`select from wallets where account_id = ${accountId} for update`;
        id = await upload(1, 13);
        await waitFor(
          'a chunk waits for the wallet, and others for the worker',
          SEEN_MS_MAX,
          async () => {
            const rows = await sql<
              { state: string }[]
            >`select state from chunks where batch_id = ${id}`;
            return (
              rows.some(({ state }) => state === 'leased') &&
              rows.some(({ state }) => state === 'dispatched')
            );
          },
        );
        await sql`
          update chunks set dispatched_at = now() - interval '1000 seconds'
          where batch_id = ${id} and state = 'dispatched'`;
        await expectFires(['WorkWaits'], async () => {});
      });
      await until('completed', id);
    },
    CASE_MS,
  );

  it(
    'RowsFail fires for the first row that ends as an error',
    async () => {
      const { sql } = database;
      lifts.push(() => sql`drop function if exists refuse_poison cascade`);
      await sql`
        create function refuse_poison() returns trigger language plpgsql as $$
        begin
          if new.record_id = 1005 then raise exception 'poison'; end if;
          return new;
        end $$`;
      await sql`
        create trigger refuse_poison before insert on batch_records
        for each row execute function refuse_poison()`;
      const id = await upload(5, 6, { dedupe: 'true' });
      expect((await until('completed', id)).rows.error).toBe(1);
      await expectFires(['RowsFail']);
    },
    CASE_MS,
  );

  it(
    'DatabaseDown fires while Postgres cannot be reached, and so does CallsFail',
    async () => {
      network.behave({ kind: 'cut' });
      // Without calls: how many would fail before the workers see it depends on the machine.
      await expectFires(['DatabaseDown'], async () => {});
      await pass(CALLS_FAIL_SECONDS);
      expect(firing()).toEqual(['CallsFail', 'DatabaseDown']);
    },
    CASE_MS,
  );

  it(
    'QueueDown fires while Redis is away',
    async () => {
      lifts.push(() => redis.start());
      await redis.kill();
      await expectFires(['QueueDown']);
    },
    CASE_MS,
  );

  it(
    'StorageFails fires while uploads cannot be stored',
    async () => {
      s3.faults.answer = ({ method }) => (method === 'PUT' ? 503 : undefined);
      await expectFires(['CallsFail', 'StorageFails'], () => Promise.all([traffic(), upload()]));
    },
    CASE_MS,
  );

  it(
    'ReplicaOut fires while a replica lags',
    async () => {
      lifts.push(() => replica.admin`select pg_wal_replay_resume()`);
      await replica.admin`select pg_wal_replay_pause()`;
      await expectFires(['ReplicaOut']);
    },
    CASE_MS,
  );

  it(
    'DataDamaged fires for the first damaged object, and for a wallet that is wrong',
    async () => {
      const { sql } = database;
      const id = await upload();
      await until('completed', id);
      const [part] = await sql<{ key: string; bytes: number }[]>`
        select object_key as key, bytes from parts where batch_id = ${id}`;
      const s3Client = openS3Client(s3.config);
      const { key, bytes } = must(part, 'a part');
      const damaged = { Bucket: s3.config.bucket, Key: s3.config.prefix + key };
      await s3Client.send(new PutObjectCommand({ ...damaged, Body: Buffer.alloc(bytes, 'x') }));
      s3Client.destroy();
      const results = new URL(`/v1/batches/${id}/results`, api.url);
      const download = await fetch(results, { headers: { Authorization: `Bearer ${apiKey}` } });
      expect(download.status).toBe(500);
      await expectFires(['DataDamaged']);
      await expectQuiet();

      const add = (amount: number) =>
        sql`update wallets set balance = balance + ${amount} where account_id = ${accountId}`;
      lifts.push(async () => {
        await add(-1);
        expect(await run('audit')).toBe(0);
      });
      await add(1);
      expect(await run('audit')).toBe(1);
      await expectFires(['DataDamaged']);
    },
    CASE_MS,
  );
});
