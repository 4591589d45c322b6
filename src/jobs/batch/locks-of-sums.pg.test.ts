/**
 * The sum of an account's stored files is locked last, and at once before the transaction ends: one that cancels another list
 * holds the wallet while it waits for the sum, and with the wallet the calls of all accounts that are charged with this one.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { diagnose } from '../backup/doctor.ts';
import { claimChunk } from '../chunk/claim-chunk.sql.ts';
import { reserveForChunk } from '../chunk/reserve.sql.ts';
import { dispatch } from './dispatch.ts';
import { endWithError, processingFailed } from './fail-batch.ts';
import { markStore } from './own-store.ts';

let pipeline: Pipeline;
let caller: Caller;
/** A list of one row, split; the account has another one that ended. */
let id: string;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.account(10);
  const options = { operation: 'people.enrich', dedupe: 'true' };
  const upload = () => pipeline.upload(caller, 'email\na@list.example\n', options);
  await pipeline.call(caller, `/v1/batches/${await upload()}/cancel`, { method: 'POST' });
  pipeline.queues.waiting = [];
  id = await upload();
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
});

/** Runs `work` while another transaction has locked what `lock` locks; returns whether the sum was free meanwhile. */
async function isSumFree(lock: (tx: Sql) => Promise<unknown>, work: () => Promise<unknown>) {
  let working: Promise<unknown> = Promise.resolve();
  const free = await inTransaction(pipeline.sql, async (tx) => {
    await lock(tx);
    working = work();
    await pipeline.untilBlocked(1);
    return tx`
      select from stored_sums where account_id = ${caller.accountId} for update skip locked`;
  });
  await working;
  return free.length === 1;
}

test('a list that fails waits for the wallet before it locks the sum', async () => {
  const { sql } = pipeline;
  await dispatch(pipeline.context);
  const [dispatched] = await sql<{ chunkId: number; epoch: number }[]>`
    select id as chunk_id, epoch from chunks where batch_id = ${id}`;
  const { chunkId, epoch } = must(
    await claimChunk(sql, must(dispatched, 'the chunk')),
    'a claim',
  ).chunk;
  await reserveForChunk(sql, { batchId: id, chunkId, epoch, matches: 1, price: 1 });
  const isFree = await isSumFree(
    (tx) => tx`select from wallets where account_id = ${caller.accountId} for update`,
    () => endWithError(pipeline.context, id, processingFailed({ kind: 'list' })),
  );
  expect(isFree).toBe(true);
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'failed' });
  expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
});

test('a list that is deleted forgets its records before it locks the sum', async () => {
  const { sql } = pipeline;
  await endWithError(pipeline.context, id, processingFailed({ kind: 'list' }));
  await sql`insert into batch_records (batch_id, record_id, row) values (${id}, 1, 1)`;
  const isFree = await isSumFree(
    (tx) => tx`select from batch_records where batch_id = ${id} for update`,
    () => pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' }),
  );
  expect(isFree).toBe(true);
  expect([...(await sql`select from batch_records where batch_id = ${id}`)]).toEqual([]);
});

test('the doctor waits for the reruns of a list that it runs again before it locks the sum', async () => {
  const { context } = pipeline;
  await markStore(context);
  await pipeline.runUntilIdle();
  const answer = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['no_match'] }),
  });
  const rerun = (await answer.json()) as { id: string };
  await pipeline.runUntilIdle();
  await context.store.deletePrefix(`batches/${id}/parts/`);
  const isFree = await isSumFree(
    (tx) => tx`select from batches where id = ${rerun.id} for update`,
    () => diagnose(context, { fix: true }),
  );
  expect(isFree).toBe(true);
  expect(
    await pipeline.sql`select from batches where id = ${rerun.id} and files_deleted_at is null`,
  ).toEqual([]);
});
