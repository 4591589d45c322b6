/** The search for results that show people who opted out. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyBatch } from '../../../tests/support/copy-batch.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { lastSuppression } from '../../core/suppression/opted-out-people.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { listBatchesDueForRedaction } from './redaction.sql.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(1) });
});
afterAll(() => pipeline.close());

/** Batches behind these numbers, and the rows that are read to find them. */
async function findDue(numbers: { live: number; test: number }) {
  let due: string[] = [];
  const read = await rowsRead(pipeline.sql, ['batches', 'parts'], async (tx) => {
    due = await listBatchesDueForRedaction(tx, numbers);
  });
  return { due: due.length, read };
}

test('reads no results that are up to date with their own graph, whatever the number of the other', async () => {
  const { sql, context } = pipeline;
  await importGraph(context.testSql, { persons: crowd(1) });
  await suppress(context.testSql, 'p1@list.example');
  const caller = await pipeline.account(10);
  const tester = await pipeline.keyOf(caller.accountId, 'test');
  const options = { operation: 'people.enrich' };
  const live = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
  const made = await pipeline.enrich(tester, 'email\nmatched@test.example\n', options);
  await copyBatch(sql, live, 400);
  await copyBatch(sql, made, 500);
  const now = { live: await lastSuppression(sql), test: await lastSuppression(context.testSql) };
  expect(now).toEqual({ live: 0, test: 1 });
  expect(await findDue(now)).toEqual({ due: 0, read: 0 });
  // As if people of one graph had opted out.
  expect(await findDue({ live: 9, test: 1 })).toEqual({ due: 401, read: expect.any(Number) });
  expect(await findDue({ live: 0, test: 9 })).toEqual({ due: 501, read: expect.any(Number) });
});
