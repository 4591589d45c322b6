import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../../tests/support/pipeline.ts';
import { inTransaction } from '../../../core/db/client.ts';
import { dispatch } from './dispatch.ts';
import { claimChunk, dispatchChunks } from './queries.ts';

const PER_ACCOUNT = 3;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1', ACCOUNT_CHUNKS_MAX: String(PER_ACCOUNT) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  await pipeline.runUntilIdle();
  expect(pipeline.queues.waiting).toEqual([]);
});

/** A batch of so many chunks, split and not yet dispatched. */
async function batchOf(caller: Caller, chunks: number): Promise<string> {
  const rows = Array.from({ length: chunks }, (_, i) => `a${i}@list.example\n`).join('');
  const id = await pipeline.upload(caller, `email\n${rows}`, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.sql`
    update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
  pipeline.queues.waiting = [];
  return id;
}

/** What the next dispatch wakes, in order, as `<label>:<chunk number>`. */
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
  test('keeps at most so many chunks of an account in flight, its oldest batch first', async () => {
    const caller = await pipeline.account(0);
    const first = await batchOf(caller, 4);
    const second = await batchOf(caller, 2);
    const labels = { [first]: 'first', [second]: 'second' };
    expect(await dispatched(labels)).toEqual(['first:1', 'first:2', 'first:3']);
    // Room is filled when half of it is free; a chunk under lease takes as much as one that waits.
    const [one, two, three] = pipeline.queues.waiting;
    if (one === undefined || two === undefined || three === undefined) {
      throw new Error('nothing waits');
    }
    await claimChunk(pipeline.sql, two.payload as { chunkId: number; epoch: number });
    await dispatch(pipeline.context);
    expect(pipeline.queues.waiting).toHaveLength(PER_ACCOUNT);
    await pipeline.queues.run(pipeline.context, one);
    expect(await dispatched(labels)).toEqual(['first:2', 'first:3']);
    await pipeline.queues.run(pipeline.context, three);
    expect(await dispatched(labels)).toEqual(['first:2', 'first:4', 'second:1']);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('serves the account with the fewest chunks in flight first', async () => {
    const big = await pipeline.account(0);
    const small = await pipeline.account(0);
    const large = await batchOf(big, 10);
    await dispatch(pipeline.context);
    const [running] = pipeline.queues.waiting;
    if (running === undefined) throw new Error('nothing waits');
    await claimChunk(pipeline.sql, running.payload as { chunkId: number; epoch: number });
    await pipeline.sql`
      update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
    pipeline.queues.waiting = [];
    const little = await batchOf(small, 2);
    // The large batch has one in flight, so the small one's first comes before its second.
    const woken = await dispatched({ [large]: 'large', [little]: 'little' });
    expect(woken[0]).toBe('little:1');
    expect(woken.slice(1, 3).sort()).toEqual(['large:2', 'little:2']);
    expect(woken.slice(3)).toEqual(['large:3']);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('puts whoever comes last before all but the first chunks of others', async () => {
    const labels: Record<string, string> = {};
    for (const [label, chunks] of Object.entries({ one: 10, other: 10, last: 1 })) {
      const rows = Array.from({ length: chunks }, (_, i) => `b${i}@list.example\n`).join('');
      const list = `email\n${rows}`;
      const caller = await pipeline.account(0);
      labels[await pipeline.upload(caller, list, { operation: 'people.enrich' })] = label;
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
    }
    const woken = await dispatched(labels);
    expect(woken.slice(0, 3)).toEqual(['one:1', 'other:1', 'last:1']);
    expect(woken).toHaveLength(2 * PER_ACCOUNT + 1);
  });

  test('of many processes at once gives each chunk to one of them', async () => {
    const caller = await pipeline.account(0);
    await batchOf(caller, 10);
    const chosen = await Promise.all(
      Array.from({ length: 6 }, () =>
        inTransaction(pipeline.sql, (tx) => dispatchChunks(tx, PER_ACCOUNT)),
      ),
    );
    const ids = chosen.flat().map(({ chunkId }) => chunkId);
    expect(ids).toHaveLength(PER_ACCOUNT);
    expect(new Set(ids).size).toBe(PER_ACCOUNT);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('leaves a batch alone that is paused, and does not count it against its account', async () => {
    const caller = await pipeline.account(0);
    const paused = await batchOf(caller, 3);
    await dispatch(pipeline.context);
    await pipeline.sql`update batches set state = 'paused', reason = 'user' where id = ${paused}`;
    await pipeline.runUntilIdle();
    const other = await batchOf(caller, 1);
    expect(await dispatched({ [other]: 'other' })).toEqual(['other:1']);
  });
});
