/** Statements that make a large graph out of a generated one, and read from it. */
import {
  dropFilledIndexes,
  prepareForBulk,
  restoreIndex,
} from '../samples/generate/generate-graph.sql.ts';
import { type Database, inTransaction, type Sql } from '../src/core/db/client.ts';
import { runConstant } from '../src/core/graph/graph.sql.ts';
import { personIdentifierCodes } from '../src/core/graph/identifier-kinds.ts';
import { must } from '../src/core/lib/assert.ts';

/** Tables that lists, calls and the copy read. */
const readTables = [
  'person_records',
  'person_briefs',
  'person_identifiers',
  'company_records',
  'company_identifiers',
];

/** There are no more: lists of people do not read them, and the disk has to hold the graph and its copy. */
export const COMPANIES_MAX = 400_000;

/** The addresses of a person; the first one is in lists. */
const addresses = [personIdentifierCodes.email, personIdentifierCodes.work_email];

/**
 * Multiplies the people and companies of a generated graph: `times` of each (at most `COMPANIES_MAX`
 * companies), with ids and identifiers of their own. Only the
 * tables that lists, calls and the copy read have them; searches find none of them, and `persons` keeps the generated people.
 * The tables are not logged: a crash empties them.
 */
export async function multiplyGraph(
  sql: Database,
  { persons, companies }: { persons: number; companies: number },
  times: number,
  say: (line: string) => void,
): Promise<void> {
  await inTransaction(sql, async (tx) => {
    await prepareForBulk(tx);
    await tx`set local idle_in_transaction_session_timeout = 0`;
    // Without triggers: no change is listed, so a copy is built afterwards.
    await tx`set local session_replication_role = replica`;
    await tx`truncate person_search, person_name_keys, company_name_keys, keyed_companies`;
    for (const table of readTables) await runConstant(tx, `alter table ${table} set unlogged`);
    const indexes = await dropFilledIndexes(tx);
    for (let time = 1; time < times; time++) {
      await addPeople(tx, time, time * persons, persons);
      if (time * companies < COMPANIES_MAX) {
        await addCompanies(tx, time, time * companies, companies);
      }
      if (time % 10 === 0) say(`  ${time * persons} people`);
    }
    say('  indexes');
    for (const statement of indexes) await restoreIndex(tx, statement);
  });
}

/** Adds the generated people once more, with the mark in their addresses, handles and numbers. */
async function addPeople(tx: Sql, mark: number, by: number, persons: number): Promise<void> {
  const marked = (text: ReturnType<Sql>) => tx`
    ((split_part(${text}, chr(31), 1)::bigint + ${by}) || substr(replace(${text}, '@', ${`@x${mark}.`}),
      strpos(${text}, chr(31))))`;
  await tx`
    insert into person_records (id, company_id, record)
    select id + ${by}::bigint, company_id, ${marked(tx`record`)}
    from person_records where id <= ${persons} order by id`;
  await tx`
    insert into person_briefs (id, brief)
    select id + ${by}::bigint, ${marked(tx`brief`)}
    from person_briefs where id <= ${persons} order by id`;
  await tx`
    insert into person_identifiers (value, kind, person_id)
    select case when kind = any(${addresses}) then replace(value, '@', ${`@x${mark}.`})
      else value || ${`x${mark}`} end, kind, person_id + ${by}::bigint
    from person_identifiers where person_id <= ${persons} order by person_id`;
}

async function addCompanies(tx: Sql, mark: number, by: number, companies: number): Promise<void> {
  await tx`
    insert into company_records (id, record)
    select id + ${by}::bigint,
      (id + ${by}::bigint) || substr(record, strpos(record, chr(31)))
    from company_records where id <= ${companies} order by id`;
  await tx`
    insert into company_identifiers (value, kind, company_id)
    select value || ${`x${mark}`}, kind, company_id + ${by}::bigint
    from company_identifiers where company_id <= ${companies} order by company_id`;
}

/** Number of stored records of people. */
export async function countRecords(sql: Sql): Promise<number> {
  const rows = await sql`select count(*)::int as records from person_records`;
  return must(rows[0], 'one row').records;
}

/**
 * Returns so many addresses of people from all over a graph of `people` people, in mixed order, one of each person. Some are
 * shared by several people.
 */
export async function listAddresses(
  sql: Sql,
  people: number,
  count: number,
): Promise<readonly string[]> {
  // Three people of four have an address.
  const step = Math.max(1, Math.floor(people / (count * 1.4)));
  const rows = await sql<{ value: string }[]>`
    select value from generate_series(1, ${people}::bigint, ${step}::bigint) as id
    cross join lateral (
      select value from person_identifiers
      where person_id = id and kind = any(${addresses}) order by kind limit 1) one
    order by md5(value) limit ${count}`;
  return rows.map(({ value }) => value);
}

/**
 * Lists every so manieth person as changed, and adds those to `persons`, where a roll-forward looks whether they still exist.
 * Returns their number.
 */
export async function changePeople(sql: Sql, people: number, count: number): Promise<number> {
  const step = Math.floor(people / count);
  await sql`
    insert into persons (id, created_at, when_updated) select id, now(), now() from person_records where id % ${step} = 0
    on conflict do nothing`;
  const rows = await sql`
    with changed as (
      update person_briefs set brief = brief where id % ${step} = 0 returning 1)
    select count(*)::int as count from changed`;
  return must(rows[0], 'one row').count;
}
