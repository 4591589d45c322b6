import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Woken } from '../../../tests/support/memory-queues.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import { dispatch } from '../batch/dispatch.ts';
import { claimChunk } from './claim-chunk.sql.ts';
import {
  extendLease,
  listWithExpiredLeases,
  reclaimChunks,
  releaseChunk,
} from './commit-part.sql.ts';
import { reserveForChunk } from './reserve.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.get;
  delete pipeline.faults.put;
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  // Leaves no work for the next test.
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const list = 'email\np1@list.example\nnobody@list.example\np2@list.example\n';
const options = { operation: 'people.enrich', fields: 'id' };
const reclaimExpired = async (tx: Sql) => reclaimChunks(tx, await listWithExpiredLeases(tx));

/** A batch of one chunk whose wake-up waits. */
async function dispatched(
  rows = list,
): Promise<{ id: string; woken: Woken; chunkId: number; epoch: number }> {
  const id = await pipeline.upload(caller, rows, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const woken = must(pipeline.queues.waiting[0], 'a chunk that waits');
  const { chunkId, epoch } = woken.payload as { chunkId: number; epoch: number };
  return { id, woken, chunkId, epoch };
}

/** The complete state of a batch: chunks, parts, money and result. */
async function everything(id: string) {
  const { sql } = pipeline;
  return {
    batch: await sql`select * from batches where id = ${id}`,
    chunks: await sql`select * from chunks where batch_id = ${id}`,
    parts: await sql`select * from parts where batch_id = ${id}`,
    reservations: await sql`select * from reservations where batch_id = ${id} order by id`,
    wallet: await pipeline.wallet(caller),
    charges: await pipeline.charges(caller),
    result: await pipeline.results(caller, id),
  };
}

async function charged(id: string): Promise<number> {
  const lines = await pipeline.charges(caller);
  return lines.filter(({ reference }) => reference.startsWith(`batch:${id}:`)).length;
}

describe('a claim', () => {
  test('is granted to one of many workers with the same wake-up', async () => {
    const { sql } = pipeline;
    const { chunkId, epoch } = await dispatched();
    const claims = await Promise.all(
      Array.from({ length: 8 }, () => claimChunk(sql, { chunkId, epoch })),
    );
    const [won, ...others] = claims.filter((claim) => claim !== undefined);
    expect(others).toEqual([]);
    expect(won?.chunk).toMatchObject({ chunkId, epoch: epoch + 1, rows: 3, rowsDone: 0 });
  });

  test('of a duplicate wake-up runs the chunk once', async () => {
    const { id, woken } = await dispatched();
    const { context, queues } = pipeline;
    await Promise.all([queues.run(context, woken), queues.run(context, woken)]);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    expect(await charged(id)).toBe(1);
    const before = await everything(id);
    await queues.run(context, woken);
    expect(await everything(id)).toEqual(before);
  });

  test('under an old epoch is refused, and its lease cannot be extended', async () => {
    const { sql } = pipeline;
    const { chunkId, epoch } = await dispatched();
    const claim = must(await claimChunk(sql, { chunkId, epoch }), 'the claim').chunk;
    expect(await extendLease(sql, claim)).toBe(true);
    expect(await extendLease(sql, { chunkId, epoch })).toBe(false);
    await pipeline.passAnHour();
    await pipeline.sweep();
    expect(await extendLease(sql, claim)).toBe(false);
    expect(await claimChunk(sql, { chunkId, epoch })).toBeUndefined();
  });

  test('reserves and releases nothing once another worker holds the chunk', async () => {
    const { sql } = pipeline;
    const { id, chunkId, epoch } = await dispatched();
    const claim = must(await claimChunk(sql, { chunkId, epoch }), 'the claim').chunk;
    await pipeline.passAnHour();
    await pipeline.sweep();
    const woken = { chunkId, epoch: claim.epoch + 1 };
    const other = must(await claimChunk(sql, woken), 'the claim of another').chunk;
    const input = { batchId: id, chunkId, matches: 2, price: 1 };
    expect(await reserveForChunk(sql, { ...input, epoch: claim.epoch })).toBeUndefined();
    expect(await reserveForChunk(sql, { ...input, epoch: other.epoch })).toMatchObject({
      granted: 2,
    });
    const held = { chunkId, batchId: id, keyId: caller.keyId, epoch: claim.epoch };
    const why = { waits: 'chunk', seconds: 0 } as const;
    await inTransaction(sql, (tx) => releaseChunk(tx, held, why));
    expect(await pipeline.wallet(caller)).toMatchObject({ reserved: 2 });
    await inTransaction(sql, (tx) => releaseChunk(tx, { ...held, epoch: other.epoch }, why));
    expect(await pipeline.wallet(caller)).toMatchObject({ reserved: 0 });
  });

  test('that is still alive is not reclaimed', async () => {
    const { sql } = pipeline;
    const { chunkId, epoch } = await dispatched();
    await claimChunk(sql, { chunkId, epoch });
    expect(await inTransaction(sql, reclaimExpired)).toBe(0);
  });
});

describe('a worker that froze and resumed', () => {
  test.each(['get', 'put'] as const)(
    'before its %s of an object changes nothing after another worker finished',
    async (call) => {
      const { context, queues, faults } = pipeline;
      const { id, woken } = await dispatched();
      const frozen = new Signal();
      const thawed = new Signal();
      faults[call] = () => {
        delete faults[call];
        frozen.raise();
        return thawed.raised;
      };
      const zombie = queues.run(context, woken);
      await frozen.raised;
      // The lease expires, and another worker does the work.
      await pipeline.passAnHour();
      await pipeline.sweep();
      await pipeline.runUntilIdle();
      expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
      const before = await everything(id);
      thawed.raise();
      await zombie;
      await pipeline.runUntilIdle();
      expect(await everything(id)).toEqual(before);
      expect(await charged(id)).toBe(1);
      // It has deleted its own object.
      const keys = (await pipeline.objects()).filter((key) =>
        new RegExp(`${id}/parts/.*\\.csv$`).test(key),
      );
      const recorded = before.parts.map((part) => part.objectKey);
      expect(keys).toEqual(recorded);
      expect(recorded).toHaveLength(1);
    },
  );

  test.each([
    ['with matches', list, 2],
    // Nothing is reserved then: only the epoch separates the two workers.
    ['without a match', list.replaceAll('p', 'no'), 0],
  ])('before the other worker finishes leaves the work to that one, %s', async (_, rows, paid) => {
    const { context, queues, faults } = pipeline;
    const { id, woken } = await dispatched(rows);
    const frozen = new Signal();
    const thawed = new Signal();
    faults.put = () => {
      delete faults.put;
      frozen.raise();
      return thawed.raised;
    };
    const zombie = queues.run(context, woken);
    await frozen.raised;
    await pipeline.passAnHour();
    await pipeline.sweep();
    const second = must(queues.waiting[0], 'the chunk again');
    const secondAtWrite = new Signal();
    const go = new Signal();
    faults.put = () => {
      secondAtWrite.raise();
      return go.raised;
    };
    const worker = queues.run(context, second);
    await secondAtWrite.raised;
    // The zombie wakes up while the second worker holds lease and reservation.
    thawed.raise();
    await zombie;
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'running',
      rows: { processed: 0 },
      credits: { charged: 0, reserved: paid },
    });
    go.raise();
    await worker;
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      credits: { charged: paid, reserved: 0 },
    });
    expect(await charged(id)).toBe(paid === 0 ? 0 : 1);
  });

  test('holds its locks for less time than its lease', async () => {
    const [setting] = await pipeline.context.sql<{ idle: string }[]>`
      select current_setting('idle_in_transaction_session_timeout') as idle`;
    expect(setting).toEqual({ idle: '10s' });
  });

  test('reserves nothing when its lease expires while it waits for the lock', async () => {
    const { sql } = pipeline;
    const { id, chunkId, epoch } = await dispatched();
    const claim = must(await claimChunk(sql, { chunkId, epoch }), 'the claim').chunk;
    await pipeline.passAnHour();
    const input = { batchId: id, chunkId, epoch: claim.epoch, matches: 2, price: 1 };
    let reserving: Promise<unknown> = Promise.resolve();
    await inTransaction(sql, async (tx) => {
      await tx`select id from batches where id = ${id} for update`;
      reserving = reserveForChunk(sql, input);
      await pipeline.untilBlocked(1);
      expect(await reclaimExpired(tx)).toBe(1);
    });
    expect(await reserving).toBeUndefined();
    expect(await pipeline.wallet(caller)).toMatchObject({ reserved: 0 });
  });
});

