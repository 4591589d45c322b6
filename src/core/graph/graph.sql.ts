/**
 * Statements over the whole graph: they write the stored records from the typed tables and delete people. The
 * rendering is one SQL text for each kind of record, built from the field tables.
 */
import type { Sql } from '../db/client.ts';
import { citySql, companyFields, personFields, type RecordField, referenceSql } from './fields.ts';
import { decrementLookupCounts } from './lookup-values.sql.ts';
import { deletePersonKeys, refreshCompanyKeys, refreshPersonKeys } from './name-keys.sql.ts';
import type { RecordSelection } from './record-selection.ts';

/** Runs a statement whose text consists of constants of this code, never of input. */
export async function runConstant<Row extends object>(
  sql: Sql,
  text: string,
  parameters: readonly (string | number | readonly number[] | null)[] = [],
): Promise<Row[]> {
  return await sql.unsafe<Row[]>(text, parameters as never[]);
}

/**
 * Serialises writers of this graph schema until the transaction ends; readers go on. Code that writes people,
 * companies, their identifiers or opt-outs calls it first.
 */
export async function lockGraphForWriting(tx: Sql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('graph ' || current_schema(), 0))`;
}

/** A row of a small table that records show: the table with its alias, the column of its id, and what is shown of it. */
interface Shown {
  alias: string;
  column: string;
  from: string;
  object: string;
}

const cityFromSql = `cities city
    left join countries city_country on city_country.id = city.country_id and city_country.name <> ''
    left join regions city_region on city_region.id = city.region_id and city_region.name <> ''`;
/** A country or region without a name is not shown. */
const named = (table: string, alias: string) =>
  `(select * from ${table} where name <> '') ${alias}`;

const shownPosition: Shown = {
  alias: 'job_position',
  column: 'position_id',
  from: 'positions job_position',
  object: referenceSql('job_position'),
};
/** By the field of a company that shows it. */
const shownOfCompany = {
  industries: {
    alias: 'industry',
    column: 'industry_id',
    from: 'industries industry',
    object: referenceSql('industry'),
  },
  countries: {
    alias: 'country',
    column: 'country_id',
    from: named('countries', 'country'),
    object: referenceSql('country'),
  },
  regions: {
    alias: 'region',
    column: 'region_id',
    from: named('regions', 'region'),
    object: referenceSql('region'),
  },
  cities: { alias: 'city', column: 'city_id', from: cityFromSql, object: citySql },
} satisfies Record<string, Shown>;
export type ShownField = keyof typeof shownOfCompany;

/**
 * Joins what a record `r` shows, as `<alias>.object`. A subquery of its own, so that Postgres renders a row once and
 * remembers it for the other records that show it.
 */
function joinSql({ alias, column, from, object }: Shown): string {
  return `
  left join lateral (
    select ${object} as object from ${from} where ${alias}.id = r.${column} offset 0) ${alias} on true`;
}

const placeJoinsSql = Object.values(shownOfCompany).map(joinSql).join('');
const positionJoinSql = joinSql(shownPosition);

const shownSql = Object.entries(shownOfCompany)
  .map(
    ([field, { alias, from, object }], index) => `
    select '${field}' as field, ${alias}.id, ${object} as object
    from ${from} where ${alias}.id = any($${index + 1}::int[])`,
  )
  .join(' union all ');

/** Returns what companies show of the rows with these ids, as JSON; a row that is not shown is missing. */
export async function readShown(
  sql: Sql,
  ids: Readonly<Record<ShownField, readonly number[]>>,
): Promise<{ field: ShownField; id: number; object: string }[]> {
  const fields = Object.keys(shownOfCompany) as ShownField[];
  return runConstant(
    sql,
    shownSql,
    fields.map((field) => ids[field]),
  );
}

const personRuns = runsOf(personFields);

/**
 * Full and brief record in one pass: their common cells are rendered once, as runs between the long ones. Nothing
 * sorts it, yet joins keep the order of the ids: a reader of many people in order, such as an export, reads each
 * page once.
 */
const personRenderSql = `
  with rendered as materialized (
    select r.id, r.company_id, ${personRuns.map(({ sql }, run) => `${sql} as run_${run}`).join(', ')}
    from {selected}
    left join companies employer on employer.id = r.company_id${positionJoinSql}${placeJoinsSql}
  ), brief as (
    insert into person_briefs as stored (id, brief)
    select id, ${joinCells(personRuns.map(({ long }, run) => (long ? "''" : `run_${run}`)))}
    from rendered
    on conflict (id) do update set brief = excluded.brief
    where stored.brief is distinct from excluded.brief
  )
  insert into person_records as stored (id, company_id, record)
  select id, company_id, ${joinCells(personRuns.map((_, run) => `run_${run}`))} from rendered
  on conflict (id) do update set company_id = excluded.company_id, record = excluded.record
  where (stored.company_id, stored.record) is distinct from (excluded.company_id, excluded.record)`;

const companyRenderSql = `
  insert into company_records as stored (id, record)
  select r.id, ${joinCells(companyFields.map(cellSql))}
  from {selected}${placeJoinsSql}
  on conflict (id) do update set record = excluded.record
  where stored.record is distinct from excluded.record`;

/**
 * Writes the stored records of people, full and brief, their search rows and the keys of their names; only changed
 * ones. Returns the number of full records written.
 */
export async function renderPersonRecords(sql: Sql, selection: RecordSelection): Promise<number> {
  await refreshPersonSearch(sql, selection);
  await refreshPersonKeys(sql, selection);
  return render(sql, { text: personRenderSql, table: 'persons', selection });
}

/** Writes the stored records of companies and the keys of their names; only changed ones. Returns the number of records. */
export async function renderCompanyRecords(sql: Sql, selection: RecordSelection): Promise<number> {
  await refreshCompanyKeys(sql, selection);
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
  const fill = (selected: string) => text.replace('{selected}', selected);
  if ('idsIn' in selection) {
    // One by one in their order: the rows keep their order without a sort of whole records, and the planner, which
    // knows their number, cannot choose to read all records to find some.
    await sql.unsafe(`analyze ${selection.idsIn}`);
    const listed = `(
      select one.* from (select distinct id from ${selection.idsIn} order by id) listed
      cross join lateral (select * from ${table} where id = listed.id offset 0) one offset 0) r`;
    return (await sql.unsafe(fill(listed))).count;
  }
  const { fromId, toId } = selection;
  const range = `(select * from ${table} where id between $1::bigint and $2::bigint order by id) r`;
  return (await sql.unsafe(fill(range), [fromId, toId])).count;
}

function cellSql({ sql, nullable, type }: RecordField): string {
  const canBeNull = nullable || type === 'json' || type === 'integer';
  return canBeNull ? `coalesce((${sql})::text, '')` : sql;
}

function joinCells(cells: readonly string[]): string {
  return `concat_ws(E'\\x1f', ${cells.join(', ')})`;
}

/** Cells of a record as text: a long one alone, or all between two long ones. */
interface CellRun {
  sql: string;
  long: boolean;
}

function runsOf(fields: readonly RecordField[]): CellRun[] {
  const runs: { cells: string[]; long: boolean }[] = [];
  for (const field of fields) {
    const last = runs.at(-1);
    if (last === undefined || last.long || field.long) {
      runs.push({ cells: [cellSql(field)], long: field.long ?? false });
    } else {
      last.cells.push(cellSql(field));
    }
  }
  return runs.map(({ cells, long }) => ({ sql: joinCells(cells), long }));
}

/** Deletes people: record, identifiers, stored record, and the links of officers to them. */
export async function deletePersonRows(tx: Sql, ids: readonly number[]): Promise<number> {
  await tx`delete from person_identifiers where person_id = any(${[...ids]}::bigint[])`;
  await tx`delete from further_identifiers where person_id = any(${[...ids]}::bigint[])`;
  await deletePersonKeys(tx, ids);
  await tx`delete from person_search where id = any(${[...ids]}::bigint[])`;
  await tx`delete from person_briefs where id = any(${[...ids]}::bigint[])`;
  await tx`delete from person_records where id = any(${[...ids]}::bigint[])`;
  await tx`update officers set person_id = null where person_id = any(${[...ids]}::bigint[])`;
  await decrementLookupCounts(tx, ids);
  const deleted = await tx`delete from persons where id = any(${[...ids]}::bigint[])`;
  return deleted.count;
}
