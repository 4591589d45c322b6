/**
 * While a version is upgraded the old processes run on a schema that the new one has migrated already. A
 * migration only adds, and what it adds must not disturb a statement that was prepared before.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runDueSchedules } from '../../jobs/schedule/run-due.ts';
import { openStocked, operations, type Stocked } from './operations.test-suite.ts';

let stocked: Stocked;
beforeAll(async () => {
  // Few connections, so that each has prepared every statement.
  stocked = await openStocked({ DATABASE_CONNECTIONS: '2' });
});
afterAll(() => stocked.close());

const ROUNDS = 4;

/** Calls every operation often enough to meet all connections; names those that fail. */
async function callAll(): Promise<string[]> {
  const failed: string[] = [];
  for (const { name } of operations.filter((one) => !one.name.endsWith('/events'))) {
    for (let round = 0; round < ROUNDS; round++) {
      const { path, init } = stocked.sampleOf(name);
      const response = await stocked.call(stocked.caller, path, init);
      const text = await response.text();
      if (response.status >= 500) failed.push(`${name}: ${text}`);
    }
  }
  return failed;
}

/** Runs a list, an export and a due schedule to their ends. */
async function runAll(): Promise<void> {
  const { sql, caller, context } = stocked;
  const list = 'email\nada@acme.example\n';
  const id = await stocked.enrich(caller, list, { operation: 'people.enrich', dedupe: 'true' });
  expect(await stocked.batch(caller, id)).toMatchObject({ state: 'completed' });
  const exported = await stocked.makeExport(caller, { filter: 'id=1-3', fields: ['id'] });
  await sql`update schedules set next_run_at = now() - interval '1 minute' where enabled`;
  await runDueSchedules(context);
  await stocked.sweep();
  await stocked.runUntilIdle();
  expect(await stocked.exportOf(caller, exported)).toMatchObject({ state: 'completed' });
  const failed = await sql`select state, reason from schedule_runs where state = 'failed'`;
  expect(failed).toEqual([]);
}

test('a column that a newer version adds disturbs no call and no job of this one', async () => {
  expect(await callAll()).toEqual([]);
  for (let round = 0; round < ROUNDS; round++) await runAll();
  const { sql } = stocked;
  const tables = await sql<{ schema: string; name: string }[]>`
    select schemaname as schema, tablename as name from pg_tables
    where schemaname in ('public', 'graph', 'graph_test') and tablename <> 'migrations'`;
  expect(tables.length).toBeGreaterThan(40);
  for (const { schema, name } of tables) {
    await sql`alter table ${sql(schema)}.${sql(name)} add column of_the_future int default 7`;
  }
  expect(await callAll()).toEqual([]);
  for (let round = 0; round < ROUNDS; round++) await runAll();
}, 120_000);
