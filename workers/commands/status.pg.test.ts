/** `status` on a database: what it shows and how it ends. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { INSTALLATION_KEY, markStore } from '../../src/jobs/batch/own-store.ts';
import { insertBeat } from '../../src/jobs/monitor/monitor.sql.ts';
import { createTestDatabase } from '../../tests/support/database.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { startS3Server } from '../../tests/support/s3-server.ts';
import { crowd } from '../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let databaseUrl: string;
beforeAll(async () => {
  const database = await createTestDatabase();
  pipeline = await openPipeline({ CHUNK_ROWS: '4' }, 'files', undefined, database);
  await importGraph(pipeline.sql, { persons: crowd(9) });
  await markStore(pipeline.context);
  databaseUrl = database.url;
  vi.stubEnv('DATABASE_URL', databaseUrl);
  vi.stubEnv('ENRICH_DATA_DIR', pipeline.context.config.dataDir);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
});
afterEach(() => {
  process.exitCode = undefined;
});

const run = (...words: string[]): Promise<string> => printedBy(['status', ...words]);

const localCopy = {
  copy: {
    ...{ number: 3, built_at: '2026-01-02T03:04:05.000Z', rolled_forward_at: null },
    ...{ people: 9, companies: 5, bytes: 4096, changed: 2 },
  },
  reached: 5,
  graph_number: 5,
  building: false,
  rows: { copy: 30, postgres: 10 },
};
const beat = (kind: 'api' | 'worker', id: string) =>
  insertBeat(pipeline.sql, {
    ...{ id, kind, host: 'here', version: '9.8.7', startedAt: new Date(), leasesReclaimed: 0 },
    localCopy: kind === 'worker' ? localCopy : null,
  });
const bucketOptions = ['S3_BUCKET', 'S3_ENDPOINT', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
const list = (count: number) =>
  `email\n${Array.from({ length: count }, (_, n) => `p${n + 1}@list.example\n`).join('')}`;

test('a service without a worker has a problem, its oldest list and the wallets that are empty', async () => {
  const poor = await pipeline.account(2);
  const paused = await pipeline.enrich(poor, list(5), { operation: 'people.enrich' });
  const rich = await pipeline.account(100);
  const oldest = await pipeline.upload(rich, list(3), { operation: 'people.enrich' });
  await pipeline.upload(rich, list(2), { operation: 'people.enrich' });
  await beat('api', '01900000-0000-7000-8000-000000000001');
  const status = JSON.parse(await run('--json'));
  expect(process.exitCode).toBe(1);
  expect(status).toMatchObject({
    ok: false,
    problems: ['No worker is running: lists and schedules wait.'],
    processes: [{ kind: 'api', version: '9.8.7', seen: true }],
    queue: { kept_in: 'postgres', answers: true },
    storage: { kept_in: 'files', answers: true },
    oldest_batch: { batch_id: oldest, account_id: rich.accountId, rows_processed: 0 },
    paused_wallets: [{ account_id: poor.accountId, batches: 1, credits: 0 }],
  });
  const text = await run();
  expect(text).toContain('No worker is running');
  expect(text).toContain(`Oldest      ${oldest} of ${rich.accountId}, created since`);
  expect(text).toContain(`  ${poor.accountId}: 1 list since`);
  expect(text).not.toContain(paused);
});

test('a service that works has no problem', async () => {
  await pipeline.runUntilIdle();
  await beat('worker', '01900000-0000-7000-8000-000000000002');
  const text = await run();
  expect(text).toMatch(/^No problems\.\nProcesses {3}1 api \(9\.8\.7\), 1 worker \(9\.8\.7\)\n/);
  expect(text).toContain('Oldest      none');
  const copies =
    '1 of 1 processes have one; at most 2 records changed since; 75 % of 40 rows from it';
  expect(text).toContain(`Copy        ${copies}\n`);
  expect(process.exitCode).toBeUndefined();
});

test('the store of another installation is a problem, and so is one that lost its mark', async () => {
  const { store } = pipeline.context;
  await store.put(INSTALLATION_KEY, [Buffer.from('01900000-0000-7000-8000-000000000009')]);
  const text = await run();
  expect(text).toMatch(
    /^1 problem:\n {2}The folder .* is the object store of another installation/,
  );
  expect(text).toContain('Storage     files: responds, but belongs to another database\n');
  expect(process.exitCode).toBe(1);
  await store.delete(INSTALLATION_KEY);
  expect(await run()).toMatch(/^1 problem:\n {2}The folder .* is not the object store of this/);
  // To look changes nothing.
  expect(await store.head(INSTALLATION_KEY)).toBeNull();
  await markStore(pipeline.context);
});

describe('with a bucket', () => {
  afterEach(() => {
    for (const name of bucketOptions) vi.stubEnv(name, undefined);
  });

  test('that does not exist the status has a problem', async () => {
    const s3 = await startS3Server();
    const options: Record<string, string> = { ...s3.environment, S3_BUCKET: 'mistyped' };
    for (const name of bucketOptions) vi.stubEnv(name, options[name]);
    const text = await run();
    expect(text).toContain(
      `1 problem:\n  The bucket mistyped at ${options.S3_ENDPOINT} cannot be read: `,
    );
    expect(text).toContain('NoSuchBucket');
    expect(process.exitCode).toBe(1);
    await s3.close();
  });

  test('of a server that never responds the status ends, with its connections', async () => {
    const frozen = createServer().listen(0, '127.0.0.1');
    await once(frozen, 'listening');
    let open = 0;
    frozen.on('connection', (socket) => {
      open++;
      socket
        .on('error', () => {})
        .on('close', () => open--)
        .resume();
    });
    const { port } = frozen.address() as AddressInfo;
    const options: Record<string, string> = {
      ...{ S3_BUCKET: 'leads', S3_ENDPOINT: `http://127.0.0.1:${port}` },
      ...{ S3_ACCESS_KEY_ID: 'me', S3_SECRET_ACCESS_KEY: 'secret' },
    };
    for (const name of bucketOptions) vi.stubEnv(name, options[name]);
    expect(await run()).toMatch(
      /^1 problem:\n {2}The bucket leads at http:\S+ does not respond\.\n/,
    );
    await vi.waitUntil(() => open === 0, { timeout: 20_000 });
    frozen.close();
  });
});

test.each([
  ['empty', ['drop schema public cascade', 'create schema public'], 'schema_older'],
  [
    'of something else',
    ['drop schema public cascade', 'create schema public', 'create table public.orders (id int)'],
    'foreign_database',
  ],
])('a database that is %s is refused with what to do', async (_how, statements, code) => {
  const other = await createTestDatabase();
  for (const statement of statements) await other.sql.unsafe(statement);
  vi.stubEnv('DATABASE_URL', other.url);
  await expect(run()).rejects.toMatchObject({
    code,
    message: expect.stringContaining('Correct DATABASE_URL'),
  });
  vi.stubEnv('DATABASE_URL', databaseUrl);
  await other.drop();
});

test('without a database the status is one line with what to do', async () => {
  vi.stubEnv('DATABASE_URL', 'postgres://me@127.0.0.1:1/none');
  await expect(run()).rejects.toMatchObject({
    code: 'database_unavailable',
    message: expect.stringMatching(/ECONNREFUSED.*docs\/operations.md/),
  });
  vi.stubEnv('DATABASE_URL', '');
  await expect(run()).rejects.toMatchObject({ code: 'no_service' });
});
