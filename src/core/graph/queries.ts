/**
 * Statements over the whole graph: they write the stored records from the typed tables and take
 * people out. The rendering is one SQL text for each kind of record, built from the field tables.
 */
import type { Sql } from '../db/client.ts';
import { companyFields, personFields, type RecordField } from './fields.ts';
import { uncountPeople } from './lookup-values/queries.ts';

/**
 * Which records to render: ids in a range (both ends included), or those of a table with a column
 * `id`.
 */
export type RecordSelection = { fromId: number; toId: number } | { idsIn: string };

/** Runs a statement whose text is made of constants of this code, never of input. */
export async function runConstant<Row extends object>(
  sql: Sql,
  text: string,
  parameters: readonly (string | number | readonly number[] | null)[] = [],
): Promise<Row[]> {
  return await sql.unsafe<Row[]>(text, parameters as never[]);
}

/**
 * Makes writers of this graph schema take turns until the transaction ends; readers go on. Whatever
 * writes people, companies, their identifiers or opt-outs calls it first.
 */
export async function lockGraphForWriting(tx: Sql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('graph ' || current_schema(), 0))`;
}

const cityJoinsSql = `
  left join cities city on city.id = r.city_id
  left join countries city_country on city_country.id = city.country_id and city_country.name <> ''
  left join regions city_region on city_region.id = city.region_id and city_region.name <> ''`;

const placeJoinsSql = `
  left join industries industry on industry.id = r.industry_id
  left join countries country on country.id = r.country_id and country.name <> ''
  left join regions region on region.id = r.region_id and region.name <> ''${cityJoinsSql}`;

// In the order of the ids: who reads many people in order, as an export does, reads each page once.
const personRenderSql = `
  insert into person_records as stored (id, company_id, record)
  select r.id, r.company_id, ${recordSql(personFields)}
  from {selected}
  left join positions job_position on job_position.id = r.position_id
  left join companies employer on employer.id = r.company_id${placeJoinsSql}
  where {condition}
  order by r.id
  on conflict (id) do update set company_id = excluded.company_id, record = excluded.record
  where (stored.company_id, stored.record) is distinct from (excluded.company_id, excluded.record)`;

const personBriefRenderSql = `
  insert into person_briefs as stored (id, brief)
  select r.id, ${recordSql(personFields.map((field) => (field.long ? { ...field, sql: "''" } : field)))}
  from {selected}
  left join companies employer on employer.id = r.company_id
  where {condition}
  order by r.id
  on conflict (id) do update set brief = excluded.brief
  where stored.brief is distinct from excluded.brief`;

const companyRenderSql = `
  insert into company_records as stored (id, record)
  select r.id, ${recordSql(companyFields)}
  from {selected}${placeJoinsSql}
  where {condition}
  on conflict (id) do update set record = excluded.record
  where stored.record is distinct from excluded.record`;

/**
 * Writes the stored records of people, full and brief, and what they are searched by; only what differs.
 * Returns how many full records those were.
 */
export async function renderPersonRecords(sql: Sql, selection: RecordSelection): Promise<number> {
  await render(sql, { text: personBriefRenderSql, table: 'persons', selection });
  await refreshPersonSearch(sql, selection);
  return render(sql, { text: personRenderSql, table: 'persons', selection });
}

/**
 * Writes the stored records of companies; only those whose text differs. Returns how many those
 * were.
 */
export async function renderCompanyRecords(sql: Sql, selection: RecordSelection): Promise<number> {
  return render(sql, { text: companyRenderSql, table: 'companies', selection });
}

/** Writes the search rows of people; see the function in the migrations. */
async function refreshPersonSearch(sql: Sql, selection: RecordSelection): Promise<void> {
  if ('idsIn' in selection) {
    const ids = `select distinct id from ${selection.idsIn} order by id`;
    await sql.unsafe(`select refresh_person_search(array(${ids}))`);
    return;
  }
  const { fromId, toId } = selection;
  await sql`
    select refresh_person_search(array(
      select id from persons where id between ${fromId} and ${toId} order by id))`;
}

interface Rendering {
  text: string;
  table: 'persons' | 'companies';
  selection: RecordSelection;
}

async function render(sql: Sql, { text, table, selection }: Rendering): Promise<number> {
  const fill = (selected: string, condition: string) =>
    text.replace('{selected}', selected).replace('{condition}', condition);
  if ('idsIn' in selection) {
    // The ids come first in the join, not in an `in`: the planner keeps the order of so many tables
    // and would read all records to find some (500,000 people: 2.5 s instead of 1 s for 50,000).
    const listed = `(select distinct id from ${selection.idsIn}) listed
      join ${table} r on r.id = listed.id`;
    return (await sql.unsafe(fill(listed, 'true'))).count;
  }
  const { fromId, toId } = selection;
  const range = 'r.id between $1::bigint and $2::bigint';
  return (await sql.unsafe(fill(`${table} r`, range), [fromId, toId])).count;
}

function recordSql(fields: readonly RecordField[]): string {
  const cells = fields.map(({ sql, nullable, type }) =>
    nullable || type === 'json' ? `coalesce((${sql})::text, '')` : sql,
  );
  return `concat_ws(E'\\x1f', ${cells.join(', ')})`;
}

/** Takes people out: record, identifiers, stored record, and the links of officers to them. */
export async function deletePersonRows(tx: Sql, ids: readonly number[]): Promise<number> {
  await tx`delete from person_identifiers where person_id = any(${[...ids]}::bigint[])`;
  await tx`delete from person_search where id = any(${[...ids]}::bigint[])`;
  await tx`delete from person_briefs where id = any(${[...ids]}::bigint[])`;
  await tx`delete from person_records where id = any(${[...ids]}::bigint[])`;
  await tx`update officers set person_id = null where person_id = any(${[...ids]}::bigint[])`;
  await uncountPeople(tx, ids);
  const deleted = await tx`delete from persons where id = any(${[...ids]}::bigint[])`;
  return deleted.count;
}