/** A batch of a new account, with a reservation under an expired lease. */
async function abandoned(): Promise<string> {
  const { sql } = pipeline;
  const owner = await pipeline.account(10);
  const id = await pipeline.upload(owner, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const woken = must(
    pipeline.queues.waiting.find(({ name }) => name === 'run-chunk'),
    'a chunk that waits',
  );
  pipeline.queues.waiting = pipeline.queues.waiting.filter((other) => other !== woken);
  const { chunkId, epoch } = must(
    await claimChunk(sql, woken.payload as { chunkId: number; epoch: number }),
    'the claim',
  ).chunk;
  const input = { batchId: id, chunkId, epoch, matches: 2, price: 1 };
  await reserveForChunk(sql, input);
  return owner.accountId;
}

describe('an expired lease', () => {
  test('is reclaimed with its reservation, under a new epoch, and the failure counts', async () => {
    const { sql } = pipeline;
    const { id, chunkId, epoch } = await dispatched();
    const claim = must(await claimChunk(sql, { chunkId, epoch }), 'the claim').chunk;
    const before = must(await pipeline.wallet(caller), 'wallet');
    const input = { batchId: id, chunkId, epoch: claim.epoch, matches: 2, price: 1 };
    const reserved = await reserveForChunk(sql, input);
    expect(reserved).toMatchObject({ granted: 2, limitedBy: null });
    expect(await pipeline.wallet(caller)).toEqual({ ...before, reserved: 2 });
    await expect(reserveForChunk(sql, input)).rejects.toThrow('reservations_open');
    expect(await pipeline.wallet(caller)).toEqual({ ...before, reserved: 2 });

    await pipeline.passAnHour();
    expect(await inTransaction(sql, reclaimExpired)).toBe(1);
    expect(await pipeline.wallet(caller)).toEqual(before);
    const [chunk] = await sql`select state, epoch, failures from chunks where id = ${chunkId}`;
    expect(chunk).toEqual({ state: 'pending', epoch: claim.epoch + 1, failures: 1 });
    const reservations = await sql`select state from reservations where batch_id = ${id}`;
    expect([...reservations]).toEqual([{ state: 'voided' }]);
    expect(await inTransaction(sql, reclaimExpired)).toBe(0);
  });

  test('releases credits to wallets in the order of their ids, the order in which single calls lock them', async () => {
    const { sql } = pipeline;
    const owners: string[] = [];
    for (let owner = 0; owner < 6; owner++) owners.push(await abandoned());
    await pipeline.passAnHour();
    const [first = '', ...others] = owners.toSorted();
    let reclaiming: Promise<unknown> = Promise.resolve();
    await inTransaction(sql, async (tx) => {
      await tx`select from wallets where account_id = ${first} for update`;
      reclaiming = inTransaction(sql, reclaimExpired);
      await pipeline.untilBlocked(1);
      // It waits for the first wallet and holds none of the others, so there is no deadlock.
      const free = await sql`
        select from wallets where account_id = any(${others}::uuid[]) for update skip locked`;
      expect(free).toHaveLength(others.length);
    });
    expect(await reclaiming).toBe(owners.length);
  });

  test('is reclaimed alone: another chunk of its batch stays with its holder', async () => {
    const { sql } = pipeline;
    const { id } = await dispatched(`${list}${list.slice('email\n'.length)}`);
    const chunks = await sql<{ chunkId: number; epoch: number }[]>`
      select id as chunk_id, epoch from chunks where batch_id = ${id} order by number`;
    for (const chunk of chunks) {
      must(await claimChunk(sql, chunk), 'the claim');
      // The second one follows the claim of the first.
      await dispatch(pipeline.context);
    }
    await sql`
      update chunks set lease_until = now() - interval '1 second'
      where batch_id = ${id} and number = 1`;
    expect(await inTransaction(sql, reclaimExpired)).toBe(1);
    const after = await sql`select state from chunks where batch_id = ${id} order by number`;
    expect([...after]).toEqual([{ state: 'pending' }, { state: 'leased' }]);
  });

  test('granted before the clock was set back is reclaimed at once', async () => {
    const { sql } = pipeline;
    const { id, chunkId, epoch } = await dispatched();
    await claimChunk(sql, { chunkId, epoch });
    await sql`update chunks set lease_until = lease_until + interval '2 hours' where id = ${chunkId}`;
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('is reclaimed once by many concurrent sweeps', async () => {
    const { sql } = pipeline;
    const { chunkId, epoch } = await dispatched();
    await claimChunk(sql, { chunkId, epoch });
    await pipeline.passAnHour();
    const taken = await Promise.all(
      Array.from({ length: 4 }, () => inTransaction(sql, reclaimExpired)),
    );
    expect(taken.reduce((sum, chunks) => sum + chunks, 0)).toBe(1);
  });
});

describe('a wake-up that was lost', () => {
  test('of a chunk is found by the sweep', async () => {
    const { id } = await dispatched();
    pipeline.queues.waiting = [];
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('is found within seconds when the queue is empty, and left alone while it is long', async () => {
    const { id, woken, chunkId } = await dispatched();
    const epochAfterSweep = async () => {
      await pipeline.sweep();
      const [chunk] = await pipeline.sql<{ epoch: number }[]>`
        select epoch from chunks where id = ${chunkId}`;
      return chunk?.epoch;
    };
    await pipeline.sql`
      update chunks set dispatched_at = dispatched_at - interval '6 seconds' where id = ${chunkId}`;
    expect(await epochAfterSweep()).toBe(0);
    pipeline.queues.waiting = pipeline.queues.waiting.filter((other) => other !== woken);
    expect(await epochAfterSweep()).toBe(1);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('of a split is found by the sweep', async () => {
    const id = await pipeline.upload(caller, list, options);
    pipeline.queues.waiting = [];
    await pipeline.sql`
      update batches set created_at = created_at - interval '1 hour' where id = ${id}`;
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });
});

describe('a split', () => {
  test('that runs twice, in sequence or concurrently, cuts the list once', async () => {
    const { context, queues } = pipeline;
    const id = await pipeline.upload(caller, list, options);
    const woken = must(queues.waiting[0], 'the split');
    await Promise.all([queues.run(context, woken), queues.run(context, woken)]);
    await queues.run(context, woken);
    const chunks = await pipeline.sql`select number, rows from chunks where batch_id = ${id}`;
    expect([...chunks]).toEqual([{ number: 1, rows: 3 }]);
    await pipeline.runUntilIdle();
    await queues.run(context, woken);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      rows: { total: 3, processed: 3 },
    });
    expect(await charged(id)).toBe(1);
  });
});
