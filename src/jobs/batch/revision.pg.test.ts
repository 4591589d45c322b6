import postgres from 'postgres';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { viewBatch } from './batch-view.ts';
import { findBatch } from './batches.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(1);
});
afterAll(() => pipeline.close());

/** Columns that no statement writes after the insert. */
const fixed = ['id', 'account_id', 'kind', 'live', 'operation', 'created_at', 'schedule_id'].concat(
  [
    'names_people',
    'format',
    'gzip',
    'max_results',
    'only_new',
    'rerun_of',
    'rerun_rows',
    'rerun_records',
    'trace_parent',
  ],
  // Computed by Postgres.
  ['claimable_account', 'revision'],
);

/** A value of each type other than the one that a new batch has. */
const otherValues: Record<string, string> = {
  bool: `not %`,
  int4: `coalesce(%, 0) + 7`,
  int8: `coalesce(%, 0) + 7`,
  float8: `coalesce(%, 1) / 2`,
  text: `coalesce(%, '') || 'x'`,
  _text: `array['other']`,
  jsonb: `coalesce(%, '{}') || '{"other": 7}'`,
  timestamptz: `now() - interval '1 hour'`,
  uuid: `(select id from api_keys where id <> % limit 1)`,
};

async function write(id: string, column: string, value: string) {
  await pipeline.sql.unsafe(
    `update batches set ${column} = ${value.replaceAll('%', column)} where id = '${id}'`,
  );
}

test('every change that the JSON of a batch shows raises its revision, and no other does', async () => {
  await pipeline.keyOf(caller.accountId, 'live');
  const [{ checks }] = await pipeline.sql<[{ checks: string[] }]>`
    select array_agg(quote_ident(conname)) as checks from pg_constraint
    where conrelid = 'batches'::regclass and contype = 'c'`;
  // Each column is changed alone.
  for (const name of checks) {
    await pipeline.sql.unsafe(`alter table batches drop constraint ${name}`);
  }
  const columns = await pipeline.sql<{ name: string; type: string }[]>`
    select column_name as name, udt_name as type from information_schema.columns
    where table_schema = 'public' and table_name = 'batches'
      and not column_name = any(${fixed}) order by column_name`;
  const ids = [
    await pipeline.upload(caller, 'email\na@b.example\n', { operation: 'people.enrich' }),
    await pipeline.makeExport(caller, { filter: 'gender=1', hold: true }),
  ];
  const shown = new Set<string>();
  for (const id of ids) {
    await pipeline.sql`update batches set rows_total = 100, matched = 1 where id = ${id}`;
    for (const { name, type } of columns) {
      const now = new Date();
      const read = async () => {
        const batch = await findBatch(pipeline.sql, id);
        const { revision, ...view } = viewBatch(batch as NonNullable<typeof batch>, now);
        return { revision, view };
      };
      const before = await read();
      await write(id, name, otherValues[type] ?? `a value of ${type}`);
      const after = await read();
      const isShown = JSON.stringify(before.view) !== JSON.stringify(after.view);
      if (isShown) shown.add(name);
      if (isShown) expect(after, name).toMatchObject({ revision: before.revision + 1 });
      // The same again is no change.
      await write(id, name, name);
      expect((await read()).revision, name).toBe(after.revision);
    }
  }
  // Neither a lease nor a check of the objects is told to listeners.
  const [batch] = ids;
  const revision = async () => (await findBatch(pipeline.sql, batch ?? ''))?.revision;
  const before = await revision();
  for (const name of ['job_lease_until', 'job_attempts', 'objects_checked_at', 'stored_bytes']) {
    const { type } = columns.find((column) => column.name === name) ?? { type: '' };
    await write(batch ?? '', name, otherValues[type] ?? '');
  }
  expect(await revision()).toBe(before);
  expect([...shown].map((name) => postgres.toCamel(name))).toContain('creditsReserved');
  expect(shown.size).toBeGreaterThan(25);
});
