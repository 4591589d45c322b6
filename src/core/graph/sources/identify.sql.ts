/**
 * Compares the staged rows of an import with what the source said before, and writes the difference: records,
 * their versions for undoing, and the values by which they are found. All in one transaction.
 */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { recordFormerKeys } from '../former-identifiers.sql.ts';
import { entityCodes, identifiedCodes } from '../source-entities.ts';
import { rowStates } from './source-record.ts';

/** Ids of records that no file of one's own names: from here on, by their number. */
export const FIRST_ID = 1_000_000_000_000;

/** An expression: the `hash` of a company that its source hides. Undoing the import does not show it again; a later file may. */
export function hiddenHash(sql: Sql): ReturnType<Sql> {
  return sql`'\\x00'::bytea`;
}

/** A condition: `row`, of the stage or a comparison, says that its source hides a company. */
function hidesCompany(sql: Sql, row: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(${row}.state = ${rowStates.optedOut} and ${row}.entity = ${entityCodes.company})`;
}

export interface ImportRow {
  id: number;
  source: string;
  asOf: string;
}

export async function insertImport(
  tx: Sql,
  given: {
    source: string;
    files: readonly string[];
    sha256: Buffer;
    asOf: string;
    snapshotOf: readonly string[] | null;
  },
): Promise<number> {
  const { source, files, sha256, asOf } = given;
  const [row] = await tx<{ id: number }[]>`
    insert into imports (source, files, sha256, as_of, snapshot_of)
    values (${source}, ${[...files]}::text[], ${sha256}, ${asOf},
      ${given.snapshotOf === null ? null : given.snapshotOf.join(' ')})
    returning id`;
  return must(row, 'import').id;
}

/** Returns the day of the newest snapshot of these records, or null. */
export async function readLastSnapshot(
  tx: Sql,
  source: string,
  snapshotOf: readonly string[],
): Promise<string | null> {
  const [row] = await tx<{ asOf: string | null }[]>`
    select max(as_of)::text as as_of from imports
    where source = ${source} and snapshot_of = ${snapshotOf.join(' ')} and state in ('running', 'done')`;
  return row?.asOf ?? null;
}

/**
 * Compares the last row of each key that could be read with the stored record into `changes`: `kind` is new, changed, ended,
 * same, or unknown for the end of a record that was never there. A key without a record gets its number here (`is_fresh`), and
 * `staged` finds the row. A record that is newer than the file stays as it is. `is_late_end`: the record had ended before, on
 * an earlier day, or for another reason than that its source hides the company.
 */
export async function compareRows(tx: Sql, { source, asOf }: ImportRow): Promise<void> {
  const hides = hidesCompany(tx, tx`s`);
  await tx`
    create temp table changes on commit drop as
    select s.staged, s.is_counted, s.state, s.entity, s.key, r.number is null as is_fresh, r.id,
      case when r.number is null and s.state <> 2 then nextval('source_records_number_seq') else r.number end as number,
      case
        when r.as_of > ${asOf}::date then 'same'
        -- What ended before it is known: an older file must not bring it.
        when s.state in (${rowStates.ended}, ${rowStates.optedOut}) and r.number is null then 'unknown'
        when s.state in (${rowStates.ended}, ${rowStates.optedOut}) then case when r.record is null then 'same' else 'ended' end
        when s.state = ${rowStates.seen} then 'same'
        when r.record is null then 'new'
        when r.hash <> s.hash then 'changed'
        else 'same'
      end as kind,
      s.state in (${rowStates.ended}, ${rowStates.optedOut}) and r.record is null and (r.as_of < ${asOf}::date
        or r.as_of = ${asOf}::date and ${hides} and r.hash <> ${hiddenHash(tx)}) as is_late_end
    from (
      select distinct on (key) ctid as staged, is_counted, state, entity, key, hash from import_rows
      order by key, state = ${rowStates.seen}, line desc, place desc) s
    left join source_records r on r.source = ${source} and r.key = s.key`;
  await tx`create index on changes (key)`;
  await tx`analyze changes`;
}

/** Discards a comparison, so that it can be repeated. */
export async function forgetComparison(tx: Sql): Promise<void> {
  await tx`drop table changes`;
}

/** Leaves every stored record as it is: the file is older than what is known. */
export async function ignoreChanges(tx: Sql): Promise<void> {
  await tx`update changes set kind = 'same'`;
}

export interface Gone {
  gone: number;
  /** Records that there were. */
  before: number;
  /** The letters of a part of a register that lacks most of its records, such as `SC`: numbers of companies begin with them. */
  letters: string | null;
}

/**
 * Adds the records that a snapshot no longer names to `changes`; returns how many. A row that cannot be read names its stored
 * record, and the person that it is. `few` missing records of a part say nothing.
 */
export async function addGone(
  tx: Sql,
  { source, asOf }: ImportRow,
  prefixes: readonly string[],
  { few, shareMax }: { few: number; shareMax: number },
): Promise<Gone> {
  const [row] = await tx<Gone[]>`
    with people as (
      select r.record::json ->> '_person' as key from changes c join source_records r using (number)
      where c.state = ${rowStates.seen} and r.record is not null),
    live as (
      select r.number, r.id, r.entity, r.key, r.as_of from source_records r
      where r.source = ${source} and r.record is not null
        and (exists (select from unnest(${[...prefixes]}::text[]) p where starts_with(r.key, p))
          -- The office of a person who was erased: the files have offices.
          or r.entity = ${entityCodes.officer} and starts_with(r.key, 'erased:')
            and exists (select from changes c where c.entity = ${entityCodes.officer}))),
    gone as (
      insert into changes (is_counted, state, entity, key, is_fresh, number, id, kind)
      select false, 1, l.entity, l.key, false, l.number, l.id, 'gone' from live l
      where l.as_of <= ${asOf}::date and not exists (select from changes c where c.key = l.key)
        and not exists (select from people p where p.key = l.key)
      returning key),
    missing as (
      select left(key, 2) as letters, count(*) from gone group by 1),
    stored as (
      select left(key, 2) as letters, count(*) from live group by 1)
    select (select count(*) from gone)::int as gone, (select count(*) from live)::int as before, (
      select letters from missing m join stored s using (letters)
      where letters ~ '^[A-Z]{2}$' and m.count > ${few} and m.count > ${shareMax}::float8 * s.count
      order by m.count desc limit 1) as letters`;
  return must(row, 'counts');
}

/** Counts the changes: those of the file's own rows, and the records that ended. */
export async function countChanges(
  tx: Sql,
): Promise<{ new: number; changed: number; gone: number }> {
  const [row] = await tx<{ new: number; changed: number; gone: number }[]>`
    select count(*) filter (where is_counted and kind = 'new')::int as new,
      count(*) filter (where is_counted and (kind = 'changed' or kind = 'ended' and state = ${rowStates.ended}))::int as changed,
      count(*) filter (where kind = 'ended' and is_counted or kind = 'gone' and entity in (
        select entity from import_rows where is_counted and state = ${rowStates.record}))::int as gone
    from changes`;
  return must(row, 'counts');
}

/**
 * Writes the changes into the records and their values; `touched` then lists the numbers of all of them. A person who was
 * erased since the comparison stays so.
 */
export async function writeChanges(tx: Sql, { id, source, asOf }: ImportRow): Promise<void> {
  await tx`
    create temp table touched on commit drop as
    select number, entity, case when not is_fresh then id when entity in ${tx(identifiedCodes)} then ${FIRST_ID}::bigint + number end as id
    from changes where kind <> 'same'`;
  const stored = tx`select number from changes where kind <> 'same' and not is_fresh`;
  const { count: before } = await tx`
    insert into source_record_versions (import_id, number, before_import_id, before_as_of, before_hash, before_record)
    select ${id}, number, import_id, as_of, hash, record from source_records where number in (${stored})`;
  await tx`
    create temp table values_before on commit drop as
    select distinct value, is_reference from source_keys where number in (${stored})`;
  await recordFormerKeys(tx, tx`select number from changes where kind in ('ended', 'gone')`);
  await tx`delete from source_keys where number in (${stored})`;
  const hides = hidesCompany(tx, tx`c`);
  const hash = tx`case when ${hides} then ${hiddenHash(tx)} else coalesce(s.hash, '') end`;
  // An older file does not bring what had ended before, until this end is undone; that of a hidden company stays.
  await tx`
    insert into source_record_versions (import_id, number, before_import_id, before_as_of, before_hash, before_record)
    select ${id}, number, r.import_id, r.as_of, r.hash, r.record from changes c join source_records r using (number)
    where c.is_late_end and not ${hides}`;
  const { count: written } = await tx`
    with late as (
      update source_records r set as_of = ${asOf}, hash = case when ${hides} then ${hiddenHash(tx)} else r.hash end,
        import_id = case when ${hides} then r.import_id else ${id} end
      from changes c where c.is_late_end and r.number = c.number and r.as_of <> 'infinity')
    update source_records r
    set import_id = ${id}, as_of = ${asOf}, hash = ${hash}, record = s.record
    from changes c
    left join import_rows s on s.ctid = c.staged and s.state = ${rowStates.record}
    where r.number = c.number and c.kind <> 'same' and not c.is_fresh and r.as_of <> 'infinity'
      and r.key = c.key`;
  if (written < before) await leaveErased(tx, id);
  await tx`
    insert into source_records (number, source, key, entity, id, import_id, as_of, hash, record)
    overriding system value
    select c.number, ${source}, c.key, c.entity,
      case when c.entity in ${tx(identifiedCodes)} then ${FIRST_ID}::bigint + c.number end, ${id}, ${asOf}, ${hash}, s.record
    from changes c join import_rows s on s.ctid = c.staged
    where c.kind <> 'same' and c.is_fresh`;
  await tx`
    insert into source_keys (value, is_reference, number)
    select distinct v.value, v.is_reference, c.number
    from changes c
    join import_rows s on s.ctid = c.staged
    cross join lateral (
      select unnest(s.keys), false union all select unnest(s.refs), true) v (value, is_reference)
    where c.kind in ('new', 'changed')
    order by 1, 2, 3`;
  await tx`create index on touched (number)`;
  await tx`analyze touched`;
}

/** Takes the records of people who were erased meanwhile, and their offices, out of the changes of an import. */
async function leaveErased(tx: Sql, id: number): Promise<void> {
  await tx`
    update changes c set kind = 'same' from source_records r
    where r.number = c.number and c.kind <> 'same' and not c.is_fresh
      and (r.as_of = 'infinity' or r.key <> c.key)`;
  await tx`
    delete from source_record_versions v using source_records r, changes c
    where v.import_id = ${id} and r.number = v.number and c.number = v.number
      and (r.as_of = 'infinity' or r.key <> c.key)`;
}

export interface ImportCounts {
  /** rows = new + changed + same + rejected + suppressed. */
  rows: number;
  new: number;
  changed: number;
  same: number;
  /** Earlier records that the file ended. */
  gone: number;
  /** New and changed records that are a part of a person or company of another source. */
  merged: number;
  rejected: number;
  suppressed: number;
}

/** Records the counts of an import. */
export async function writeCounts(tx: Sql, id: number, counts: ImportCounts): Promise<void> {
  await tx`
    update imports set row_count = ${counts.rows}, new_count = ${counts.new}, changed_count = ${counts.changed},
      same_count = ${counts.same}, gone_count = ${counts.gone}, merged_count = ${counts.merged},
      rejected_count = ${counts.rejected}, suppressed_count = ${counts.suppressed}
    where id = ${id}`;
}

/** Returns true when an import, or its undoing, has not ended. */
export async function hasUnfinishedImports(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from imports where state in ('running', 'undoing')) as found`;
  return must(row, 'one row').found;
}

