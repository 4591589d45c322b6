/** Speed and time left are those of the last half minute of work, whatever came before. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import type { BatchView } from './batch-view.ts';

const options = { operation: 'people.enrich', fields: 'id' };
const list = `email\n${crowd(80)
  .map(({ email }) => email)
  .join('\n')}\n`;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '20' });
  await importGraph(pipeline.sql, { persons: crowd(80) });
});
afterAll(() => pipeline.close());

const paceOf = async (caller: Caller, id: string) =>
  (await pipeline.batch(caller, id)) as unknown as BatchView;
const runChunk = () => pipeline.queues.runNext(pipeline.context, 'run-chunk');

test('a wait for credits is no part of the speed, while it runs and after its end', async () => {
  const caller = await pipeline.account(20);
  const id = await pipeline.enrich(caller, list, options);
  expect(await paceOf(caller, id)).toMatchObject({
    state: 'paused',
    rows: { processed: 20 },
    rows_per_second: null,
    eta_seconds: null,
  });
  // It has waited for a night.
  await pipeline.sql`
    update batches set started_at = started_at - interval '10 hours',
      state_since = state_since - interval '10 hours', paced_since = paced_since - interval '10 hours'
    where id = ${id}`;
  await pipeline.grant(caller, 100, 'more');
  await pipeline.sweep();
  while ((await paceOf(caller, id)).rows.processed < 40) await runChunk();
  const running = await paceOf(caller, id);
  expect(running.state).toBe('running');
  expect(running.rows_per_second).toBeGreaterThan(1);
  expect(running.eta_seconds).toBeLessThan(60);
  await pipeline.runUntilIdle();
  const ended = await paceOf(caller, id);
  expect(ended).toMatchObject({ state: 'completed', eta_seconds: null });
  expect(ended.rows_per_second).toBeGreaterThan(1);
});

test('rows of more than half a minute ago count by their share', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.upload(caller, list, options);
  while ((await paceOf(caller, id)).rows.processed < 20) {
    if (!(await pipeline.queues.runNext(pipeline.context, 'split-batch'))) await runChunk();
  }
  // 60 seconds at 10 rows a second: of these, the last 300 rows count.
  await pipeline.sql`
    update batches set paced_rows = 600, paced_since = clock_timestamp() - interval '60 seconds'
    where id = ${id}`;
  await runChunk();
  const { rows_per_second: speed, eta_seconds: left } = await paceOf(caller, id);
  expect(speed).toBeGreaterThan(5);
  expect(speed).toBeLessThan(12);
  expect(left).toBeLessThan(9);
  await pipeline.runUntilIdle();
});

test('of a list that began before the clock was set back, there is a speed again', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.upload(caller, list, options);
  while ((await paceOf(caller, id)).rows.processed < 20) {
    if (!(await pipeline.queues.runNext(pipeline.context, 'split-batch'))) await runChunk();
  }
  await pipeline.sql`
    update batches set paced_since = clock_timestamp() + interval '1 day' where id = ${id}`;
  for (let chunk = 0; chunk < 2; chunk++) await runChunk();
  const { rows_per_second: speed, eta_seconds: left } = await paceOf(caller, id);
  expect(speed).toBeGreaterThan(1);
  expect(left).toBeLessThan(60);
  await pipeline.runUntilIdle();
});
