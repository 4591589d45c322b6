/** The stage of an import of a source: all rows of its files, before anything is written. */
import type { Sql } from '../../db/client.ts';
import { copyInto } from '../../db/copy-into.ts';
import { must } from '../../lib/assert.ts';
import { erasedKey, erasedKeysOf, holderIn, namelessOffice } from '../erased-records.sql.ts';
import { copyLine } from '../import/copy-text.ts';
import { entityCodes, factCodes } from '../source-entities.ts';
import { HOLDER_MARK, keyReference, rowStates } from './source-record.ts';

/** One row of the stage; see the table. */
export interface StagedRow {
  /** As `openPlaces`. */
  line: number;
  place: number;
  isCounted: boolean;
  state: number;
  entity: number;
  key: string;
  /** MD5 of the record in hexadecimal; empty without a record. */
  hash: string;
  record: string | null;
  keys: readonly string[];
  refs: readonly string[];
}

const columns = [
  'line',
  'place',
  'is_counted',
  'state',
  'entity',
  'key',
  'hash',
  'record',
  'keys',
  'refs',
];

/** More lines than a file of an import has. */
const LINES = 2 ** 33;

/**
 * Returns the function that gives the row of a line its place in the order of all files. Lines of each file begin at 1
 * again, and rows of two files must not be taken for one.
 */
export function openPlaces(): (line: number) => number {
  let [file, last] = [0, -1];
  return (line) => {
    if (line <= last) file += 1;
    last = line;
    return file * LINES + line;
  };
}

export async function stageRows(tx: Sql, rows: readonly StagedRow[]): Promise<void> {
  await copyInto(tx, { table: 'import_rows', columns }, linesOf(rows));
}

function* linesOf(rows: readonly StagedRow[]): Generator<string> {
  for (const row of rows) {
    const { line, place, isCounted, state, entity, key, hash, record, keys, refs } = row;
    yield copyLine([
      line,
      place,
      isCounted ? 't' : 'f',
      state,
      entity,
      key,
      `\\x${hash}`,
      record,
      keys,
      refs,
    ]);
  }
}

/**
 * Gives the staged rows of erased people the keys that are kept of them; the same for their offices, also later ones, which then
 * have no name. Unless `isDryRun`, also keeps the keys that these people have now. Returns the number of kept keys. Call it
 * before `resolveHeldKeys`; a later call passes the returned number as `known`, and does nothing while that is the number.
 * `areResolved` is true when `resolveHeldKeys` has changed keys meanwhile.
 */
export async function nameErased(
  locked: Sql,
  source: string,
  { known = 0, isDryRun = false, areResolved = false },
): Promise<number> {
  const readKept = () => locked<{ key: string }[]>`${erasedKeysOf(locked, source)}`;
  let kept = await readKept();
  if (kept.length === known) return known;
  // As an array, in which each row is looked up: a join may compare each row with each key.
  const isKept = (key: ReturnType<Sql>): ReturnType<Sql> =>
    locked`${key} = any(${kept.map((one) => one.key)}::text[])`;
  const key = erasedKey(locked, locked`s.key`);
  if (!isDryRun && (await keepRenamed(locked, source, isKept(key)))) kept = await readKept();
  const withHolder: ReturnType<Sql> = locked`replace(s.key, ${HOLDER_MARK}, ' ')`;
  const held = erasedKey(locked, withHolder);
  if (!areResolved) await locked`update import_rows s set key = ${held} where ${isKept(held)}`;
  else {
    // By now a key may be an address alone, which another person had before.
    const holder = holderIn(locked, locked`s.record`);
    const named = erasedKey(locked, locked`(s.key || ' ' || ${holder})`);
    await locked`
      update import_rows s set key = case when ${isKept(named)} then ${named} else ${held} end
      where s.entity = ${entityCodes.person} and s.state = ${rowStates.record}
        and (${isKept(named)} or right(s.key, length(${holder}) + 1) = ' ' || ${holder} and ${isKept(held)})`;
  }
  // A part of a record has a key of its own.
  const own = keyReference(source, '');
  const whole = erasedKey(locked, locked`substr(o.key, length(${own}) + 1)`);
  await locked`
    update import_rows s set key = part.whole
    from (
      select r.ctid as row, ${whole} as whole from import_rows r cross join lateral unnest(r.keys) o (key)
      where r.entity = ${entityCodes.person} and starts_with(o.key, ${own}) and o.key <> ${own} || r.key and ${isKept(whole)}) part
    where s.ctid = part.row`;
  // Of a person without any address only the name is known. One of another place whose record stays is not that person.
  const name = erasedKey(locked, locked`split_part(s.key, ${HOLDER_MARK}, 1)`);
  await locked`
    update import_rows s set key = ${name}
    where starts_with(s.key, 'name:') and ${isKept(name)} and not exists (
      select from source_records o
      where o.source = ${source} and o.key = ${withHolder} and o.record is not null)`;
  const person = erasedKey(locked, locked`(s.record::json ->> '_person')`);
  await locked`
    update import_rows s set key = ${key},
      record = ${namelessOffice(locked, locked`s.record`, locked`coalesce(${person}, ${key})`)}
    where s.entity = ${entityCodes.officer} and s.state = ${rowStates.record} and (${isKept(person)} or ${isKept(key)})`;
  return kept.length;
}

/**
 * Keeps the keys that erased people have now, found by the keys of their offices in the staged rows `s`: the name may have
 * changed, or the file gives an office another number. One whose record stays is another person. Returns false when all were
 * known.
 */
