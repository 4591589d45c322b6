/** Statements about parts and the suppressions they were checked against. */
import type { Sql } from '../../core/db/client.ts';
import { isToCome } from '../../core/db/lease.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';
import { DELETED_PAGE } from '../batch/delete-stored.ts';

/** The key of a part with a person index, and the size and checksum of the index as written. */
export interface IndexedPart {
  objectKey: string;
  ids: ObjectSum;
}

/** A part that contains people and its position, with the sizes and checksums of its objects as written. */
export interface PlacedPart extends IndexedPart, ObjectSum {
  batchId: string;
  chunkNumber: number;
  number: number;
  rows: number;
  /** Contains no person suppressed up to this number. */
  suppressionNumber: number;
}

/** Parts of a batch that contain people and are not checked up to the number, in file order. */
export async function listPartsDueForRedaction(
  sql: Sql,
  batchId: string,
  number: number,
): Promise<PlacedPart[]> {
  return sql<PlacedPart[]>`
    select batch_id, chunk_number, number, object_key, rows, bytes, crc32, ${idsOf(sql)},
      suppression_number from parts
    where batch_id = ${batchId} and suppression_number < ${number}
    order by chunk_number, number`;
}

/** Batches that are listed together: the sweep wakes a job for each. */
const BATCHES_MAX = 1000;

/**
 * Batches with files not yet checked up to these numbers of the live graph and the test graph: accounts in turn, so that
 * the many results of one delay no other's, and those of an account in random order, so that batches that cannot be checked
 * do not starve the others.
 */
export async function listBatchesDueForRedaction(
  sql: Sql,
  numbers: { live: number; test: number },
  limit = BATCHES_MAX,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with behind as (
      select batch_id, live from parts where live and suppression_number < ${numbers.live}::bigint
      union
      select batch_id, live from parts where not live and suppression_number < ${numbers.test}::bigint)
    select b.id from behind join batches b on b.id = behind.batch_id and b.live = behind.live
    where b.files_deleted_at is null
    order by row_number() over (partition by b.account_id order by random()) limit ${limit}`;
  return rows.map((row) => row.id);
}

/** Batches that have files with people in them. */
export async function listBatchesShowingPeople(sql: Sql, live: boolean): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches b
    where live = ${live} and files_deleted_at is null and exists (
      select from parts where batch_id = b.id and suppression_number is not null)
    order by id`;
  return rows.map((row) => row.id);
}

/** A batch's parts with a person index. */
export async function listPartsShowingPeople(sql: Sql, batchId: string): Promise<IndexedPart[]> {
  return sql<IndexedPart[]>`
    select object_key, ${idsOf(sql)} from parts
    where batch_id = ${batchId} and suppression_number is not null order by chunk_number, number`;
}

/** The column `ids`: size and checksum of the person index as written; null for a part without people. */
export function idsOf(sql: Sql) {
  return sql`
    case when ids_bytes is not null then jsonb_build_object('bytes', ids_bytes, 'crc32', ids_crc32) end
      as ids`;
}

/** The current key of a part; undefined when the part no longer exists. */
export async function findPartKey(
  sql: Sql,
  part: Pick<PlacedPart, 'batchId' | 'chunkNumber' | 'number'>,
): Promise<({ objectKey: string } & ObjectSum) | undefined> {
  const [found] = await sql<({ objectKey: string } & ObjectSum)[]>`
    select object_key, bytes, crc32 from parts
    where batch_id = ${part.batchId} and chunk_number = ${part.chunkNumber} and number = ${part.number}`;
  return found;
}

/** Records that these objects of a batch contain no person suppressed up to the number. */
export async function markPartsChecked(
  sql: Sql,
  batchId: string,
  objectKeys: readonly string[],
  number: number,
): Promise<void> {
  await sql`
    update parts set suppression_number = ${number}
    where batch_id = ${batchId} and object_key = any(${[...objectKeys]})
      and suppression_number < ${number}`;
}

/** Lists objects for deletion unless a commit records them soon. */
export async function insertDiscarded(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`
    insert into discarded_objects (key) select unnest(${[...keys]}::text[]) on conflict do nothing`;
}

/** Removes deleted objects from the deletion list. */
export async function deleteDiscarded(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`delete from discarded_objects where key = any(${[...keys]})`;
}

/** Objects discarded at a time to come, before the clock was set back, count from now on: a commit may still record them. */
export async function endFutureDiscards(sql: Sql): Promise<void> {
  await sql`
    update discarded_objects set since = clock_timestamp() where ${isToCome(sql, sql`since`)}`;
}

/** A page of the objects discarded over an hour ago and not recorded, after a key: their writer has given up. */
export async function listDiscarded(sql: Sql, after: string | null): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from discarded_objects
    where since < clock_timestamp() - interval '1 hour' and (${after}::text is null or key > ${after}::text)
    order by key limit ${DELETED_PAGE}`;
  return rows.map((row) => row.key);
}

/**
 * Replaces the object of a part and discards the old one, in one statement. Returns false and changes nothing
 * when the part's object is no longer `oldKeys[0]`, or when the new objects are so old that they may be deleted
 * at any time.
 */
export async function replacePart(
  sql: Sql,
  part: PlacedPart,
  by: {
    newKeys: readonly string[];
    oldKeys: readonly string[];
    part: ObjectSum;
    ids: ObjectSum;
    number: number;
  },
): Promise<boolean> {
  const [newKey = ''] = by.newKeys;
  const replaced = await sql`
    with replaced as (
      update parts set object_key = ${newKey}, bytes = ${by.part.bytes}, crc32 = ${by.part.crc32},
        ids_bytes = ${by.ids.bytes}, ids_crc32 = ${by.ids.crc32}, suppression_number = ${by.number}
      where batch_id = ${part.batchId} and chunk_number = ${part.chunkNumber} and number = ${part.number}
        and object_key = ${part.objectKey}
        and ${by.newKeys.length} = (
          select count(*) from discarded_objects
          where key = any(${[...by.newKeys]}) and since > clock_timestamp() - interval '30 minutes')
      returning 1),
    kept as (
      delete from discarded_objects using replaced where key = any(${[...by.newKeys]})),
    old as (
      insert into discarded_objects (key)
      select unnest(${[...by.oldKeys]}::text[]) from replaced on conflict do nothing)
    select from replaced`;
  return replaced.length > 0;
}

/**
 * Records the object that replaced the object of a part, with its person index, when database and store are of different
 * moments. It is not known for which opt-outs the object was checked, so it will be checked for all. Returns false and changes
 * nothing when the part has another object by now.
 */
export async function adoptPart(
  sql: Sql,
  part: Pick<PlacedPart, 'batchId' | 'objectKey'>,
  by: { key: string; keys: readonly string[]; part: ObjectSum; ids: ObjectSum },
): Promise<boolean> {
  const adopted = await sql`
    with adopted as (
      update parts set object_key = ${by.key}, bytes = ${by.part.bytes}, crc32 = ${by.part.crc32},
        ids_bytes = ${by.ids.bytes}, ids_crc32 = ${by.ids.crc32}, suppression_number = 0
      where batch_id = ${part.batchId} and object_key = ${part.objectKey}
      returning 1),
    kept as (
      delete from discarded_objects using adopted where key = any(${[...by.keys]}))
    select from adopted`;
  return adopted.length > 0;
}
