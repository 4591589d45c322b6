/** Budgets of days to come, from before the clock was set back, that end while a list returns credits. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { untilBlocked } from '../../../tests/support/until-blocked.ts';
import { endFutureDays } from '../../core/credits/key-budgets.sql.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import { batchPayers } from '../audit/audit-batches.sql.ts';
import { releaseChunk } from './commit-part.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({});
  await importGraph(pipeline.sql, { persons: crowd(4) });
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.put;
  const { checks } = await audit(pipeline.sql);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
});

const list = 'email\np1@list.example\np2@list.example\np3@list.example\n';
const end = () => endFutureDays(pipeline.sql, batchPayers(pipeline.sql));

/** The day of the budget, counted from today, and the credits taken from it. */
async function readBudget() {
  const [budget] = await pipeline.sql<{ ahead: number; taken: number }[]>`
    select day - utc_today() as ahead, spent + spent_by_batches as taken from key_budgets where key_id = ${caller.keyId}`;
  return budget;
}

/** Runs a list; while its chunk holds a reservation of a day to come, calls `meanwhile`. */
async function withReservation(meanwhile: () => Promise<unknown>): Promise<void> {
  caller = await pipeline.boundedAccount(100, 9);
  await pipeline.upload(caller, list, { operation: 'people.enrich', fields: 'id' });
  let done: Promise<unknown> | undefined;
  pipeline.faults.put = async (key) => {
    if (done !== undefined || !key.includes('/parts/')) return;
    done = setBack().then(meanwhile);
    await Promise.allSettled([done]);
  };
  await pipeline.runUntilIdle();
  await must(done, 'a reservation');
}

/** Leaves the budget and its reservation on a day that has not come yet. */
async function setBack(): Promise<void> {
  const { sql } = pipeline;
  await sql`update reservations set budget_day = budget_day + 30 where account_id = ${caller.accountId}`;
  await sql`update key_budgets set day = day + 30 where key_id = ${caller.keyId}`;
}

/** Releases the chunk that holds the reservation, as when its lease was lost. */
async function release(tx: Sql): Promise<void> {
  const [chunk] = await tx<{ batchId: string; chunkId: number; number: number; epoch: number }[]>`
    select c.batch_id, c.id as chunk_id, c.number, c.epoch from chunks c join batches b on b.id = c.batch_id
    where b.account_id = ${caller.accountId} and c.state = 'leased'`;
  const held = { ...must(chunk, 'a chunk'), keyId: caller.keyId, attempt: 1, chunk: 0 };
  expect(await releaseChunk(tx, held, { waits: 'nothing' })).toBe(true);
}

test('the end of a day that a reservation is being returned to counts it no more', async () => {
  await withReservation(async () => {
    let ending: Promise<void> | undefined;
    await inTransaction(pipeline.sql, async (tx) => {
      await release(tx);
      ending = end();
      await untilBlocked(pipeline.sql, 1);
    });
    await ending;
    expect(await readBudget()).toEqual({ ahead: 0, taken: 0 });
  });
  expect(await readBudget()).toEqual({ ahead: 0, taken: 3 });
});

test('the end of a day waits for no reservation, and leaves it until that has ended', async () => {
  await withReservation(async () => {
    let ending: Promise<void> | undefined;
    await inTransaction(pipeline.sql, async (tx) => {
      await tx`select from reservations where account_id = ${caller.accountId} and state = 'open' for update`;
      ending = end();
      await Promise.race([ending, untilBlocked(pipeline.sql, 1)]);
      await release(tx);
    });
    await ending;
    expect(await readBudget()).toEqual({ ahead: 30, taken: 0 });
  });
  expect(await readBudget()).toEqual({ ahead: 30, taken: 3 });
  await end();
  expect(await readBudget()).toEqual({ ahead: 0, taken: 3 });
});
