/** Statements used only by the measurements. */
import type { Sql } from '../src/core/db/client.ts';
import { runConstant } from '../src/core/graph/graph.sql.ts';
import { personIdentifierCodes } from '../src/core/graph/identifier-kinds.ts';
import { must } from '../src/core/lib/assert.ts';
import type { RowJob } from './row-queue.ts';

/** Current server settings that could make a figure unfair. */
const told = [
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
  'work_mem',
  'jit',
  'max_parallel_workers_per_gather',
];

/** The server's version and settings relevant to the figures. */
export async function readServer(
  sql: Sql,
): Promise<{ version: string; settings: Record<string, string> }> {
  const rows = await sql<{ name: string; value: string }[]>`
    select name, current_setting(name) as value from pg_settings
    where name = any(${[...told, 'server_version']}) order by name`;
  const values = Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  const { server_version: version = 'unknown', ...settings } = values;
  return { version, settings };
}

/** Bytes of each table of the graph with its indexes. */
export async function readGraphBytes(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<{ name: string; bytes: number }[]>`
    select relname as name, pg_total_relation_size(oid) as bytes from pg_class
    where relnamespace = 'graph'::regnamespace and relkind = 'r' order by relname`;
  return Object.fromEntries(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Number of people in the graph. */
export async function countPersons(sql: Sql): Promise<number> {
  const [row] = await sql<{ persons: number }[]>`select count(*)::int as persons from persons`;
  return row?.persons ?? 0;
}

/** Writes this many people anew as they are, spread over the graph: each counts as changed. */
export async function touchPeople(sql: Sql, count: number): Promise<void> {
  await sql`
    update person_briefs set brief = brief where id in (
      select id from (
        select id, row_number() over (order by id) as place, count(*) over () as people from person_briefs
      ) as numbered
      where place * ${count}::bigint / people > (place - 1) * ${count}::bigint / people)`;
}

/**
 * Brings freshly filled tables into their steady state, so that no measurement pays for the first visit of a
 * page.
 */
export async function settleGraph(sql: Sql): Promise<void> {
  await sql`vacuum (analyze) persons, person_identifiers, person_records, companies,
    company_identifiers, company_records, person_briefs, person_search`;
  await sql`checkpoint`;
}

/**
 * Deletes everything but the graphs: accounts, batches, the queue. Each measurement then starts from the same
 * state and from the tables of this version. Extensions stay, because indexes of the graphs depend on them.
 */
export async function forgetService(sql: Sql): Promise<void> {
  const [found] = await sql<{ table: string | null }[]>`
    select to_regclass('public.migrations')::text as table`;
  if (!found?.table) return;
  const objects = await sql<{ drop: string }[]>`
    select format('drop table if exists %s cascade', oid::regclass) as drop from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'migrations'
    union all
    select format('drop function if exists %s cascade', p.oid::regprocedure) from pg_proc p
    where p.pronamespace = 'public'::regnamespace and not exists (
      select from pg_depend d where d.objid = p.oid and d.deptype = 'e')`;
  for (const { drop } of objects) await sql.unsafe(drop);
  await sql`delete from public.migrations where name like 'public/%'`;
  await sql`drop schema if exists bullmq cascade`;
}

/** Addresses held by exactly one person, spread over the whole graph, in mixed order. */
export async function listEmails(sql: Sql, count: number): Promise<string[]> {
  const rows = await sql<{ value: string }[]>`
    select value from person_identifiers
    where kind = ${personIdentifierCodes.email} group by value having count(*) = 1
    order by md5(value) limit ${count}`;
  return rows.map(({ value }) => value);
}

/** The single SELECT of a lookup-only service: an email's stored record. */
export async function findRecord(sql: Sql, email: string): Promise<string | undefined> {
  const [row] = await sql<{ record: string }[]>`
    select r.record from person_identifiers i join person_records r on r.id = i.person_id
    where i.value = ${email} and i.kind = ${personIdentifierCodes.email} limit 1`;
  return row?.record;
}

/** The charges of these accounts: ledger lines, their sum, and the decrease of their wallets. */
export async function readCharges(
  sql: Sql,
  accountIds: readonly string[],
  creditsEach: number,
): Promise<{ lines: number; charged: number; gone: number }> {
  const [row] = await sql<{ lines: number; charged: number; gone: number }[]>`
    select count(*)::int as lines, -coalesce(sum(amount), 0)::bigint as charged, (
      select sum(${creditsEach}::bigint - balance)::bigint from wallets
      where account_id = any(${[...accountIds]}::uuid[])) as gone
    from ledger_entries
    where account_id = any(${[...accountIds]}::uuid[]) and kind = 'charge'`;
  return must(row, 'one row');
}

/** The progress of these batches in one snapshot: finished rows, and whether all are finished. */
export async function readProgress(
  sql: Sql,
  batchIds: readonly string[],
): Promise<Map<string, { rows: number; isDone: boolean }>> {
  const batches = await sql<{ id: string; rows: number; isDone: boolean }[]>`
    select b.id, coalesce(sum(p.rows), 0)::int as rows, b.chunks_done = b.chunks_total as is_done
    from batches b left join parts p on p.batch_id = b.id
    where b.id = any(${[...batchIds]}::uuid[]) group by b.id`;
  return new Map(batches.map(({ id, ...progress }) => [id, progress]));
}

/** The first id of the names generated for the lookups, far above those of the graph. */
const LOOKUP_IDS_FROM = 10_000_000;

/** The bare reference of the lookups: values that begin with a lower-case text. */
export async function selectByPrefix(
  sql: Sql,
  code: number,
  text: string,
): Promise<readonly object[]> {
  return sql<object[]>`
    select id, name, people as count from lookup_values
    where kind = ${code} and name <> '' and folded >= ${text} and folded < ${`${text}\u{10ffff}`}
    order by people desc limit 10`;
}

/** Number of cities in the lookups. */
export async function countNamedCities(sql: Sql): Promise<number> {
  const [row] = await sql<{ cities: number }[]>`
    select count(*)::int as cities from lookup_values where kind = 2 and name <> ''`;
  return row?.cities ?? 0;
}

/** Writes job titles; returns their ids. */
export async function writeTitles(sql: Sql, names: readonly string[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    insert into positions (id, name) select ${LOOKUP_IDS_FROM}::int + place, name
    from unnest(${[...names]}::text[]) with ordinality t (name, place) returning id`;
  return rows.map(({ id }) => id);
}

/** Writes cities with their countries and ten regions for each of those; returns the ids of the cities. */
export async function writeCities(
  sql: Sql,
  cities: readonly { name: string; countryId: number; regionId: number }[],
  countries: readonly string[],
): Promise<number[]> {
  await sql`
    insert into countries (id, name) select ${LOOKUP_IDS_FROM}::int + place, name
    from unnest(${[...countries]}::text[]) with ordinality t (name, place)`;
  await sql`
    insert into regions (id, name, country_id)
    select ${LOOKUP_IDS_FROM}::int + n, 'Province ' || n, ${LOOKUP_IDS_FROM}::int + (n + 9) / 10
    from generate_series(1, ${countries.length * 10}::int) n`;
  const rows = await sql<{ id: number }[]>`
    insert into cities (id, name, country_id, region_id)
    select ${LOOKUP_IDS_FROM}::int + place, name, ${LOOKUP_IDS_FROM}::int + country_id,
      ${LOOKUP_IDS_FROM}::int + region_id
    from unnest(${cities.map(({ name }) => name)}::text[],
      ${cities.map(({ countryId }) => countryId)}::int[],
      ${cities.map(({ regionId }) => regionId)}::int[])
      with ordinality t (name, country_id, region_id, place) returning id`;
  return rows.map(({ id }) => id);
}

/** Sets how many people hold each of these values. */
export async function writePeopleCounts(
  sql: Sql,
  kind: number,
  ids: readonly number[],
  people: readonly number[],
): Promise<void> {
  await sql`
    update lookup_values v set people = t.people
    from unnest(${[...ids]}::int[], ${[...people]}::int[]) t (id, people)
    where v.kind = ${kind} and v.id = t.id`;
}

/** As `settleGraph`, for the tables of the lookups. */
export async function settleLookups(sql: Sql): Promise<void> {
  await sql`vacuum (analyze) lookup_values, lookup_words, lookup_vocabulary`;
}

/** Makes the server write a table as CSV with a header. */
export async function exportTable(sql: Sql, table: string, file: string): Promise<void> {
  await runConstant(sql, `copy ${table} to ${asLiteral(file)} (format csv, header true)`);
}

/** A path as an SQL literal, where parameters are not allowed. */
export function asLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Creates an empty table for results written row by row, with `cells` in the list's order. */
export async function makeRowResults(sql: Sql): Promise<void> {
  await sql`drop table if exists public.row_results`;
  await sql`create table public.row_results (row int primary key, cells text[] not null)`;
}

/** Looks up one row with this statement, and writes its result. */
export async function enrichRow(sql: Sql, lookUp: string, job: RowJob): Promise<void> {
  const { row, profile, email, phone, handle } = job;
  const [found] = await sql.unsafe(lookUp, [profile, email, phone, handle], { prepare: true });
  const cells = Object.values(found ?? {}).map((cell) => (cell === null ? '' : String(cell)));
  await sql`insert into public.row_results (row, cells) values (${row}, ${cells})`;
}

/** The rows written, in the order of the list. */
export async function readRowResults(sql: Sql): Promise<string[][]> {
  const rows = await sql<{ cells: string[] }[]>`
    select case when cells = '{}' then array_fill(''::text, array[10]) else cells end as cells
    from public.row_results order by row`;
  return rows.map(({ cells }) => cells);
}

/** People who are known by name, company, job title and email, from all over the graph. */
export async function selectNamedPeople(
  sql: Sql,
  count: number,
): Promise<
  { id: number; name: string; surname: string; title: string; email: string; company: string }[]
> {
  return sql`
    select p.id, p.name, p.surname, p.position as title, p.email, c.name as company
    from persons p join companies c on c.id = p.company_id
    where p.name <> '' and p.surname <> '' and p.position <> '' and p.email <> ''
      and not exists (select from persons o where o.email = p.email and o.id <> p.id)
    order by hashint8(p.id), p.id limit ${count}`;
}
