import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { audit } from '../audit/audit.ts';

const ROWS = 20;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(ROWS) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

async function wakeInAnHour(): Promise<void> {
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
}

test('statements of a chunk that an operator cancels cost no row, however often', async () => {
  await pipeline.sql`
    create function cancel() returns trigger language plpgsql as $$
    begin
      raise exception 'canceling statement due to user request' using errcode = 'query_canceled';
    end $$`;
  await pipeline.sql`
    create trigger cancelled before insert on parts for each row execute function cancel()`;
  const emails = crowd(ROWS).map(({ email }) => email);
  const options = { operation: 'people.enrich', fields: 'id' };
  const id = await pipeline.upload(caller, `email\n${emails.join('\n')}\n`, options);
  await pipeline.runUntilIdle();
  for (let round = 0; round < 10; round++) await wakeInAnHour();
  await pipeline.sql`drop trigger cancelled on parts`;
  const chunks = await pipeline.sql`
    select failures, part_rows_max, rows_done from chunks where batch_id = ${id}`;
  expect([...chunks]).toEqual([{ failures: 0, partRowsMax: null, rowsDone: 0 }]);
  await wakeInAnHour();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    rows: { total: ROWS, matched: ROWS },
    credits: { charged: ROWS, reserved: 0 },
  });
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});
