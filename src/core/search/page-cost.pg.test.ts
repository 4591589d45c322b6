import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateGraph } from '../../../samples/generate/generate-graph.ts';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { createAccount } from '../accounts/accounts.ts';
import { connect, type Database, inTransaction } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { compileSearch } from './compile.sql.ts';
import { parseFilter } from './parse.ts';
import { prepareFilter } from './prepare.ts';
import { findUnknownValues } from './unknown-values.ts';

let database: TestDatabase;
let sql: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  await generateGraph(database.sql, { persons: 20_000, companies: 2_000, seed: 1 });
  await database.sql`vacuum (analyze) person_search`;
  await addNames(database.sql);
  sql = connect({ url: database.url, connections: 2, plansForValues: true });
}, 180_000);
afterAll(async () => {
  await sql.end();
  await database.drop();
});

const MORE_NAMES = 5_000;

/** Adds places and positions, as many as tell a look-up by an index from one that reads all of them. */
async function addNames(graph: Database): Promise<void> {
  const from = 10_000_000;
  await graph`insert into positions (id, name)
    select ${from}::int + n, 'Post ' || n from generate_series(1, ${MORE_NAMES}::int) n`;
  await graph`insert into regions (id, name, country_id)
    select ${from}::int + n, 'Province ' || n, 1 from generate_series(1, ${MORE_NAMES}::int) n`;
  await graph`insert into cities (id, name, country_id)
    select ${from}::int + n, 'Town ' || n, 1 from generate_series(1, ${MORE_NAMES}::int) n`;
  await graph`analyze positions, regions, cities`;
}

interface Plan {
  'Shared Hit Blocks': number;
  'Shared Read Blocks': number;
  'Actual Rows': number;
}

/** Returns the number of database pages that finding a page of people touches, and the number of people found. */
async function costOf(
  query: string,
  after: number,
  accountId = '01900000-0000-7000-8000-000000000000',
): Promise<{ buffers: number; people: number }> {
  const owner = { accountId, live: true };
  const prepared = await prepareFilter(sql, parseFilter(query), owner);
  const [row] = await sql<object[]>`
    explain (analyze, buffers, format json)
    select s.id from person_search s where ${compileSearch(sql, prepared, true)}
      ${after === 0 ? sql`` : sql`and s.id > ${after}`}
    order by s.id limit 101`;
  const [{ Plan }] = Object.values(must(row, 'plan'))[0] as [{ Plan: Plan }];
  const buffers = Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
  return { buffers, people: Plan['Actual Rows'] };
}

/** The measured number plus a fifth: a wrong plan costs several times that. */
test.each([
  ['gender=female', 0, 13],
  ['positionIds=111', 10_000, 250],
  ['companyId=17', 0, 25],
  ['positionIds=111&locationIds=41', 5_000, 10],
  ['skills=[Kafka|Airflow]&locationList=[:GB]', 0, 180],
  ['surname=Smith&phoneTypeId=1', 0, 70],
  ['workEmail=*&birthYear=1970-1980', 15_000, 145],
  ['email=nobody@nowhere.example', 0, 4],
])('%s after id %i reads at most %i pages', async (query, after, max) => {
  const { buffers } = await costOf(query, after);
  expect(buffers).toBeLessThanOrEqual(max);
});

test('a page reads no whole do-not-contact list', async () => {
  const accountId = await createAccount(sql, { name: 'Careful', credits: 0 });
  await sql`
    insert into do_not_contact (account_id, live, email_sha256, domain)
    select ${accountId}::uuid, true, sha256(n::text::bytea), null from generate_series(1, 100000) n
    union all select ${accountId}::uuid, true, null, n || '.example' from generate_series(1, 50000) n`;
  await sql`vacuum (analyze) do_not_contact`;
  // Reading the list once takes more than four thousand, the addresses of all people more than ten.
  for (const query of ['gender=female', 'workEmail=*']) {
    const { buffers, people } = await costOf(query, 0, accountId);
    expect(people).toBe(101);
    expect(buffers).toBeLessThanOrEqual(1_500);
  }
});

test.each([
  'locationList=[London:GB|Leeds:GB|:FR]',
  'cities.name=London',
  'regions.name=Scotland',
  'positions.name=Accountant',
])('resolving %s reads the names of no whole table', async (query) => {
  const filter = parseFilter(query);
  const owner = { accountId: '01900000-0000-7000-8000-000000000000', live: true };
  const [read] = await inTransaction(sql, async (tx) => {
    await prepareFilter(tx, filter, owner);
    await findUnknownValues(tx, filter);
    return tx<{ rows: number }[]>`
      select sum(seq_tup_read)::int as rows from pg_stat_xact_user_tables
      where schemaname = 'graph' and relname in ('cities', 'regions', 'positions')`;
  });
  expect(read).toEqual({ rows: 0 });
});
