/** `status` on a database: what it shows and how it ends. */
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { insertBeat } from '../../src/jobs/monitor/monitor.sql.ts';
import { createTestDatabase } from '../../tests/support/database.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { addGlobalOptions } from '../global-options.ts';
import { addStatusCommand } from './status.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  const database = await createTestDatabase();
  pipeline = await openPipeline({ CHUNK_ROWS: '4' }, 'files', undefined, database);
  await importGraph(pipeline.sql, { persons: crowd(9) });
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', pipeline.context.config.dataDir);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await pipeline.close();
});
afterEach(() => {
  process.exitCode = undefined;
});

async function run(...words: string[]): Promise<string> {
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  const program = new Command().exitOverride();
  addGlobalOptions(program);
  addStatusCommand(program);
  try {
    await program.parseAsync(['status', ...words], { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return printed.join('');
}

const localCopy = {
  copy: { number: 3, built_at: '2026-01-02T03:04:05.000Z', people: 9, bytes: 4096, changed: 2 },
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
  const copies = '1 of 1 workers have one; at most 2 people changed since; 75 % of 40 rows from it';
  expect(text).toContain(`Copy        ${copies}\n`);
  expect(process.exitCode).toBeUndefined();
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
