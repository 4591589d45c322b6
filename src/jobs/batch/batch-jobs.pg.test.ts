/** Batch jobs serve accounts round-robin, whatever one of them has waiting, and find every batch. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { unavailable } from '../../core/lib/errors.ts';
import { claimChunk } from '../chunk/claim-chunk.sql.ts';
import { sweep } from '../housekeeping/sweep.ts';
import { noteLost } from './batches.sql.ts';
import {
  type BatchJob,
  claimBatch,
  claimNextBatch,
  listWaiting,
  releaseBatch,
} from './claim-batch.sql.ts';

/** More than a sweep lists. */
const STUCK = 150;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  await importGraph(pipeline.sql, { persons: crowd(6) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.account(1000);
  pipeline.queues.waiting = [];
  await pipeline.sql`
    update batches set state = 'cancelled', finished_at = now(), quote = null
    where finished_at is null`;
});

const options = { operation: 'people.enrich', fields: 'id' };
const list = `email\n${crowd(6)
  .map(({ email }) => `${email}\n`)
  .join('')}`;

/** A held list, split. */
async function heldList(who: Caller): Promise<string> {
  return pipeline.enrich(who, list, { ...options, hold: 'true' });
}

/** Requests a quote of a held list. */
async function ask(who: Caller, id: string): Promise<void> {
  const asked = await pipeline.call(who, `/v1/batches/${id}/quote`, { method: 'POST' });
  expect(asked.status).toBe(202);
}

/** Copies a batch, with a creation time an hour ago. */
async function multiply(id: string, copies = STUCK): Promise<void> {
  const { sql } = pipeline;
  const [columns] = await sql<{ names: string }[]>`
    select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
    where table_name = 'batches' and table_schema = 'public'
      and column_name not in ('id', 'created_at', 'state_since') and is_generated = 'NEVER'`;
  const names = sql.unsafe(columns?.names ?? '');
  await sql`
    insert into batches (id, created_at, ${names})
    select gen_random_uuid(), created_at - interval '1 hour', ${names}
    from batches, generate_series(1, ${copies}) where id = ${id}`;
}

/** Creates batches of one account that wait for ever, more than a sweep lists. */
const stuck: Record<string, () => Promise<void>> = {
  'quotes that wait for rows per minute': async () => {
    const id = await heldList(caller);
    await ask(caller, id);
    await multiply(id);
  },
  'exports that cannot be written': async () => {
    const id = await pipeline.makeExport(caller, { filter: 'id=1', fields: ['id'] });
    await pipeline.sql`update batches set state = 'validating' where id = ${id}`;
    await multiply(id);
  },
  'lists whose object is missing': async () => {
    await multiply(await pipeline.upload(caller, list, options));
  },
  'finish jobs that fail': async () => {
    const id = await pipeline.enrich(caller, list, options);
    await pipeline.sql`
      update batches set state = 'finalizing', finished_at = null where id = ${id}`;
    await multiply(id);
  },
};

describe.each(Object.keys(stuck))('with %s of another account', (what) => {
  test('the next sweep finds batches that lost their wake-up', async () => {
    const mine = await pipeline.account(1000);
    const quoted = await heldList(mine);
    await stuck[what]?.();
    const split = await pipeline.upload(mine, list, options);
    await ask(mine, quoted);
    await pipeline.sql`
      update batches set created_at = created_at - interval '1 minute'
      where account_id = ${mine.accountId}`;
    pipeline.queues.waiting = [];
    await pipeline.sweep();
    const woken = pipeline.queues.waiting.map(({ id }) => id);
    expect(woken).toContain(`split-batch-${split}-0`);
    expect(woken).toContain(`quote-batch-${quoted}-0`);
  });
});

