/** Statements about parts and the suppressions that they were checked against. */
import type { Sql } from '../../core/db/client.ts';
import type { ObjectSum } from '../../core/storage/object-store.ts';

/** A part and its place, with what its objects held when they were written. */
export interface PlacedPart extends ObjectSum {
  batchId: string;
  chunkNumber: number;
  k: number;
  objectKey: string;
  rows: number;
  ids: ObjectSum | null;
  /** Suppressions up to this number do not stand in it; -1 for a part that does not say whom it shows. */
  suppressionNumber: number;
}

/** Parts of a batch that show people and are not checked up to the number, in the order of the file. */
export async function listPartsDueForRedaction(
  sql: Sql,
  batchId: string,
  number: number,
): Promise<PlacedPart[]> {
  return sql<PlacedPart[]>`
    select batch_id, chunk_number, k, object_key, rows, bytes, crc32, ${idsOf(sql)},
      suppression_number from parts
    where batch_id = ${batchId} and suppression_number < ${number}
    order by chunk_number, k`;
}

/**
 * Batches with files that are not checked up to these numbers: of the live graph and of the test graph. In no order,
 * so that those that cannot be checked do not hide the others.
 */
export async function listBatchesDueForRedaction(
  sql: Sql,
  numbers: { live: number; test: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select b.id from batches b
    where b.files_deleted_at is null and b.id in (
      select batch_id from parts
      where suppression_number between 0 and greatest(${numbers.live}::bigint, ${numbers.test}::bigint) - 1
        and suppression_number < case when b.live
          then ${numbers.live}::bigint else ${numbers.test}::bigint end)
    order by random() limit 1000`;
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

/** A batch's parts that say whom they show. */
export async function listPartsShowingPeople(
  sql: Sql,
  batchId: string,
): Promise<Pick<PlacedPart, 'objectKey' | 'ids'>[]> {
  return sql<Pick<PlacedPart, 'objectKey' | 'ids'>[]>`
    select object_key, ${idsOf(sql)} from parts
    where batch_id = ${batchId} and suppression_number >= 0 order by chunk_number, k`;
}

/** The column `ids`: what the object of whom a part shows held; null where that was not recorded. */
export function idsOf(sql: Sql) {
  return sql`
    case when ids_bytes is not null then jsonb_build_object('bytes', ids_bytes, 'crc32', ids_crc32) end
      as ids`;
}

/** The key under which a part is recorded now; undefined when there is none any more. */
export async function findPartKey(
  sql: Sql,
  part: Pick<PlacedPart, 'batchId' | 'chunkNumber' | 'k'>,
): Promise<({ objectKey: string } & ObjectSum) | undefined> {
  const [found] = await sql<({ objectKey: string } & ObjectSum)[]>`
    select object_key, bytes, crc32 from parts
    where batch_id = ${part.batchId} and chunk_number = ${part.chunkNumber} and k = ${part.k}`;
  return found;
}

/** Records that these objects of a batch show nobody who was suppressed up to the number. */
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

/** Names objects to be deleted unless a commit records them soon. */
export async function insertDiscarded(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`
    insert into discarded_objects (key) select unnest(${[...keys]}::text[]) on conflict do nothing`;
}

/** Forgets discarded objects that are deleted. */
export async function deleteDiscarded(sql: Sql, keys: readonly string[]): Promise<void> {
  await sql`delete from discarded_objects where key = any(${[...keys]})`;
}

/** Objects that were discarded an hour ago and not recorded: whoever made them has given up. */
export async function listDiscarded(sql: Sql): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key from discarded_objects where since < clock_timestamp() - interval '1 hour'
    order by since limit 1000`;
  return rows.map((row) => row.key);
}

/**
 * Records another object for a part, and discards the old one, in one statement. False when the part has
 * another object than `oldKeys[0]` by now, or the new objects were made so long ago that they may be
 * deleted at any time; then nothing changed.
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
      where batch_id = ${part.batchId} and chunk_number = ${part.chunkNumber} and k = ${part.k}
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
