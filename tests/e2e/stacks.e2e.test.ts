/**
 * Both stacks in separate processes: queue and files on Postgres and a folder, and on Redis and S3. A list has
 * the same result on both, also when a worker is stopped during a chunk, and when the queue loses everything.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type S3Process, startS3Process } from '../../bench/servers/s3-server.ts';
import { generateGraph } from '../../samples/generate/generate-graph.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import type { OptionTexts } from '../../src/core/config.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import { must } from '../../src/core/lib/assert.ts';
import { audit } from '../../src/jobs/audit/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { loseQueue } from '../support/lose-queue.ts';
import { describeWithRedis, startRedis, type TestRedis } from '../support/redis-server.ts';
import { buildIfStale } from './compiled-code.ts';
import {
  LIST_ROWS,
  type Result,
  type RunningList,
  readResult,
  untilEnded,
  untilMidway,
  uploadList,
  writeList,
} from './list.ts';
import { CHUNK_ROWS } from './processes.ts';
import { type ApiProcess, startApi, startWorker } from './separate-processes.ts';
import { waitFor } from './wait-for.ts';

const CASE_MS = 150_000;
const END_SECONDS_MAX = 30;

interface Stack {
  database: TestDatabase;
  options: OptionTexts;
  api: ApiProcess;
  apiKey: string;
  /** Deletes everything in the queue. */
  loseQueue(): Promise<unknown>;
}

const root = mkdtempSync(path.join(tmpdir(), 'enrich-stacks-'));
const leads = path.join(root, 'leads.csv');

describeWithRedis('a list on the embedded stack and on Redis with S3', () => {
  let redis: TestRedis;
  let s3: S3Process;
  let embedded: Stack;
  let production: Stack;
  /** The result of the list on the embedded stack when nothing goes wrong. */
  let undisturbed: { result: Result; charged: number };
  /** Runs `work` on both concurrently. */
  const onBoth = (work: (stack: Stack) => Promise<unknown>) =>
    Promise.all([embedded, production].map(work));

  beforeAll(async () => {
    await buildIfStale();
    [redis, s3] = await Promise.all([startRedis(), startS3Process()]);
    embedded = await openStack({ dataDir: path.join(root, 'data') }, ({ sql }) => loseQueue(sql));
    production = await openStack({ redisUrl: redis.url, ...s3.options }, () =>
      redis.client.flushall(),
    );
    const addresses = { up: { url: embedded.api.url, database_url: embedded.database.url } };
    await writeList(addresses, leads);
  }, 120_000);

  afterAll(async () => {
    for (const stack of [embedded, production]) {
      await stack?.api[Symbol.asyncDispose]();
      await stack?.database.drop();
    }
    await s3?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
    await rm(root, { recursive: true, force: true });
  }, 60_000);

  it(
    'comes out byte for byte the same, at the same price',
    async () => {
      const [first, second] = await Promise.all(
        [embedded, production].map(async (stack) => {
          await using _worker = startWorker(stack.options);
          const list = await upload(stack);
          const { state, credits } = await untilEnded(list);
          expect(state).toBe('completed');
          return { id: list.id, result: await readResult(list), charged: credits.charged };
        }),
      );
      const { result, charged } = must(first, 'the embedded list');
      expect(result.lines).toBe(LIST_ROWS + 1);
      expect(charged).toBeGreaterThan(LIST_ROWS / 2);
      expect(second).toMatchObject({ result, charged });
      undisturbed = { result, charged };
      const objects = await s3.keys(`batches/${second?.id}/`);
      // The upload, and each part with its person index.
      expect(objects).toHaveLength(1 + (2 * LIST_ROWS) / CHUNK_ROWS);
    },
    CASE_MS,
  );

  it(
    'is finished by another worker when the only one is stopped: each chunk is done once',
    async () => {
      await onBoth(async (stack) => {
        const worker = startWorker(stack.options);
        const list = await upload(stack);
        await untilMidway(list);
        const { code, seconds } = await worker.stop();
        expect({ code, stderr: worker.command.stderr }).toMatchObject({ code: 0 });
        expect(seconds).toBeLessThan(END_SECONDS_MAX);
        const left = await countChunks(stack, list);
        expect(left.leased).toBe(0);
        expect(left.open).toBeGreaterThan(0);
        await using _next = startWorker(stack.options);
        await expectUndisturbed(stack, list);
        expect(await countChunks(stack, list)).toEqual({ open: 0, leased: 0, claimedAgain: 0 });
      });
    },
    CASE_MS,
  );

  it(
    'can start after the queue lost its schema while no process ran that would recreate it',
    async () => {
      await embedded.loseQueue();
      await using _api = await startApi(embedded.options);
      const { sql } = embedded.database;
      await waitFor('the schema of the queue is there', END_SECONDS_MAX * 1000, async () => {
        const [row] = await sql`select to_regclass('bullmq.migration') as found`;
        return row?.found !== null;
      });
    },
    CASE_MS,
  );

  it(
    'is finished by the sweep when the queue loses everything during the run',
    async () => {
      await onBoth(async (stack) => {
        await using _one = startWorker(stack.options);
        await using _other = startWorker(stack.options);
        const list = await upload(stack);
        await untilMidway(list);
        await stack.loseQueue();
        await expectUndisturbed(stack, list);
      });
    },
    CASE_MS,
  );

  /** The list ends with the same bytes and the same price as when nothing happened to it. */
  async function expectUndisturbed(stack: Stack, list: RunningList): Promise<void> {
    const { state, credits } = await untilEnded(list);
    const result = await readResult(list);
    const { charged, reserved } = credits;
    expect({ state, result, charged, reserved }).toEqual({
      state: 'completed',
      ...undisturbed,
      reserved: 0,
    });
    expect(await audit(stack.database.sql)).toMatchObject({ ok: true });
  }
});

async function openStack(
  options: OptionTexts,
  lose: (database: TestDatabase) => Promise<unknown>,
): Promise<Stack> {
  const database = await createTestDatabase();
  await generateGraph(database.sql, { persons: 5_000, companies: 1_000, seed: 1 });
  const accountId = await createAccount(database.sql, { name: 'Team', credits: 10_000_000 });
  const { key: apiKey } = await createKey(database.sql, { accountId, mode: 'live' });
  const all = {
    databaseUrl: database.url,
    databaseConnections: '4',
    ...options,
  };
  const api = await startApi(all);
  return { database, options: all, api, apiKey, loseQueue: () => lose(database) };
}

function upload({ api, database, apiKey }: Stack): Promise<RunningList> {
  return uploadList({ up: { url: api.url, database_url: database.url } }, apiKey, leads);
}

/** Counts of chunks that are unfinished, held by a worker, and claimed more than once. */
async function countChunks({ database }: Stack, { id }: RunningList) {
  const [counts] = await database.sql<{ open: number; leased: number; claimedAgain: number }[]>`
    select count(*) filter (where state <> 'done')::int as open,
      count(*) filter (where state = 'leased')::int as leased,
      count(*) filter (where epoch > 1)::int as claimed_again
    from chunks where batch_id = ${id}`;
  return must(counts, 'counts');
}
