/** A page of a search that was charged is sent. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { crowd } from '../../tests/support/small-graph.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(3) });
});
afterAll(() => pipeline.close());

test('also when its place cannot be stored for the next page', async () => {
  const caller = await pipeline.account(10);
  await pipeline.sql`
    create function refuse_hint() returns trigger language plpgsql as $$
    begin raise 'no place'; end $$`;
  await pipeline.sql`
    create trigger refuse_hint before insert on page_hints execute function refuse_hint()`;
  const page = await pipeline.call(caller, '/personsearch/?id=[1001|1002]&limit=1');
  expect(page.status).toBe(200);
  expect(await page.json()).toMatchObject([{ id: 1001 }]);
  expect(await pipeline.wallet(caller)).toEqual({ balance: 9, reserved: 0 });
});

test('and one whose charge is rolled back says that it cost nothing', async () => {
  const caller = await pipeline.account(10);
  await pipeline.sql`
    create function refuse_response() returns trigger language plpgsql as $$
    begin raise 'no response'; end $$`;
  await pipeline.sql`
    create trigger refuse_response before update on idempotency_keys
    for each row execute function refuse_response()`;
  const page = await pipeline.call(caller, '/personsearch/?id=1001&limit=1', {
    headers: { 'Idempotency-Key': 'once' },
  });
  await pipeline.sql`drop trigger refuse_response on idempotency_keys`;
  expect(page.status).toBe(500);
  expect(page.headers.get('X-Credits-Charged')).toBe('0');
  expect(page.headers.get('X-Credits-Remaining')).toBe('10');
  expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
});
