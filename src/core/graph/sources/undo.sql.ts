/** Statements that take an import of a source back, and that list imports. */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { recordFormerKeys } from '../former-identifiers.sql.ts';
import { entityCodes } from '../source-entities.ts';
import { hiddenHash } from './identify.sql.ts';

export interface StoredImport {
  id: number;
  source: string;
  files: string[];
  asOf: string;
  state: string;
  startedAt: Date;
  /** The last failure of building its records; null while there is none. */
  problem: string | null;
  rowCount: number;
  newCount: number;
  changedCount: number;
  sameCount: number;
  goneCount: number;
  mergedCount: number;
  rejectedCount: number;
  suppressedCount: number;
}

/** Returns imports of sources before an id, the latest first. */
export async function listImports(
  sql: Sql,
  limit: number,
  before: number | null,
): Promise<StoredImport[]> {
  return sql<StoredImport[]>`
    select id, source, files, as_of::text, state, started_at, problem, row_count, new_count, changed_count, same_count,
      gone_count, merged_count, rejected_count, suppressed_count
    from imports ${before === null ? sql`` : sql`where id < ${before}`} order by id desc limit ${limit}`;
}

export async function readImport(sql: Sql, id: number): Promise<StoredImport | undefined> {
  const [row] = await sql<StoredImport[]>`
    select id, source, files, as_of::text, state, started_at, problem, row_count, new_count, changed_count, same_count,
      gone_count, merged_count, rejected_count, suppressed_count
    from imports where id = ${id}`;
  return row;
}

/**
 * Returns the later imports that build on one: those that changed its records, and those of its source that found
 * records as it left them.
 */
export async function listBuiltOn(sql: Sql, id: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with recursive built (id) as (
      select ${id}::bigint
      union
      select later.id from built b
      join imports earlier on earlier.id = b.id
      join imports later on later.id > b.id and later.state in ('running', 'done') and (
        later.source = earlier.source and later.same_count > 0
        or exists (select from source_record_versions v
          where v.before_import_id = b.id and v.import_id = later.id)))
    select id from built where id <> ${id} order by id desc`;
  return rows.map((row) => row.id);
}

/**
 * A condition: a record `r` of an undone import is as it was before. A person who was erased stays so, and so does a hidden
 * company.
 */
function isRestored(sql: Sql): ReturnType<Sql> {
  return sql`(r.as_of <> 'infinity' and r.hash <> ${hiddenHash(sql)})`;
}

/** A condition: undoing these imports, an array, leaves the record `r` as one of them found it, hidden. */
function isHiddenBetween(sql: Sql, imports: ReturnType<Sql>): ReturnType<Sql> {
  return sql`exists (
    select from source_record_versions h
    where h.number = r.number and h.import_id = any(${imports}) and h.before_hash = ${hiddenHash(sql)})`;
}

/**
 * Counts the records that undoing these imports would change: `restored` are then as an import before these left them,
 * `ended` are gone, and `companies` of them are companies.
 */
export async function countRestored(
  sql: Sql,
  ids: readonly number[],
): Promise<{ restored: number; ended: number; companies: number }> {
  const imports: ReturnType<Sql> = sql`${[...ids]}::bigint[]`;
  const [row] = await sql<{ restored: number; ended: number; companies: number }[]>`
    select count(*) filter (where before.record is not null)::int as restored,
      count(*) filter (where before.record is null and r.record is not null)::int as ended,
      count(*) filter (where before.record is null and r.record is not null and r.entity = ${entityCodes.company})::int as companies
    from source_records r
    left join lateral (
      select v.before_record as record from source_record_versions v
      where v.number = r.number and v.import_id = any(${imports}) and v.before_import_id <> all(${imports})
        and not ${isHiddenBetween(sql, imports)}) before
      on true
    where r.import_id = any(${imports}) and ${isRestored(sql)}`;
  return must(row, 'counts');
}

/**
 * Counts the live records of other imports, such as people and officers, that refer to a company which undoing these
 * imports ends, and to no other one. Takes about a second for 20,000 companies.
 */
export async function countWithoutCompany(sql: Sql, ids: readonly number[]): Promise<number> {
  const imports: ReturnType<Sql> = sql`${[...ids]}::bigint[]`;
  const isEnded = sql`(r.import_id = any(${imports}) and ${isRestored(sql)} and (not exists (
    select from source_record_versions v
    where v.number = r.number and v.import_id = any(${imports}) and v.before_import_id <> all(${imports})
      and v.before_record is not null) or ${isHiddenBetween(sql, imports)}))`;
  const [row] = await sql<{ count: number }[]>`
    with referring as materialized (
      select distinct ref.number from source_records r
      join source_keys k on k.number = r.number and not k.is_reference
      join source_keys ref on ref.value = k.value and ref.is_reference
      where r.entity = ${entityCodes.company} and r.record is not null and ${isEnded})
    select count(*)::int as count from referring f
    join source_records o on o.number = f.number and o.record is not null and o.import_id <> all(${imports})
    where not exists (
      select from source_keys ref
      join source_keys k on k.value = ref.value and not k.is_reference
      join source_records r on r.number = k.number
      where ref.number = f.number and ref.is_reference and r.entity = ${entityCodes.company} and r.record is not null and not ${isEnded})`;
  return must(row, 'count').count;
}

/** A record whose state before the import is restored. */
export interface RestoredRecord {
  number: number;
  source: string;
  key: string;
  entity: number;
  record: string;
}

/**
 * Restores what an import changed and ends what it brought, which keeps its key and id. Lists all of them in
 * `touched`, and the values that they had in `values_before`.
 */
export async function restoreRecords(tx: Sql, id: number): Promise<void> {
  await tx`
    create temp table touched on commit drop as
    select number, entity, id from source_records r where import_id = ${id} and ${isRestored(tx)}`;
  await tx`
    create temp table values_before on commit drop as
    select distinct k.value, k.is_reference from source_keys k join touched t on t.number = k.number`;
  await recordFormerKeys(
    tx,
    tx`select number from touched except
      select number from source_record_versions where import_id = ${id} and before_record is not null`,
  );
  await tx`delete from source_keys k using touched t where k.number = t.number`;
  await tx`
    update source_records r
    set import_id = coalesce(v.before_import_id, 0), as_of = coalesce(v.before_as_of, '-infinity'),
      hash = coalesce(v.before_hash, ''), record = v.before_record
    from touched t
    left join source_record_versions v on v.import_id = ${id} and v.number = t.number
    where r.number = t.number and r.as_of <> 'infinity'`;
  await tx`delete from source_record_versions where import_id = ${id}`;
  await tx`update imports set state = 'undoing' where id = ${id}`;
}

/** Returns some of the restored records that live, after a number, in their order. */
export async function readRestored(
  tx: Sql,
  after: number,
  limit: number,
): Promise<RestoredRecord[]> {
  return tx<RestoredRecord[]>`
    select r.number, r.source, r.key, r.entity, r.record from touched t join source_records r using (number)
    where r.record is not null and r.number > ${after} order by r.number limit ${limit}`;
}

/** Adds the values of records. */
export async function insertKeys(
  tx: Sql,
  keys: readonly { number: number; value: string; isReference: boolean }[],
): Promise<void> {
  await tx`
    insert into source_keys (value, is_reference, number)
    select distinct value, is_reference = 'true', number
    from unnest(${keys.map((key) => key.value)}::text[], ${keys.map((key) => String(key.isReference))}::text[],
      ${keys.map((key) => key.number)}::bigint[]) k (value, is_reference, number)
    on conflict do nothing`;
}
