/**
 * The whole pipeline in one process: its own database, objects in a temporary folder or on an S3 server, the
 * HTTP API on a free port, and queues that run on a test's command. Only time and the queue are mocked.
 */

import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createApp } from '../../src/api/app.ts';
import { createHttpServer } from '../../src/api/http/http-server.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type Config, readConfig } from '../../src/core/config.ts';
import { openContext } from '../../src/core/context.ts';
import { readWallet } from '../../src/core/credits/credits.sql.ts';
import { grantCredits } from '../../src/core/credits/credits.ts';
import { openReplicas, type Replicas } from '../../src/core/db/replicas.ts';
import { createKey, type Scope } from '../../src/core/keys/keys.ts';
import type { Log } from '../../src/core/log.ts';
import { openSearches, type ReadSearch } from '../../src/core/search/read-search.ts';
import type { ObjectStore } from '../../src/core/storage/object-store.ts';
import type { BatchView, ExportView } from '../../src/jobs/batch/batch-view.ts';
import { sweep } from '../../src/jobs/housekeeping/sweep.ts';
import type { JobContext } from '../../src/jobs/queue/job-context.ts';
import type { Queues } from '../../src/jobs/queue/queues.ts';
import { openApiContext } from './api-context.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { MemoryQueues } from './memory-queues.ts';
import { startS3Server } from './s3-server.ts';
import { untilBlocked } from './until-blocked.ts';

export interface Caller {
  accountId: string;
  keyId: string;
  key: string;
}

/** Faults that a test can inject into the store; each is called before the store acts. */
export interface StoreFaults {
  get?: (key: string) => Promise<void>;
  put?: (key: string) => Promise<void>;
  putStream?: (key: string) => Promise<void>;
}

export type Pipeline = Awaited<ReturnType<typeof openPipeline>>;

export type Storage = 'files' | 's3';

/** The URL by which the service reaches the database at this URL. */
export type Through = (databaseUrl: string) => Promise<string>;

const directly: Through = async (url) => url;

/**
 * Opens a pipeline; `environment` changes options, such as `CHUNK_ROWS`, and `storage` selects the object
 * store. Creates a database unless one is passed; closing the pipeline drops it in either case.
 */
export async function openPipeline(
  environment: Record<string, string> = {},
  storage: Storage = 'files',
  through: Through = directly,
  database?: TestDatabase,
) {
  const queues = new MemoryQueues();
  const makeQueues = () => queues;
  const pipeline = await openPipelineWith(environment, storage, makeQueues, through, database);
  const runUntilIdle = (workers = 1) => queues.runUntilIdle(pipeline.context, workers);
  const runWhatWaits = async (store: ObjectStore = pipeline.context.store) => {
    while (queues.waiting[0] !== undefined) {
      await queues.run({ ...pipeline.context, store }, queues.waiting[0]).catch(() => {});
    }
  };
  return {
    ...pipeline,
    queues,
    runUntilIdle,

    /** Runs waiting jobs, including failing ones; with another store than that of the pipeline, if one is given. */
    runWhatWaits,

    /** Runs waiting jobs, including failing ones, and an hour later those that wait then. */
    async runForAnHour(): Promise<void> {
      await runWhatWaits();
      await pipeline.passAnHour();
      await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
      await pipeline.sweep();
      await runWhatWaits();
    },

    /** Uploads a list and runs it as far as possible. */
    async enrich(caller: Caller, list: string | Buffer, options: Record<string, string>) {
      const id = await pipeline.upload(caller, list, options);
      await runUntilIdle();
      return id;
    },
  };
}

