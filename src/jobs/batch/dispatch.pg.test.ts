import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { inTransaction } from '../../core/db/client.ts';
import { claimChunk, claimNextChunk } from '../chunk/claim-chunk.sql.ts';
import { dispatchChunks } from './dispatch.sql.ts';
import { dispatch } from './dispatch.ts';

const PER_ACCOUNT = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1', ACCOUNT_CHUNKS_MAX: String(PER_ACCOUNT) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  pipeline.queues.mayGoOn = false;
  await pipeline.runUntilIdle();
  expect(pipeline.queues.waiting).toEqual([]);
});

/** A batch of `chunks` chunks, split and not yet dispatched. */
async function batchOf(caller: Caller, chunks: number): Promise<string> {
  const rows = Array.from({ length: chunks }, (_, i) => `a${i}@list.example\n`).join('');
  const id = await pipeline.upload(caller, `email\n${rows}`, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.sql`
    update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
  pipeline.queues.waiting = [];
  return id;
}

/** The chunks that the next dispatch wakes, in order, as `<label>:<chunk number>`. */
async function dispatched(labels: Record<string, string>): Promise<string[]> {
  await dispatch(pipeline.context);
  const woken: string[] = [];
  for (const { payload } of pipeline.queues.waiting) {
    const { chunkId } = payload as { chunkId: number };
    const [chunk] = await pipeline.sql<{ batchId: string; number: number }[]>`
      select batch_id, number from chunks where id = ${chunkId}`;
    woken.push(`${labels[chunk?.batchId ?? '']}:${chunk?.number}`);
  }
  return woken;
}

describe('dispatch', () => {
  test('keeps a maximum of an account’s chunks in flight, its oldest batch first', async () => {
    const caller = await pipeline.account(1000);
    const first = await batchOf(caller, 4);
    const second = await batchOf(caller, 2);
    const labels = { [first]: 'first', [second]: 'second' };
    expect(await dispatched(labels)).toEqual(['first:1', 'first:2', 'first:3']);
    // A leased chunk counts the same as a waiting one.
    const [one, two, three] = pipeline.queues.waiting;
    if (one === undefined || two === undefined || three === undefined) {
      throw new Error('nothing waits');
    }
    await claimChunk(pipeline.sql, two.payload as { chunkId: number; epoch: number });
    await dispatch(pipeline.context);
    expect(pipeline.queues.waiting).toHaveLength(PER_ACCOUNT);
    await pipeline.queues.run(pipeline.context, one);
    expect(await dispatched(labels)).toEqual(['first:2', 'first:3', 'first:4']);
    await pipeline.queues.run(pipeline.context, three);
    expect(await dispatched(labels)).toEqual(['first:2', 'first:4', 'second:1']);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('serves the account with the fewest chunks in flight first', async () => {
    const big = await pipeline.account(1000);
    const small = await pipeline.account(1000);
    const large = await batchOf(big, 10);
    await dispatch(pipeline.context);
    const [running] = pipeline.queues.waiting;
    if (running === undefined) throw new Error('nothing waits');
    await claimChunk(pipeline.sql, running.payload as { chunkId: number; epoch: number });
    await pipeline.sql`
      update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
    pipeline.queues.waiting = [];
    const little = await batchOf(small, 2);
    // The large batch has one in flight, so the small one's first chunk comes before its second.
    const woken = await dispatched({ [large]: 'large', [little]: 'little' });
    expect(woken[0]).toBe('little:1');
    expect(woken.slice(1, 3).sort()).toEqual(['large:2', 'little:2']);
    expect(woken.slice(3)).toEqual(['large:3']);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('puts a new account before all but the first chunks of others', async () => {
    const labels: Record<string, string> = {};
    for (const [label, chunks] of Object.entries({ one: 10, other: 10, last: 1 })) {
      const rows = Array.from({ length: chunks }, (_, i) => `b${i}@list.example\n`).join('');
      const list = `email\n${rows}`;
      const caller = await pipeline.account(1000);
      labels[await pipeline.upload(caller, list, { operation: 'people.enrich' })] = label;
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
    }
    const woken = await dispatched(labels);
    expect(woken.slice(0, 3)).toEqual(['one:1', 'other:1', 'last:1']);
    expect(woken).toHaveLength(2 * PER_ACCOUNT + 1);
  });

  test('by many concurrent processes gives each chunk to one of them', async () => {
    const caller = await pipeline.account(1000);
    await batchOf(caller, 10);
    const chosen = await Promise.all(
      Array.from({ length: 6 }, () =>
        inTransaction(pipeline.sql, (tx) =>
          dispatchChunks(tx, { perAccount: PER_ACCOUNT, most: 50 }),
        ),
      ),
    );
    const ids = chosen.flat().map(({ chunkId }) => chunkId);
    expect(ids).toHaveLength(PER_ACCOUNT);
    expect(new Set(ids).size).toBe(PER_ACCOUNT);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('wakes no worker while enough wake-ups wait, which find the work too', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 2);
    const stale = Array.from({ length: 50 }, (_, chunk) => ({
      id: `${-chunk}-1`,
      payload: { chunkId: -chunk, epoch: 1 },
    }));
    await pipeline.queues.wake('run-chunk', stale);
    const { length: before } = pipeline.queues.history;
    await dispatch(pipeline.context);
    expect(pipeline.queues.history).toHaveLength(before);
    pipeline.queues.mayGoOn = true;
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('skips a paused batch and does not count it against its account', async () => {
    const caller = await pipeline.account(1000);
    const paused = await batchOf(caller, 3);
    await dispatch(pipeline.context);
    await pipeline.sql`update batches set state = 'paused', reason = 'user' where id = ${paused}`;
    await pipeline.runUntilIdle();
    const other = await batchOf(caller, 1);
    expect(await dispatched({ [other]: 'other' })).toEqual(['other:1']);
  });
});

describe('a worker that is done with a chunk', () => {
  /** Claims next chunks until there is none; returns them as `<label>:<chunk number>`. */
  async function claimAll(labels: Record<string, string>, times = 100): Promise<string[]> {
    const claimed: string[] = [];
    for (let claims = 0; claims < times; claims++) {
      const next = await claimNextChunk(pipeline.sql, { perAccount: PER_ACCOUNT, after: null });
      if (next === undefined) break;
      claimed.push(`${labels[next.batch.id]}:${next.chunk.number}`);
    }
    return claimed;
  }

  /** Makes leased chunks wait again. */
  async function giveBack(): Promise<void> {
    await pipeline.passAnHour();
    await pipeline.sweep();
  }

  test('claims the next one, with or without a wake-up', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 10);
    await dispatch(pipeline.context);
    pipeline.queues.mayGoOn = true;
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    // The late wake-ups do nothing.
    expect(pipeline.queues.waiting).toHaveLength(PER_ACCOUNT - 1);
    await pipeline.runUntilIdle();
    const chunks = await pipeline.sql`
      select from chunks where batch_id = ${id} and epoch = 1 and parts = 1`;
    expect(chunks).toHaveLength(10);
  });

  test('serves the account with the fewest running chunks, and respects each account’s share', async () => {
    const big = await pipeline.account(1000);
    const large = await batchOf(big, 5);
    const small = await pipeline.account(1000);
    const labels: Record<string, string> = { [large]: 'large' };
    expect(await claimAll(labels, 1)).toEqual(['large:1']);
    labels[await batchOf(small, 2)] = 'little';
    const claimed = await claimAll(labels);
    expect(claimed[0]).toBe('little:1');
    expect(claimed.slice(1, 3).sort()).toEqual(['large:2', 'little:2']);
    expect(claimed.slice(3)).toEqual(['large:3']);
    await giveBack();
  });

  test('serves accounts round-robin, whatever the number and age of their lists', async () => {
    const labels: Record<string, string> = {};
    for (const label of ['one', 'two', 'many']) {
      const caller = await pipeline.account(1000);
      const lists = label === 'many' ? [1, 1, 1, 1] : [4];
      for (const chunks of lists) labels[await batchOf(caller, chunks)] = label;
    }
    const order: string[] = [];
    pipeline.faults.put = async (key) => void order.push(labels[key.split('/')[1] ?? ''] ?? '');
    pipeline.queues.mayGoOn = true;
    await dispatch(pipeline.context);
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    delete pipeline.faults.put;
    // Each part has a person index as well.
    const parts = order.filter((_, put) => put % 2 === 0);
    for (let round = 0; round < 4; round++) {
      const inRound = parts.slice(round * 3, round * 3 + 3);
      expect(inRound.sort()).toEqual(['many', 'one', 'two']);
    }
    expect(parts).toHaveLength(12);
  });

  test('gets a different chunk from any concurrent claim', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 10);
    const asking = 5;
    const { sql } = pipeline.context;
    let claiming: ReturnType<typeof claimNextChunk>[] = [];
    await inTransaction(pipeline.sql, async (tx) => {
      await tx`select from chunks where batch_id = ${id} and number = 1 for update`;
      claiming = Array.from({ length: asking }, () =>
        claimNextChunk(sql, { perAccount: PER_ACCOUNT, after: null }),
      );
      await pipeline.untilBlocked(asking);
    });
    const claims = await Promise.all(claiming);
    const numbers = claims.flatMap((claimed) =>
      claimed === undefined ? [] : claimed.chunk.number,
    );
    expect(numbers.sort()).toEqual([1, 2, 3]);
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'running' });
    await giveBack();
  });

  test('claims none of a paused batch, or of one in which another chunk must come first', async () => {
    const caller = await pipeline.account(1000);
    const paused = await batchOf(caller, 2);
    await pipeline.sql`update batches set state = 'paused', reason = 'user' where id = ${paused}`;
    const inOrder = await batchOf(caller, 2);
    await pipeline.sql`update batches set dedupe = true where id = ${inOrder}`;
    expect(await claimAll({ [inOrder]: 'in order' })).toEqual(['in order:1']);
    await giveBack();
  });

  test('that is shutting down wakes others for the rest', async () => {
    const caller = await pipeline.account(1000);
    await batchOf(caller, 10);
    await dispatch(pipeline.context);
    const [first] = pipeline.queues.waiting;
    if (first === undefined) throw new Error('nothing waits');
    pipeline.queues.waiting = [first];
    await pipeline.queues.run(pipeline.context, first);
    expect(pipeline.queues.waiting).toHaveLength(1);
    await giveBack();
  });
});
