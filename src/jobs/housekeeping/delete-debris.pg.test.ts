/** The statements that a round of deleting debris takes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { listRecentlyDeleted, readOldestKept } from '../batch/batches.sql.ts';
import { insertDiscarded } from '../result/redaction.sql.ts';
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

test('an object discarded before the clock was set back is deleted an hour after that', async () => {
  const { context, sql } = pipeline;
  const key = `batches/${crypto.randomUUID()}/old.csv`;
  await context.store.put(key, [Buffer.from('email\n')]);
  await insertDiscarded(sql, [key]);
  await sql`update discarded_objects set since = since + interval '1 year'`;
  const round = () => deleteDebris(context, { until: null }, () => false);
  await round();
  // A worker may still record it.
  expect(await context.store.head(key)).not.toBeNull();
  await sql`update discarded_objects set since = since - interval '61 minutes'`;
  await round();
  expect(await context.store.head(key)).toBeNull();
});

test('what is due is found without reading thousands of lists that are not', async () => {
  const { sql } = pipeline;
  const due = await pipeline.enrich(caller, 'email\na@list.example\n', {
    operation: 'people.enrich',
  });
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = 'batches' and is_generated = 'NEVER' and column_name not in ('id', 'files_deleted_at')`;
  const copied = sql.unsafe(columns.map(({ name }) => name).join(', '));
  const copies = (deletedAt: ReturnType<typeof sql>) => sql`
    insert into batches (id, files_deleted_at, ${copied})
    select gen_random_uuid(), ${deletedAt}, ${copied} from batches, generate_series(1, 3000) n where id = ${due}`;
  await copies(sql`now() - interval '1 month' - n * interval '1 minute'`);
  await copies(sql`null`);
  await sql`update batches set files_deleted_at = now() - interval '1 day 1 minute' where id = ${due}`;
  await sql`analyze batches`;
  const read = (work: Parameters<typeof rowsRead>[2]) => rowsRead(sql, ['batches'], work);
  for (const seenUntil of [null, new Date()]) {
    const rows = await read(async (tx) => {
      expect(await listRecentlyDeleted(tx, { seenUntil, after: null })).toContain(due);
    });
    expect(rows).toBeLessThan(10);
  }
  expect(await read(async (tx) => expect(await readOldestKept(tx)).not.toBeNull())).toBeLessThan(
    10,
  );
});