/** Ends all imports whose records are built. */
export async function finishImports(sql: Sql): Promise<void> {
  await sql`
    update imports set state = case state when 'running' then 'done' else 'undone' end, finished_at = now(),
      problem = null
    where state in ('running', 'undoing')`;
}

/** Stores why the imports whose records are not built have not ended. */
export async function noteProblem(sql: Sql, problem: string): Promise<void> {
  await sql`update imports set problem = ${problem} where state in ('running', 'undoing')`;
}

/** Sorts and joins of a whole file stay in memory as far as they can. */
export async function growMemory(tx: Sql): Promise<void> {
  await tx`set local work_mem = '128MB'`;
}

const importLock = (sql: Sql) => sql`hashtextextended('import ' || current_schema(), 0)`;

/** Takes the lock of imports for the session, alone or `shared`; false while another session has it otherwise. */
export async function tryLockImports(connection: Sql, shared = false): Promise<boolean> {
  const key = importLock(connection);
  const [row] = await connection<{ taken: boolean }[]>`
    select ${shared ? connection`pg_try_advisory_lock_shared(${key})` : connection`pg_try_advisory_lock(${key})`} as taken`;
  return row?.taken ?? false;
}

/** Throws when the session, and with it the lock, has ended. */
export async function assertStillLocked(connection: Sql): Promise<void> {
  await connection`select`;
}

export async function unlockImports(connection: Sql, shared = false): Promise<void> {
  const key = importLock(connection);
  await connection`
    select ${shared ? connection`pg_advisory_unlock_shared(${key})` : connection`pg_advisory_unlock(${key})`}`;
}