async function keepRenamed(locked: Sql, source: string, isKept: ReturnType<Sql>): Promise<boolean> {
  const { count } = await locked`
    with office as materialized (
      select s.line, r.import_id, coalesce(r.record, (
        -- As it was last.
        select v.before_record from source_record_versions v
        where v.number = r.number and v.before_record is not null order by v.import_id desc limit 1
        ))::json ->> '_person' as person
      from import_rows s
      join source_records r on r.source = ${source} and r.key = ${erasedKey(locked, locked`s.key`)}
      where s.entity = ${entityCodes.officer} and ${isKept})
    insert into source_records (source, key, entity, id, import_id, as_of, hash)
    select ${source}, ${erasedKey(locked, locked`named.key`)}, ${entityCodes.person}, p.id, o.import_id, 'infinity', ''
    from office o
    join (
      select line, record::json ->> '_person' as key from import_rows
      where line = any(array(select line from office)) and entity = ${entityCodes.officer}
        and state = ${rowStates.record}) named using (line)
    left join source_records p on p.source = ${source} and p.key = o.person
    where named.key is not null and not exists (
      select from source_records known
      where known.source = ${source} and known.key = named.key and known.record is not null)
    on conflict (source, key) do nothing`;
  return count > 0;
}

/**
 * Gives the staged rows with a `heldKey` the key of a stored record: `address holder`, or the address alone for the one whose
 * name the stored record has, and for the only one of the file where no other is known at the address. So the order of the rows
 * decides nothing.
 */
export async function resolveHeldKeys(locked: Sql, source: string): Promise<void> {
  const reference = keyReference(source, '');
  await locked`analyze import_rows (key)`;
  await locked`
    with held as materialized (
      select staged, address, holder, address || ' ' || holder as own,
        count(*) over (partition by address) > 1 as is_shared
      from (select distinct key as staged, split_part(key, ${HOLDER_MARK}, 1) as address,
          substr(key, strpos(key, ${HOLDER_MARK}) + 1) as holder
        from import_rows where strpos(key, ${HOLDER_MARK}) > 0) h),
    resolved as (
      select h.staged, case
          when not h.is_shared and not exists (select from source_records o
            where o.source = ${source} and o.key >= h.address || ' ' and o.key < h.address || '!') then h.address
          when exists (select from source_records o where o.source = ${source} and o.key = h.own) then h.own
          when ${holderIn(locked, locked`r.record`)} = h.holder then h.address
          else h.own
        end as key
      from held h left join source_records r on r.source = ${source} and r.key = h.address)
    update import_rows s set key = r.key, keys = array_replace(s.keys, ${reference} || s.key, ${reference} || r.key)
    from resolved r where s.key = r.staged`;
}

/** Empties the stage, which holds people. */
export async function clearImportRows(sql: Sql): Promise<void> {
  await sql`truncate import_rows`;
}

/**
 * Removes staged officers and periods whose company is not in the graph, with the records of people that only
 * they name. Returns the counted ones for the rejects, in the order of the file.
 */
export async function takeRowsWithoutCompany(
  tx: Sql,
  codes: { registryNumber: number },
): Promise<{ line: number; record: string }[]> {
  // Not of the records, which are long.
  await tx`analyze import_rows (line, state, entity, key)`;
  const rows = await tx<{ line: number; place: number; record: string }[]>`
    with missing as (
      select s.line from import_rows s
      where s.entity in ${tx(factCodes)} and s.state = ${rowStates.record} and not exists (
        select from unnest(s.refs) ref
        where exists (select from source_keys k join source_records r using (number)
            where k.value = ref and not k.is_reference and r.record is not null)
          or starts_with(ref, 'registry:') and exists (select from company_identifiers i
            where i.value = substr(ref, 10) and i.kind = ${codes.registryNumber})
          or ref in (select unnest(c.keys) from import_rows c where c.entity = ${entityCodes.company} and c.state = ${rowStates.record}))),
    taken as (delete from import_rows s using missing m where s.line = m.line returning s.*)
    select line, place, record from taken where is_counted order by line`;
  return rows.map(({ line, record }) => ({ line: line % LINES, record }));
}

/**
 * Returns the people whose record, part of a record or office, no newer than the file, the stage has as opted out: the row may no
 * longer have any identifier.
 */
export async function listOptedOutPeople(
  sql: Sql,
  { source, asOf }: { source: string; asOf: string },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    with opted_out as materialized (
      select key, entity from import_rows where state = ${rowStates.optedOut}),
    office as (
      select r.record::json ->> '_person' as person
      from opted_out o join source_records r on r.source = ${source} and r.key = o.key
      where o.entity = ${entityCodes.officer} and r.record is not null and r.as_of <= ${asOf}::date)
    select id from source_records
    where source = ${source} and key in (select person from office)
      and entity = ${entityCodes.person} and record is not null
    union
    select r.id from opted_out o
    join source_keys k on k.value = ${keyReference(source, '')} || o.key and not k.is_reference
    join source_records r using (number)
    where r.entity = ${entityCodes.person} and r.record is not null and r.as_of <= ${asOf}::date`;
  return rows.map(({ id }) => id);
}

/** Counts of the staged rows that no comparison changes. */
export async function countStaged(
  tx: Sql,
): Promise<{ counted: number; optedOut: number; records: number }> {
  const [row] = await tx<{ counted: number; optedOut: number; records: number }[]>`
    select count(*) filter (where is_counted)::int as counted,
      count(*) filter (where is_counted and state = ${rowStates.optedOut})::int as opted_out,
      count(*) filter (where state = ${rowStates.record})::int as records
    from import_rows`;
  return must(row, 'counts');
}
