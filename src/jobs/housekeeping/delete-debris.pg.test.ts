/** The statements that a round of deleting debris takes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { deleteDebris } from './delete-debris.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(10);
});
afterAll(() => pipeline.close());

test('a round asks for no page after one that was not full', async () => {
  const id = await pipeline.enrich(caller, 'email\na@list.example\n', {
    operation: 'people.enrich',
  });
  await pipeline.sql`
    update batches set files_deleted_at = now() - interval '1 day 1 minute' where id = ${id}`;
  let pages = 0;
  const counting = new Proxy(pipeline.context.sql, {
    apply(sql, self, given: [TemplateStringsArray, ...unknown[]]) {
      if (given[0].join('').includes('from batches b')) pages += 1;
      return Reflect.apply(sql, self, given);
    },
  });
  const seen = { until: null };
  await deleteDebris({ ...pipeline.context, sql: counting }, seen, () => false);
  expect(seen.until).not.toBeNull();
  expect(pages).toBe(2);
});
