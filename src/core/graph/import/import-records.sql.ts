/**
 * The merge of a staged batch of people or companies, in one transaction: compare, write changes, replace
 * identifiers, suppress. Equal rows are neither written nor locked. The texts are built from the tables below and
 * the field tables, never from input.
 */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { runConstant } from '../graph.sql.ts';
import { personCodes } from '../identifier-kinds.ts';
import { entityCodes } from '../source-entities.ts';
import { storedName } from './company-facts.sql.ts';
import { companyColumns } from './company-row.ts';
import { personColumns } from './person-row.ts';

/** The tables of one kind of record. */
export interface RecordTables {
  records: 'persons' | 'companies';
  identifiers: 'person_identifiers' | 'company_identifiers';
  /** Column of the look-up table with the record's id. */
  owner: 'person_id' | 'company_id';
  columns: readonly string[];
  /** Table that collects the ids of records to render. */
  rendered: 'stage_persons_to_render' | 'stage_companies_to_render';
}

export const personTables: RecordTables = {
  records: 'persons',
  identifiers: 'person_identifiers',
  owner: 'person_id',
  columns: personColumns.map((column) => column.column),
  rendered: 'stage_persons_to_render',
};

export const companyTables: RecordTables = {
  records: 'companies',
  identifiers: 'company_identifiers',
  owner: 'company_id',
  columns: companyColumns.map((column) => column.column),
  rendered: 'stage_companies_to_render',
};

const times = new Set(['created_at', 'when_updated']);

/**
 * Creates the lists of records to render at the end of the transaction. The texts of a whole batch are
 * rendered in memory: they go into two tables.
 */
export async function createRenderLists(tx: Sql): Promise<void> {
  await runConstant(
    tx,
    `set local work_mem = '128MB';
     create temp table stage_persons_to_render (id bigint not null) on commit drop;
     create temp table stage_companies_to_render (id bigint not null) on commit drop;`,
  );
}

/** Returns true when one of these records is already stored. */
export async function isAnyStored(
  tx: Sql,
  { records }: RecordTables,
  ids: readonly number[],
): Promise<boolean> {
  const [found] = await tx<{ isStored: boolean }[]>`
    select exists (
      select from ${tx(records)} where id = any(${[...ids]}::bigint[])) as is_stored`;
  return must(found, 'one row').isStored;
}

/** Creates the stage of a batch: the columns of the record's tables, without their constraints. */
export async function createRecordStage(tx: Sql, tables: RecordTables): Promise<void> {
  const { records, identifiers, owner, columns } = tables;
  await runConstant(
    tx,
    `create temp table stage_records on commit drop as
       select ${columns.join(', ')} from ${records} with no data;
     create temp table stage_identifiers on commit drop as
       select value, kind, ${owner} as id from ${identifiers} with no data;
     create temp table stage_directors on commit drop as
       select company_id, name, role, person_id from officers with no data;
     create temp table stage_directed (id bigint not null) on commit drop;`,
  );
}

/** Compares the stage with the stored records, once for all following steps. */
export async function compareRecords(tx: Sql, tables: RecordTables): Promise<void> {
  const { records, columns } = tables;
  const staged = columns.map((name) =>
    times.has(name) ? `coalesce(s.${name}, r.${name})` : `s.${name}`,
  );
  await runConstant(
    tx,
    `analyze stage_records (id);
     create temp table stage_changes on commit drop as
       select s.id, r.id is null as is_new,
         r.id is not null and (${columns.map((name) => `r.${name}`).join(', ')})
           is distinct from (${staged.join(', ')}) as is_changed,
         r.name is distinct from s.name as is_renamed,
         false as is_touched
       from stage_records s left join ${records} r on r.id = s.id;
     analyze stage_changes;`,
  );
}

/** Marks all records of the batch as new, as `compareRecords` would. */
export async function createChangesOfNew(tx: Sql): Promise<void> {
  await runConstant(
    tx,
    `create temp table stage_changes (id bigint not null, is_new boolean default true,
       is_changed boolean default false, is_renamed boolean default true,
       is_touched boolean default false) on commit drop`,
  );
}

/**
 * Inserts the new records and updates the changed ones. Times that the import does not give are kept, or set to
 * `importedAt`: both on insert, only `when_updated` on update.
 */
export async function writeRecords(
  tx: Sql,
  tables: RecordTables,
  importedAt: string,
): Promise<void> {
  const { records, columns } = tables;
  const insertedCells = columns.map((name) =>
    times.has(name) ? `coalesce(s.${name}, $1::timestamp)` : `s.${name}`,
  );
  await runConstant(
    tx,
    `insert into ${records} (${columns.join(', ')})
     select ${insertedCells.join(', ')}
     from stage_records s join stage_changes c on c.id = s.id and c.is_new`,
    [importedAt],
  );
  const assignments = columns
    .filter((name) => name !== 'id')
    .map((name) => {
      if (name === 'created_at') return 'created_at = coalesce(s.created_at, r.created_at)';
      if (name === 'when_updated') return 'when_updated = coalesce(s.when_updated, $1::timestamp)';
      return `${name} = s.${name}`;
    });
  await runConstant(
    tx,
    `update ${records} r set ${assignments.join(', ')}
     from stage_records s join stage_changes c on c.id = s.id and c.is_changed
     where r.id = s.id`,
    [importedAt],
  );
  await listChanged(tx, tables);
}

