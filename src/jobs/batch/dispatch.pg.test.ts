import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { inTransaction } from '../../core/db/client.ts';
import { isUnavailable } from '../../core/db/pg-errors.ts';
import { claimChunk } from '../chunk/claim-chunk.sql.ts';
import type { JobPayloads } from '../queue/job-names.ts';
import { dispatchChunks } from './dispatch.sql.ts';
import { dispatch } from './dispatch.ts';

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

/** A batch of `chunks` chunks, split, started and without a chunk in flight. */
async function batchOf(caller: Caller, chunks: number): Promise<string> {
  const id = await queuedBatch(caller, chunks);
  await pipeline.sql`update batches set state = 'running', started_at = now() where id = ${id}`;
  return id;
}

/** The same before its first claim. */
async function queuedBatch(caller: Caller, chunks: number): Promise<string> {
  const rows = Array.from({ length: chunks }, (_, i) => `a${i}@list.example\n`).join('');
  const id = await pipeline.upload(caller, `email\n${rows}`, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.sql`
    update chunks set state = 'pending', dispatched_at = null where state = 'dispatched'`;
  pipeline.queues.waiting = [];
  pipeline.queues.history.length = 0;
  return id;
}

type ChunkJob = JobPayloads['run-chunk'];

/** The jobs of chunks that wait after a dispatch, in order, as `<label>:<chunk number>`. */
async function dispatched(labels: Record<string, string>): Promise<string[]> {
  await dispatch(pipeline.context);
  return pipeline.queues.waiting.map(({ payload }) => {
    const { batchId, chunk } = payload as ChunkJob;
    return `${labels[batchId]}:${chunk}`;
  });
}

/** The jobs that the chunks of a batch have had, in order. */
function jobsOf(batchId: string) {
  return pipeline.queues.history.filter(
    ({ name, payload }) => name === 'run-chunk' && (payload as ChunkJob).batchId === batchId,
  );
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
    await claimChunk(pipeline.sql, two.payload as ChunkJob);
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
    await claimChunk(pipeline.sql, running.payload as ChunkJob);
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

  test('lets no more chunks wait than could be reordered for the next account, or than workers have leased', async () => {
    const labels: Record<string, string> = {};
    const ids: string[] = [];
    for (const label of ['one', 'other', 'last', 'later', 'latest']) {
      const id = await batchOf(await pipeline.account(1000), label === 'last' ? 1 : 10);
      labels[id] = label;
      ids.push(id);
    }
    const [, , last, ...later] = ids;
    const lateIds = [last ?? '', ...later];
    await pipeline.sql`
      update batches set state = 'paused', reason = 'user' where id = any(${lateIds})`;
    const before = await dispatched(labels);
    expect(before.toSorted()).toEqual(['one:1', 'one:2', 'other:1', 'other:2']);
    const [running] = pipeline.queues.waiting.splice(0, 1);
    await claimChunk(pipeline.sql, running?.payload as ChunkJob);
    const resume = (batches: string[]) =>
      pipeline.sql`update batches set state = 'running', reason = null where id = any(${batches})`;
    await resume([last ?? '']);
    expect(await dispatched(labels)).toEqual([...before.slice(1), 'last:1']);
    await resume(later);
    // Workers took all four: of 5 leased chunks, 5 more may wait.
    for (const { payload } of pipeline.queues.waiting.splice(0)) {
      await claimChunk(pipeline.sql, payload as ChunkJob);
    }
    expect(await dispatched(labels)).toHaveLength(5);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('gives a batch that never ran one chunk in flight', async () => {
    const caller = await pipeline.account(1000);
    const id = await queuedBatch(caller, 3);
    expect(await dispatched({ [id]: 'new' })).toEqual(['new:1']);
    expect(await dispatched({ [id]: 'new' })).toEqual(['new:1']);
    const [first] = pipeline.queues.waiting.splice(0);
    await claimChunk(pipeline.sql, first?.payload as ChunkJob);
    expect(await dispatched({ [id]: 'new' })).toEqual(['new:2', 'new:3']);
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('shortens the first part of a batch, and every part while accounts wait for their turn', async () => {
    const rowsOfPart = async (id: string) => {
      const [chunk] = await pipeline.sql`
        select part_rows_max from chunks where batch_id = ${id} and state = 'dispatched'`;
      return chunk?.partRowsMax;
    };
    /** As if each chunk had as many rows as by default: only the choice is tested. */
    const lengthen = (id: string) =>
      pipeline.sql`update chunks set rows = 10000 where batch_id = ${id}`;
    const fresh = await queuedBatch(await pipeline.account(1000), 1);
    await lengthen(fresh);
    const alone = await batchOf(await pipeline.account(1000), 1);
    await lengthen(alone);
    await dispatch(pipeline.context);
    expect(await rowsOfPart(fresh)).toBe(5000);
    expect(await rowsOfPart(alone)).toBeNull();
    const crowd: string[] = [];
    for (let account = 0; account < 3; account++) {
      crowd.push(await batchOf(await pipeline.account(1000), 1));
      await lengthen(crowd.at(-1) ?? '');
    }
    await dispatch(pipeline.context);
    const chosen = await Promise.all(crowd.map(rowsOfPart));
    expect(chosen.filter((rows) => rows === 5000)).toHaveLength(2);
    // The third of them waits for its turn.
    expect(chosen.filter((rows) => rows === undefined)).toHaveLength(1);
    const batches = [fresh, alone, ...crowd];
    await pipeline.sql`
      update chunks set rows = 1, part_rows_max = null where batch_id = any(${batches})`;
  });

  test.each([
    ['shortens each part of a list that is matched by names', 'running', [500, 500]],
    ['but not one that is cancelled', 'cancelling', [1000, null]],
  ])('%s', async (_, state, wanted) => {
    const id = await batchOf(await pipeline.account(1000), 2);
    await pipeline.sql`update batches set match = 'likely', state = ${state} where id = ${id}`;
    await pipeline.sql`update chunks set rows = 10000 where batch_id = ${id}`;
    // What a part that has ended leaves to the next one.
    await pipeline.sql`update chunks set part_rows_max = 1000 where batch_id = ${id} and number > 1`;
    await dispatch(pipeline.context);
    const chunks = await pipeline.sql`
      select part_rows_max from chunks where batch_id = ${id} and state = 'dispatched'
      order by part_rows_max`;
    expect(chunks.map(({ partRowsMax }) => partRowsMax)).toEqual(wanted);
    await pipeline.sql`update chunks set rows = 1, part_rows_max = null where batch_id = ${id}`;
  });

  test('by many concurrent processes gives each chunk to one of them', async () => {
    const caller = await pipeline.account(1000);
    await batchOf(caller, 10);
    const chosen = await Promise.all(
      Array.from({ length: 6 }, () =>
        inTransaction(pipeline.sql, (tx) =>
          dispatchChunks(tx, { perAccount: PER_ACCOUNT, waitingMax: 50 }),
        ),
      ),
    );
    const ids = chosen.flat().map(({ chunkId }) => chunkId);
    expect(ids).toHaveLength(PER_ACCOUNT);
    expect(new Set(ids).size).toBe(PER_ACCOUNT);
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('adds no more jobs than the maximum, however many processes dispatch at once', async () => {
    const lists: [Caller, string][] = [];
    for (let account = 0; account < 18; account++) {
      const caller = await pipeline.account(1000);
      lists.push([caller, await batchOf(caller, PER_ACCOUNT)]);
    }
    await Promise.all(Array.from({ length: 4 }, () => dispatch(pipeline.context)));
    expect(pipeline.queues.waiting).toHaveLength(4);
    await pipeline.runUntilIdle();
    for (const [caller, id] of lists)
      expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('adds no job while the maximum waits, and goes on as they end', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 2);
    const stale = Array.from({ length: 50 }, (_, chunk) => ({
      id: `${id}-${-chunk}-1`,
      payload: { batchId: id, chunk: -chunk, attempt: 1, chunkId: -chunk, epoch: 1 },
    }));
    await pipeline.queues.wake('run-chunk', stale);
    const { length: before } = pipeline.queues.history;
    await dispatch(pipeline.context);
    expect(pipeline.queues.history).toHaveLength(before);
    await pipeline.runUntilIdle();
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

describe('the job of a chunk', () => {
  test('is its own: a list of n chunks is n jobs, named by batch and number', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 10);
    await dispatch(pipeline.context);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    const jobs = jobsOf(id);
    expect(jobs.map(({ payload }) => payload)).toMatchObject(
      Array.from({ length: 10 }, (_, n) => ({ batchId: id, chunk: n + 1, attempt: 1 })),
    );
    for (const [n, job] of jobs.entries()) expect(job.id).toContain(`${id}-${n + 1}-`);
  });

  test('is followed by those of other accounts, round-robin, whatever the number and age of their lists', async () => {
    const labels: Record<string, string> = {};
    for (const label of ['one', 'two', 'many']) {
      const caller = await pipeline.account(1000);
      const lists = label === 'many' ? [1, 1, 1, 1] : [4];
      for (const chunks of lists) labels[await batchOf(caller, chunks)] = label;
    }
    const order: string[] = [];
    pipeline.faults.put = async (key) => void order.push(labels[key.split('/')[1] ?? ''] ?? '');
    await dispatch(pipeline.context);
    await pipeline.runUntilIdle();
    delete pipeline.faults.put;
    // Each part has a person index as well.
    const parts = order.filter((_, put) => put % 2 === 0);
    const served = { one: 0, two: 0, many: 0 };
    for (const label of parts) {
      served[label as keyof typeof served]++;
      // A chunk waits for the worker next to one of each account, so that an account may be a turn ahead.
      const counts = Object.values(served);
      expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2);
    }
    expect(served).toEqual({ one: 4, two: 4, many: 4 });
    expect(parts).toHaveLength(12);
  });

  test('with room for one more goes to each account in turn, not to the first of them again', async () => {
    const labels: Record<string, string> = {};
    const accounts: string[] = [];
    for (let account = 0; account < 3; account++) {
      const caller = await pipeline.account(1000);
      accounts.push(caller.accountId);
      labels[await batchOf(caller, 2)] = caller.accountId;
    }
    const order: string[] = [];
    let before: number | null = null;
    for (let turn = 0; turn < 6; turn++) {
      const [chosen] = await inTransaction(pipeline.sql, (tx) =>
        dispatchChunks(tx, { perAccount: PER_ACCOUNT, waitingMax: turn === 0 ? 1 : 2 }),
      );
      // The one before it waits again, so that only the account of this one has a chunk in flight.
      await pipeline.sql`
        update chunks set state = 'pending', dispatched_at = null, run_after = now() + interval '1 minute'
        where id = ${before}`;
      before = chosen?.chunkId ?? null;
      order.push(labels[chosen?.batchId ?? ''] ?? '');
    }
    expect(order.slice(0, 3)).toEqual(accounts.toSorted());
    expect(order.slice(3)).toEqual(accounts.toSorted());
    await pipeline.passAnHour();
    await pipeline.sweep();
  });

  test('of a list with dedupe comes when the chunk before it is done', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 3);
    await pipeline.sql`update batches set dedupe = true where id = ${id}`;
    expect(await dispatched({ [id]: 'in order' })).toEqual(['in order:1']);
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    expect(await dispatched({ [id]: 'in order' })).toEqual(['in order:2']);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('fails with its chunk, which then gets another job', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 1);
    pipeline.faults.put = async () => {
      delete pipeline.faults.put;
      throw new Error('the part is not written');
    };
    await dispatch(pipeline.context);
    const running = pipeline.queues.runNext(pipeline.context, 'run-chunk');
    await expect(running).rejects.toThrow('object store');
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    expect(new Set(jobsOf(id).map((job) => job.id)).size).toBe(2);
  });

  test('says which attempt it is, after a worker that died', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 1);
    await dispatch(pipeline.context);
    const [first] = pipeline.queues.waiting.splice(0);
    await claimChunk(pipeline.sql, first?.payload as ChunkJob);
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    const attempts = jobsOf(id).map(({ payload }) => (payload as ChunkJob).attempt);
    expect(attempts).toEqual([1, 2]);
  });

  test('that ended without a claim is replaced by the sweep', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 1);
    await dispatch(pipeline.context);
    // A queue that came back empty.
    pipeline.queues.waiting = [];
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    expect(jobsOf(id)).toHaveLength(2);
  });

  test('stays the only one while it waits, however long that takes', async () => {
    const caller = await pipeline.account(1000);
    const id = await batchOf(caller, 1);
    await dispatch(pipeline.context);
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    expect(jobsOf(id)).toHaveLength(1);
  });
});

test('of a process that froze, one dispatch at most keeps others waiting', async () => {
  const holds = new Signal();
  const resumes = new Signal();
  const frozen = inTransaction(pipeline.sql, async (tx) => {
    await dispatchChunks(tx, { perAccount: PER_ACCOUNT, waitingMax: 1 });
    holds.raise();
    await resumes.raised;
  });
  await holds.raised;
  // As its further dispatches do, which would hold the lock after the first one.
  await expect(dispatch(pipeline.context)).rejects.toSatisfy(isUnavailable);
  resumes.raise();
  await frozen;
  await dispatch(pipeline.context);
});
