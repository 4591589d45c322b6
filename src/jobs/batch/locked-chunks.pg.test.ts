/**
 * A cancellation locks all chunks of its list, in the order in which it finds them: what takes others in another order waits for
 * none.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { inTransaction } from '../../core/db/client.ts';
import { type ChunkWakeUp, takeBack } from './dispatch.sql.ts';
import { dispatch } from './dispatch.ts';

let pipeline: Pipeline;
/** A running list of three chunks. */
let id: string;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  const caller = await pipeline.account(10);
  const list = 'email\na@list.example\nb@list.example\nc@list.example\n';
  id = await pipeline.upload(caller, list, { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.sql`update batches set state = 'running', started_at = now() where id = ${id}`;
});

/** Runs `work` while a transaction has locked the second chunk, and then wants the first; returns the states of all. */
async function statesAfter(work: () => Promise<void>): Promise<string[]> {
  const lock = (number: number) =>
    pipeline.sql`select from chunks where batch_id = ${id} and number = ${number} for update`;
  let working: Promise<void> = Promise.resolve();
  await inTransaction(pipeline.sql, async (tx) => {
    await tx`${lock(2)}`;
    working = work();
    await Promise.race([working, pipeline.untilBlocked(1)]);
    await tx`${lock(1)}`;
  });
  await working;
  const chunks = await pipeline.sql<{ state: string }[]>`
    select state from chunks where batch_id = ${id} order by number`;
  return chunks.map(({ state }) => state);
}

test('a dispatch', async () => {
  await pipeline.sql`update chunks set state = 'pending', dispatched_at = null where batch_id = ${id}`;
  const states = await statesAfter(() => dispatch(pipeline.context));
  expect(states).toEqual(['dispatched', 'pending', 'dispatched']);
});

test('the sweep of jobs that were lost', async () => {
  const chunks = await pipeline.sql<ChunkWakeUp[]>`
    update chunks set state = 'dispatched', dispatched_at = now() where batch_id = ${id}
    returning id as chunk_id, epoch`;
  const states = await statesAfter(() => takeBack(pipeline.sql, chunks));
  expect(states).toEqual(['pending', 'dispatched', 'pending']);
});
