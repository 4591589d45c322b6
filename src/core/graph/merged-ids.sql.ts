/** Ids of records that an import has joined with others. */
import type { Sql } from '../db/client.ts';

/**
 * Query of `(id, present_id)`: the id that each of these records, of an entity, has since imports joined records. Equal ones are
 * one record. `ids` is a query of one column.
 */
export function presentIds(sql: Sql, entity: number, ids: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(
    select given.id, coalesce(m.into_id, given.id) as present_id from (${ids}) given (id)
      left join merged_ids m on m.entity = ${entity} and m.id = given.id)`;
}

/** Returns those of these records, of an entity, that an import has joined with another since, with the other. */
export async function selectMerged(
  sql: Sql,
  entity: number,
  ids: readonly number[],
): Promise<{ id: number; intoId: number }[]> {
  return sql<{ id: number; intoId: number }[]>`
    select id, into_id from merged_ids where entity = ${entity} and id = any(${[...ids]}::bigint[])`;
}

/**
 * Query of `(id, joined_id)`: the other ids of these records, of an entity, that imports have joined: the one that stayed and
 * those that became a part of it. Both directions count, because a large import says who is joined long before it builds them:
 * until then each is found. One that it parts from a record and joins with another is joined with both until then. `ids` is a
 * query of one column.
 */
export function joinedIds(sql: Sql, entity: number, ids: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(
    with present as (select * from ${presentIds(sql, entity, ids)} p)
    select id, present_id as joined_id from present where present_id <> id
    union all
    select present.id, m.id from present join merged_ids m on m.entity = ${entity} and m.into_id = present_id
    where m.id <> present.id
    union all
    select present.id, m.id from present join merged_ids m on m.entity = ${entity} and m.into_id = present.id
    where present_id <> present.id)`;
}

/** Returns the pairs of `joinedIds` of these records, of an entity. */
export async function selectJoined(
  sql: Sql,
  entity: number,
  ids: readonly number[],
): Promise<{ id: number; joinedId: number }[]> {
  const given: ReturnType<Sql> = sql`select unnest(${[...ids]}::bigint[])`;
  return sql<{ id: number; joinedId: number }[]>`
    select id, joined_id from ${joinedIds(sql, entity, given)} joined`;
}