/** Opens a pipeline on the caller's queues; the caller runs their jobs. */
export async function openPipelineWith(
  environment: Record<string, string>,
  storage: Storage,
  makeQueues: (config: Config, databaseUrl: string, log: Log) => Queues,
  through: Through = directly,
  given?: TestDatabase,
) {
  const database = given ?? (await createTestDatabase());
  const dataDir = await mkdtemp(path.join(tmpdir(), 'enrich-pipeline-'));
  const s3 = storage === 's3' ? await startS3Server() : null;
  const config = readConfig({
    LOG_LEVEL: 'silent',
    ENRICH_DATA_DIR: dataDir,
    ...s3?.environment,
    ...environment,
  });
  const opened = await openContext(config, await through(database.url), 'test');
  const queues = makeQueues(config, database.url, opened.log);
  const faults: StoreFaults = {};
  const store = withFaults(opened.store, faults);
  const replicas = openReplicas(config, database.url, opened.log);
  const readSearch = openSearches({ ...opened, replicas }, config);
  const context: JobContext & { replicas: Replicas; readSearch: ReadSearch } = {
    ...opened,
    replicas,
    readSearch,
    store,
    config,
    queues,
  };
  const api = openApiContext(context);
  const server = createHttpServer(createApp(api)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const call = (caller: Caller | null, pathname: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (caller !== null) headers.set('Authorization', `Bearer ${caller.key}`);
    return fetch(url + pathname, { ...init, headers });
  };
  const json = async (caller: Caller, pathname: string): Promise<BatchView> => {
    const response = await call(caller, pathname);
    if (response.status !== 200) throw new Error(`${pathname}: ${await response.text()}`);
    return (await response.json()) as BatchView;
  };

  return {
    ...database,
    context,
    faults,
    url,
    call,

    /** An account with credits, and its key. */
    async account(credits: number): Promise<Caller> {
      const accountId = await createAccount(database.sql, { name: 'Test', credits });
      return this.keyOf(accountId, 'live');
    },

    /** An account with credits, and a key without request limits. */
    async unmeteredAccount(credits: number): Promise<Caller> {
      const accountId = await createAccount(database.sql, { name: 'Test', credits });
      const limits = { requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };
      const { id, key } = await createKey(database.sql, { accountId, mode: 'live', ...limits });
      return { accountId, keyId: id, key };
    },

    /** An account with credits, and a key with a daily budget. */
    async boundedAccount(credits: number, creditsPerDay: number | null): Promise<Caller> {
      const accountId = await createAccount(database.sql, { name: 'Test', credits });
      const input = { accountId, mode: 'live', creditsPerDay } as const;
      const { id, key } = await createKey(database.sql, input);
      return { accountId, keyId: id, key };
    },

    async keyOf(accountId: string, mode: 'live' | 'test', scopes?: Scope[]): Promise<Caller> {
      const input = { accountId, mode, ...(scopes === undefined ? {} : { scopes }) };
      const { id, key } = await createKey(database.sql, input);
      return { accountId, keyId: id, key };
    },

    /** Uploads a list through the API; returns the new batch's id. */
    async upload(caller: Caller, list: string | Buffer, options: Record<string, string>) {
      const query = new URLSearchParams(options);
      const response = await call(caller, `/v1/batches?${query}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/csv' },
        body: new Uint8Array(Buffer.from(list)),
      });
      if (response.status !== 202) throw new Error(await response.text());
      return ((await response.json()) as BatchView).id;
    },

    /** Creates an export through the API; returns the new export's id. */
    async makeExport(caller: Caller, body: Record<string, unknown>) {
      const response = await call(caller, '/v1/exports', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
      if (response.status !== 202) throw new Error(await response.text());
      return ((await response.json()) as ExportView).id;
    },

    exportOf: async (caller: Caller, id: string) =>
      (await json(caller, `/v1/exports/${id}`)) as unknown as ExportView,

    /** The file of an export, as far as it is finished. */
    async people(caller: Caller, id: string, query = '') {
      const response = await call(caller, `/v1/exports/${id}/results${query}`);
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return { text, complete: response.headers.get('x-result-complete') };
    },

    sweep: () => sweep(context),
    batch: (caller: Caller, id: string) => json(caller, `/v1/batches/${id}`),

    async results(caller: Caller, id: string): Promise<{ text: string; complete: string | null }> {
      const response = await call(caller, `/v1/batches/${id}/results`);
      const text = await response.text();
      if (response.status !== 200) throw new Error(text);
      return { text, complete: response.headers.get('x-result-complete') };
    },

    grant: (caller: Caller, amount: number, reference: string) =>
      grantCredits(database.sql, { accountId: caller.accountId, amount, reference }),
    wallet: (caller: Caller) => readWallet(database.sql, caller.accountId),

    /** Charges of the account in the ledger, oldest first. */
    async charges(caller: Caller): Promise<{ reference: string; amount: number; units: number }[]> {
      return database.sql<{ reference: string; amount: number; units: number }[]>`
        select reference, amount, units from ledger_entries
        where account_id = ${caller.accountId} and kind = 'charge' order by id`;
    },

    /** Advances time by an hour: leases expire, wake-ups count as lost, pauses before retries are over. */
    async passAnHour(): Promise<void> {
      await database.sql`
        update chunks set lease_until = lease_until - interval '1 hour',
          dispatched_at = dispatched_at - interval '1 hour',
          run_after = run_after - interval '1 hour'`;
      await database.sql`
        update batches set claim_after = claim_after - interval '1 hour' where waits_for = 'time'`;
      await database.sql`update key_waits set claim_after = claim_after - interval '1 hour'`;
      await database.sql`
        update batches set job_lease_until = job_lease_until - interval '1 hour',
          job_after = job_after - interval '1 hour',
          object_missing_since = object_missing_since - interval '1 hour'
        where finished_at is null`;
      await database.sql`update parts set committed_at = committed_at - interval '1 hour'`;
    },

    /**
     * Advances a key, and those that share its budget, past midnight (UTC): their spending was the day before.
     */
    async passADay(caller: Caller): Promise<void> {
      await database.sql`update key_budgets set day = day - 1 where key_id = ${caller.keyId}`;
      await database.sql`
        update reservations set budget_day = budget_day - 1
        where batch_id in (
          select b.id from batches b join api_keys k on k.id = b.key_id
          where k.credits_of = ${caller.keyId})`;
    },

    /** Resolves once this many sessions wait for a lock. */
    untilBlocked: (sessions: number) => untilBlocked(database.sql, sessions),

    /** Keys of the stored objects, temporary ones included. */
    async objects(): Promise<string[]> {
      if (s3 !== null) return s3.keys();
      const folder = path.join(dataDir, 'objects');
      const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
        () => [],
      );
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
        .sort();
    },

    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await replicas[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      await s3?.close();
    },
  };
}

function withFaults(store: ObjectStore, faults: StoreFaults): ObjectStore {
  return {
    ...store,
    async get(key, range) {
      await faults.get?.(key);
      return store.get(key, range);
    },
    async put(key, bytes) {
      await faults.put?.(key);
      return store.put(key, bytes);
    },
    async putStream(key, bytes) {
      await faults.putStream?.(key);
      return store.putStream(key, bytes);
    },
  };
}
