/**
 * Quotes are free and take as long as a run, so an account's pending ones are bounded and obsolete ones stop.
 */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

const ROWS = 6;
const OPEN_MAX = 10;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
  await importGraph(pipeline.sql, { persons: crowd(ROWS) });
});
afterAll(() => pipeline.close());
afterEach(() => {
  delete pipeline.faults.get;
  pipeline.queues.waiting = [];
});

const list = `email\n${crowd(ROWS)
  .map(({ email }) => `${email}\n`)
  .join('')}`;

async function heldList(who: Caller): Promise<string> {
  return pipeline.enrich(who, list, { operation: 'people.enrich', fields: 'id', hold: 'true' });
}

const act = (who: Caller, id: string, action: string) =>
  pipeline.call(who, `/v1/batches/${id}/${action}`, { method: 'POST' });

test('an account has at most ten pending, also when requested concurrently; one more gets a Retry-After', async () => {
  const caller = await pipeline.account(100);
  const other = await pipeline.account(100);
  const ids: string[] = [];
  while (ids.length < OPEN_MAX + 4) ids.push(await heldList(caller));
  const answers = await Promise.all(ids.map((id) => act(caller, id, 'quote')));
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(4);
  for (const answer of refused) {
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    const problem = await expectProblem(answer, { status: 429, code: 'rate_limited' });
    expect(problem).toMatchObject({ quota: OPEN_MAX, limit: expect.stringContaining('quotes') });
  }
  // A pending one may be requested again, and no other account is refused.
  const accepted = ids[answers.findIndex(({ status }) => status === 202)] ?? '';
  expect((await act(caller, accepted, 'quote')).status).toBe(202);
  expect((await act(other, await heldList(other), 'quote')).status).toBe(202);
  await pipeline.runUntilIdle();
  const last = ids[answers.findIndex(({ status }) => status !== 202)] ?? '';
  expect((await act(caller, last, 'quote')).status).toBe(202);
});

test.each(['cancel', 'start', 'delete', 'quote'])(
  'one made obsolete by a %s stops early',
  async (action) => {
    const caller = await pipeline.account(100);
    const id = await heldList(caller);
    await act(caller, id, 'quote');
    let reads = 0;
    pipeline.faults.get = async () => {
      if (++reads !== 2) return;
      const answer =
        action === 'delete'
          ? await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' })
          : await act(caller, id, action);
      expect(answer.status).toBeLessThan(300);
    };
    await pipeline.queues.runNext(pipeline.context, 'quote-batch').catch(() => {});
    // The list has one chunk per row.
    expect(reads).toBe(2);
    const [row] = await pipeline.sql`select job_lease_until from batches where id = ${id}`;
    expect(row?.jobLeaseUntil).toBeNull();
  },
);