/** Lists the new and changed records for rendering. */
export async function listChanged(tx: Sql, { rendered }: RecordTables): Promise<void> {
  await runConstant(
    tx,
    `insert into ${rendered} select id from stage_changes where is_new or is_changed`,
  );
}

/** Replaces the identifiers of the staged records with those of the stage. */
export async function replaceIdentifiers(tx: Sql, tables: RecordTables): Promise<void> {
  const { identifiers, owner } = tables;
  await runConstant(
    tx,
    `with removed as (
       delete from ${identifiers} i using stage_changes c
       where i.${owner} = c.id and not c.is_new and not exists (
         select from stage_identifiers s
         where s.value = i.value and s.kind = i.kind and s.id = i.${owner})
       returning i.${owner} as id
     ), added as (
       insert into ${identifiers} (value, kind, ${owner})
       select value, kind, id from stage_identifiers order by value
       on conflict do nothing
       returning ${owner} as id
     )
     update stage_changes set is_touched = true
     where not is_new and id in (select id from removed union all select id from added)`,
  );
}

/**
 * Suppresses people of the batch who hold an opted-out identifier; their identifiers are read one by one, because the
 * planner might read those of all people to find some. A hash is of kind and value, or of the value
 * alone when it came from a list of hashes.
 */
export async function suppressOptedOut(tx: Sql): Promise<void> {
  const kinds = personCodes.map(({ code, kind }) => `(${code}, '${kind}')`).join(', ');
  await runConstant(
    tx,
    `with holder as (
       select distinct c.id
       from stage_changes c
       cross join lateral (
         select value, kind from person_identifiers where person_id = c.id offset 0) s
       join (values ${kinds}) k (code, name) on k.code = s.kind
       where exists (select from suppressed_identifiers)
         and (sha256(convert_to(k.name || ':' || s.value, 'UTF8'))
             in (select value_sha256 from suppressed_identifiers)
           or k.name in ('email', 'phone') and sha256(convert_to(s.value, 'UTF8'))
             in (select value_sha256 from suppressed_identifiers)))
     select suppress_people(array_agg(id)) from (
       select id from holder
       union select m.id from merged_ids m join holder on holder.id = m.into_id
       where m.entity = ${entityCodes.person}) p
     having count(*) > 0`,
  );
}

/**
 * Replaces a company's officers without a day of appointment by the directors that it names; a list of directors
 * has no dates, so dated officers stay.
 */
export async function replaceDirectors(tx: Sql): Promise<void> {
  await runConstant(
    tx,
    `with removed as (
       delete from officers o using stage_directed d
       where o.company_id = d.id and o.appointed_on is null and not exists (
         select from stage_directors s
         where s.company_id = o.company_id and s.name = o.name and s.role = o.role)
       returning o.company_id as id
     ), added as (
       insert into officers as o (company_id, name, role, person_id)
       select distinct on (company_id, stored_name, role) company_id, name, role, person_id
       from (
         select *, ${storedName('array(select distinct company_id from stage_directors)')} as stored_name
         from stage_directors) s
       where not exists (
         select from officers known
         where known.company_id = s.company_id and known.name = s.name and known.role = s.role
           and known.appointed_on is null and known.person_id is not distinct from s.person_id)
       on conflict (company_id, name, role, appointed_on)
         do update set person_id = excluded.person_id
       returning o.company_id as id
     )
     update stage_changes set is_touched = true
     where not is_new and id in (select id from removed union all select id from added)`,
  );
}

/**
 * Lists the people of new or renamed companies, whose company name changes, and those of companies whose head
 * count changed, which is searchable.
 */
export async function listPeopleOfChangedCompanies(tx: Sql): Promise<void> {
  await runConstant(
    tx,
    `insert into stage_persons_to_render
     select p.id from persons p join stage_changes c on c.id = p.company_id
     where c.is_renamed and p.company_id <> 0
     union all
     select s.id from stage_changes c
     join companies o on o.id = c.id
     join person_search s on s.company_id = c.id
     cross join lateral (select number_range(o.head_count) as staff) range
     where c.is_changed and (s.staff_min, s.staff_max) is distinct from
       (coalesce(staff[1], o.employees), coalesce(staff[2], o.employees))`,
  );
}

/** Returns the counts of the batch. */
export async function countChanges(tx: Sql): Promise<{ inserted: number; updated: number }> {
  const [counts] = await runConstant<{ inserted: number; updated: number }>(
    tx,
    `select count(*) filter (where is_new) as inserted,
       count(*) filter (where not is_new and (is_changed or is_touched)) as updated
     from stage_changes`,
  );
  return must(counts, 'counts');
}

/** Returns the ISO alpha-2 codes of the countries that have one, by id. */
export async function selectCountryCodes(sql: Sql): Promise<Map<number, string>> {
  const rows = await sql<{ id: number; iso2: string }[]>`
    select id, iso2 from countries where iso2 is not null`;
  return new Map(rows.map((row) => [row.id, row.iso2]));
}