test('a stage of the sweep that always fails keeps no other one', async () => {
  const mine = await pipeline.account(1000);
  const split = await pipeline.upload(mine, list, options);
  await pipeline.sql`
    update batches set created_at = created_at - interval '1 minute' where id = ${split}`;
  pipeline.queues.waiting = [];
  pipeline.queues.repair = () => Promise.reject(new Error('always'));
  await expect(sweep(pipeline.context)).rejects.toThrow('always');
  Reflect.deleteProperty(pipeline.queues, 'repair');
  expect(pipeline.queues.waiting.map(({ id }) => id)).toContain(`split-batch-${split}-0`);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(mine, split)).toMatchObject({ state: 'completed' });
});

test('a list whose lost chunk cannot be reclaimed keeps no other one', async () => {
  const { sql, queues, context } = pipeline;
  const owners = [await pipeline.account(1000), await pipeline.account(1000)];
  const ids: string[] = [];
  for (const owner of owners) {
    const id = await pipeline.upload(owner, list, options);
    ids.push(id);
    await queues.runNext(context, 'split-batch');
    const isOfList = ({ id: job }: { id: string }) => job.startsWith(id);
    const woken = must(queues.waiting.find(isOfList), 'a chunk').payload;
    must(await claimChunk(sql, woken as Parameters<typeof claimChunk>[1]), 'the claim');
    queues.waiting = [];
  }
  await pipeline.passAnHour();
  await sql.unsafe(`
    alter table chunks add constraint poisoned
      check (batch_id <> '${ids.toSorted()[0]}' or state <> 'pending') not valid`);
  const sweeping = await Promise.allSettled([pipeline.sweep()]);
  const leased = await sql`
    select batch_id from chunks where state = 'leased' and batch_id = any(${ids})`;
  await sql`alter table chunks drop constraint poisoned`;
  expect(sweeping).toMatchObject([{ reason: { constraint_name: 'poisoned' } }]);
  expect(leased.map(({ batchId }) => batchId)).toEqual([ids.toSorted()[0]]);
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  const ended = await sql`select state from batches where id = any(${ids})`;
  expect(ended.map(({ state }) => state)).toEqual(['completed', 'completed']);
});

