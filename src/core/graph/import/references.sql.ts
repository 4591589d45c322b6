/** Writes reference rows to their tables, and lists the records that show them for rendering. */
import type { Sql } from '../../db/client.ts';
import { runConstant } from '../graph.sql.ts';
import { lookupCodes, lookupIdsFrom } from '../lookup-ids.ts';
import { nameLookups } from '../lookup-values.sql.ts';
import { DERIVED_ID_MIN, isDerivedId } from '../vocabulary/derived-ids.ts';
import type { ReferenceRow, ReferenceRows, ReferenceTable } from './references.ts';

/** The columns besides id and name; `empty` is the value that means absent. */
const furtherColumns = {
  countries: [{ column: 'iso2', field: 'iso2', type: 'text', empty: null }],
  regions: [{ column: 'country_id', field: 'countryId', type: 'int', empty: '0' }],
  cities: [
    { column: 'country_id', field: 'countryId', type: 'int', empty: '0' },
    { column: 'region_id', field: 'regionId', type: 'int', empty: '0' },
    {
      column: 'created_at',
      field: 'createdAt',
      type: 'timestamp',
      empty: "timestamp '1970-01-01'",
    },
  ],
  industries: [],
  positions: [],
} as const satisfies Record<
  ReferenceTable,
  readonly { column: string; field: keyof ReferenceRow; type: string; empty: string | null }[]
>;

interface Column {
  column: string;
  field: string;
  type: string;
  empty: string | null;
}

function columnsOf(table: ReferenceTable): readonly Column[] {
  return [{ column: 'name', field: 'name', type: 'text', empty: "''" }, ...furtherColumns[table]];
}

export interface MergedReferences {
  inserted: number[];
  updated: number[];
}

/**
 * Merges rows found in records: stated values replace stored ones, derived values only fill gaps, and stored
 * values are never emptied. Rows without any name are not created.
 */
export async function mergeReferences(
  tx: Sql,
  table: ReferenceTable,
  rows: ReferenceRows,
): Promise<MergedReferences> {
  const cells = columnsOf(table).map(({ column, empty }) =>
    column === 'name'
      ? `case when id >= ${DERIVED_ID_MIN} and fold(t.name) = fold(derived.name)
           then greatest(t.name collate "C", derived.name collate "C")
           else coalesce(stated.name, nullif(t.name, ''), derived.name, '') end as name`
      : empty === null
        ? `coalesce(stated.${column}, t.${column}, derived.${column}) as ${column}`
        : `coalesce(stated.${column}, nullif(t.${column}, ${empty}), derived.${column}, ${empty})
         as ${column}`,
  );
  const given = `
    select id, ${cells.join(', ')}
    from ${recordset('$1', table)} stated
    full join ${recordset('$2', table)} derived using (id)
    left join ${table} t using (id)`;
  return write(tx, table, given, [rows.stated, rows.derived]);
}

/** Returns those of the derived ids of these rows under which another value is stored. */
export async function findTakenIds(
  tx: Sql,
  table: 'positions' | 'industries' | 'cities',
  rows: ReadonlyMap<number, ReferenceRow>,
): Promise<number[]> {
  const derived = [...rows.values()].filter(({ id }) => isDerivedId(id));
  if (derived.length === 0) return [];
  const isElsewhere = table === 'cities' ? 'or t.country_id <> g.country_id' : '';
  const taken = await runConstant<{ id: number }>(
    tx,
    `select id from ${recordset('$1', table)} g join ${table} t using (id)
     where fold(t.name) <> fold(g.name) ${isElsewhere}`,
    [JSON.stringify(derived)],
  );
  return taken.map(({ id }) => id);
}

/** Merges the rows of a reference file: each completely replaces the stored row. */
export async function replaceReferences(
  tx: Sql,
  table: ReferenceTable,
  rows: ReadonlyMap<number, ReferenceRow>,
): Promise<MergedReferences> {
  const cells = columnsOf(table).map(
    ({ column, empty }) => `coalesce(stated.${column}, ${empty ?? 'null'}) as ${column}`,
  );
  const given = `select id, ${cells.join(', ')} from ${recordset('$1', table)} stated`;
  return write(tx, table, given, [rows]);
}