describe('a claim', () => {
  test('serves each account in turn, one batch of each at a time', async () => {
    const callers = [caller, await pipeline.account(1000), await pipeline.account(1000)];
    callers.sort((a, b) => (a.accountId < b.accountId ? -1 : 1));
    const ids: string[][] = [];
    for (const who of callers) {
      ids.push([await heldList(who), await heldList(who)]);
    }
    for (const [place, lists] of ids.entries()) {
      for (const id of lists) await ask(must(callers[place], 'a caller'), id);
    }
    const { sql } = pipeline;
    const next = async (after: number) =>
      (await claimNextBatch(sql, 'quote-batch', callers[after]?.accountId ?? null))?.batch.id;
    expect(await next(0)).toBe(ids[1]?.[0]);
    expect(await next(1)).toBe(ids[2]?.[0]);
    expect(await next(2)).toBe(ids[0]?.[0]);
    // Every account is being served; even its own wake-up does not claim a second batch.
    expect(await next(0)).toBeUndefined();
    expect(await claimBatch(sql, 'quote-batch', must(ids[1]?.[1], 'a list'))).toBeUndefined();
    const released = { retryAfterSeconds: 3600, counts: false };
    await releaseBatch(sql, { batch: { id: must(ids[1]?.[0], 'a list') }, attempts: 1 }, released);
    expect(await next(0)).toBe(ids[1]?.[1]);
  });

  test('gives no account two batches, however many workers claim at once', async () => {
    const callers = [caller, await pipeline.account(1000)];
    for (const who of callers) {
      for (let made = 0; made < 3; made++) await pipeline.upload(who, list, options);
    }
    const claims = await Promise.all(
      Array.from({ length: 12 }, () => claimNextBatch(pipeline.sql, 'split-batch', null)),
    );
    const accounts = claims.flatMap((claim) => (claim === undefined ? [] : claim.batch.accountId));
    expect(accounts.sort()).toEqual(callers.map(({ accountId }) => accountId).sort());
  });

  test('that was lost to another worker is not ended by the first one, late', async () => {
    const { sql } = pipeline;
    const id = await pipeline.upload(caller, list, options);
    const late = must(await claimBatch(sql, 'split-batch', id), 'the first claim');
    await sql`update batches set job_lease_until = clock_timestamp() where id = ${id}`;
    const present = must(await claimBatch(sql, 'split-batch', id), 'the second claim');
    const released = { retryAfterSeconds: 0, counts: false };
    await releaseBatch(sql, late, released);
    expect(await claimBatch(sql, 'split-batch', id)).toBeUndefined();
    await releaseBatch(sql, present, released);
    expect(await claimBatch(sql, 'split-batch', id)).toMatchObject({ attempts: 2 });
  });

  test('of a worker that died is repeated by another', async () => {
    const id = await pipeline.upload(caller, list, options);
    pipeline.queues.waiting = [];
    expect((await claimNextBatch(pipeline.sql, 'split-batch', null))?.batch.id).toBe(id);
    await pipeline.sweep();
    expect(pipeline.queues.waiting).toEqual([]);
    await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('of a worker that died is repeated by another while the queue holds its job', async () => {
    // Not UTF-8, so that the split writes a copy of it.
    const id = await pipeline.upload(caller, Buffer.from(`\ufeff${list}`, 'utf16le'), options);
    const [frozen, thawed] = [new Signal(), new Signal()];
    pipeline.faults.putStream = () => {
      delete pipeline.faults.putStream;
      frozen.raise();
      return thawed.raised;
    };
    const job = must(pipeline.queues.waiting[0], 'a split');
    const working = pipeline.queues.run(pipeline.context, job);
    await frozen.raised;
    await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    thawed.raise();
    await working;
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });
});

test('a list is split by another worker when one took its wake-up and died before its claim', async () => {
  const id = await pipeline.upload(caller, list, options);
  const taken = new Signal();
  const begin = () => {
    taken.raise();
    return new Promise(() => {});
  };
  const sql = new Proxy(pipeline.context.sql, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  });
  const job = must(pipeline.queues.waiting[0], 'a split');
  void pipeline.queues.run({ ...pipeline.context, sql }, job);
  await taken.raised;
  await pipeline.sql`update batches set created_at = created_at - interval '1 minute'`;
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
});

test('a lease granted before the clock was set back holds up neither its list nor others', async () => {
  const { sql } = pipeline;
  const held = await pipeline.upload(caller, list, options);
  const next = await pipeline.upload(caller, list, options);
  expect((await claimNextBatch(sql, 'split-batch', null))?.batch.id).toBe(held);
  await sql`
    update batches set job_lease_until = job_lease_until + interval '2 hours' where id = ${held}`;
  await sql`update batches set created_at = created_at - interval '1 hour'`;
  pipeline.queues.waiting = [];
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  for (const id of [held, next]) {
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  }
});

test('a list created before the clock was set back, whose wake-up is lost, is found at once', async () => {
  const id = await pipeline.upload(caller, list, options);
  await pipeline.sql`update batches set created_at = now() + interval '2 hours' where id = ${id}`;
  pipeline.queues.waiting = [];
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
});

test('an object found missing before the clock was set back is missing from now on', async () => {
  const { sql, context, queues } = pipeline;
  const id = await pipeline.upload(caller, list, options);
  for (const job of ['split-batch', 'run-chunk'] as const) await queues.runNext(context, job);
  await sql`update parts set committed_at = now() + interval '2 hours' where batch_id = ${id}`;
  await sql`
    update batches set object_missing_since = now() + interval '3 hours' where id = ${id}`;
  expect((await noteLost(sql, id, 1))?.lostSeconds).toBeGreaterThanOrEqual(0);
  await sql`
    update batches set object_missing_since = object_missing_since - interval '1 hour'
    where id = ${id}`;
  expect((await noteLost(sql, id, 1))?.lostSeconds).toBeGreaterThanOrEqual(3600);
});

test('a chunk dispatched before the clock was set back is dispatched again when its job is lost', async () => {
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  pipeline.queues.waiting = [];
  await pipeline.sql`
    update chunks set dispatched_at = dispatched_at + interval '2 hours' where batch_id = ${id}`;
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
});

test.each([
  ['its next job', "update batches set job_after = now() + interval '30 minutes'"],
  ['a chunk that failed', "update chunks set run_after = now() + interval '30 minutes'"],
  [
    'a store that was away',
    "update batches set waits_for = 'time', claim_after = now() + interval '30 minutes'",
  ],
])('a pause that began before the clock was set back is over: that of %s', async (_, pause) => {
  const id = await pipeline.upload(caller, list, options);
  if (!pause.includes('job_after')) await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const ofBatch = pause.includes('chunks') ? 'batch_id' : 'id';
  await pipeline.sql.unsafe(`${pause} where ${ofBatch} = '${id}'`);
  await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
  pipeline.queues.waiting = [];
  await pipeline.sql`update chunks set state = 'pending', dispatched_at = null where batch_id = ${id}`;
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
});

test('a worker continues from account to account without further wake-ups', async () => {
  const other = await pipeline.account(1000);
  for (const who of [caller, other]) {
    for (let made = 0; made < 3; made++) await pipeline.upload(who, list, options);
  }
  const [first] = pipeline.queues.waiting;
  pipeline.queues.waiting = [];
  pipeline.queues.mustStop = false;
  await pipeline.queues.run(pipeline.context, must(first, 'a wake-up'));
  pipeline.queues.mustStop = true;
  const [left] = await pipeline.sql`
    select count(*)::int as lists from batches where chunks_total is null and finished_at is null`;
  expect(left).toEqual({ lists: 0 });
});

test('a quote that waits for rows per minute is not woken early', async () => {
  const { sql } = pipeline;
  await sql`update api_keys set rows_per_minute = 1 where id = ${caller.keyId}`;
  const [first, second] = [await heldList(caller), await heldList(caller)];
  for (const id of [first, second]) await ask(caller, id);
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, first)).quote).toMatchObject({ state: 'done' });
  expect((await pipeline.batch(caller, second)).quote).toMatchObject({ state: 'running' });
  await sql`update batches set created_at = created_at - interval '1 hour'`;
  await pipeline.sweep();
  expect(pipeline.queues.waiting).toEqual([]);
  await sql`update rate_buckets set full_at = full_at - interval '1 hour'`;
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, second)).quote).toMatchObject({ state: 'done' });
});

// Last: every later test would change all of these lists.
test('a sweep reads next to nothing of fifty thousand open lists', async () => {
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await multiply(id, 50_000);
  await pipeline.sql`analyze batches`;
  const read = await inTransaction(pipeline.sql, async (tx) => {
    const jobs: BatchJob[] = ['split-batch', 'write-ids', 'finish-batch', 'quote-batch'];
    for (const job of jobs) expect(await listWaiting(tx, job, 0)).toEqual([]);
    const [counted] = await tx<{ rows: number }[]>`
      select pg_stat_get_xact_tuples_returned('batches'::regclass)
        + pg_stat_get_xact_tuples_fetched('batches'::regclass) as rows`;
    return counted?.rows;
  });
  expect(read).toBeLessThan(1000);
});

test('the split of a list that the store does not return reads it once in each attempt', async () => {
  await pipeline.upload(caller, list, options);
  let reads = 0;
  const away = () => {
    reads++;
    throw unavailable('store_unavailable', 'away');
  };
  const { store } = pipeline.context;
  await pipeline.runWhatWaits({ ...store, getStream: away, get: async () => away() });
  expect(reads).toBe(1);
});