async function write(
  tx: Sql,
  table: ReferenceTable,
  given: string,
  parameters: readonly ReadonlyMap<number, ReferenceRow>[],
): Promise<MergedReferences> {
  const columns = columnsOf(table).map(({ column }) => column);
  const rows = await runConstant<{ id: number; isNew: boolean }>(
    tx,
    `with given as (${given}), changed as (
       select g.*, t.id is null as is_new
       from given g left join ${table} t using (id)
       where g.name <> '' and (t.id is null
         or (${columns.map((name) => `t.${name}`).join(', ')})
           is distinct from (${columns.map((name) => `g.${name}`).join(', ')}))
     ), written as (
       insert into ${table} (id, ${columns.join(', ')})
       select id, ${columns.join(', ')} from changed
       on conflict (id) do update
         set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}
     )
     select id, is_new from changed`,
    parameters.map((map) => JSON.stringify([...map.values()])),
  );
  return {
    inserted: rows.filter((row) => row.isNew).map((row) => row.id),
    updated: rows.filter((row) => !row.isNew).map((row) => row.id),
  };
}

/** JSON rows with camelCase members as a derived table. */
function recordset(parameter: string, table: ReferenceTable): string {
  const members = columnsOf(table).map(({ field, type }) => `"${field}" ${type}`);
  const cells = columnsOf(table).map(({ field, column }) => `"${field}" as ${column}`);
  return `(select id, ${cells.join(', ')}
    from jsonb_to_recordset(${parameter}::text::jsonb) as j (id int, ${members.join(', ')}))`;
}

/** The written reference rows, by table. */
export type WrittenReferences = ReadonlyMap<ReferenceTable, MergedReferences>;

/** Lists the people and companies that show one of the written rows, and renames its lookup values. */
export async function followReferences(tx: Sql, written: WrittenReferences): Promise<void> {
  const rowsOf = (table: ReferenceTable) => written.get(table) ?? { inserted: [], updated: [] };
  const ids = (table: ReferenceTable) => [...rowsOf(table).inserted, ...rowsOf(table).updated];
  // A record gets a derived id with the row of the id: a new one is shown by no stored record.
  const shown = (table: ReferenceTable) => [
    ...rowsOf(table).inserted.filter((id) => !isDerivedId(id)),
    ...rowsOf(table).updated,
  ];
  const countries = ids('countries');
  const regions = ids('regions');
  const within = await tx<{ id: number }[]>`
    select id from cities
    where country_id = any(${countries}::int[]) or region_id = any(${regions}::int[])`;
  const citiesWithin = within.map((row) => row.id);
  const cities = [...shown('cities'), ...citiesWithin];
  const industries = shown('industries');
  const positions = shown('positions');
  await nameLookups(tx, lookupCodes.jobTitles, ids('positions'));
  const regionsWithin = await tx<{ id: number }[]>`
    select id from regions where country_id = any(${countries}::int[])`;
  await nameLookups(tx, lookupCodes.locations, [
    ...ids('cities'),
    ...citiesWithin,
    ...[...regions, ...regionsWithin.map((row) => row.id)].map((id) => id + lookupIdsFrom.region),
    ...countries.map((id) => id + lookupIdsFrom.country),
  ]);
  await nameLookups(tx, lookupCodes.industries, ids('industries'));
  // No index finds the companies of a city.
  if ([cities, countries, regions, industries, positions].every(({ length }) => length === 0))
    return;
  // The search rows have indexes for all of these: for a new job title 20 pages are read there, instead of the
  // 90,000 pages of a million people's records.
  await tx`
    insert into stage_persons_to_render
    select id from person_search
    where city_id = any(${cities}::int[]) or country_id = any(${countries}::int[])
      or region_id = any(${regions}::int[]) or industry_id = any(${industries}::int[])
      or position_id = any(${positions}::int[])`;
  await tx`
    insert into stage_companies_to_render
    select id from companies
    where city_id = any(${cities}::int[]) or country_id = any(${countries}::int[])
      or region_id = any(${regions}::int[]) or industry_id = any(${industries}::int[])`;
}
