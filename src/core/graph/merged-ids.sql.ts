/** Ids of records that an import has joined with others. */
import type { Sql } from '../db/client.ts';

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
 * Query of `(id, joined_id)`: the other ids of these records, of an entity, that imports have joined: the one that stayed and those
 * that became a part of it. Both directions count, because a large import says who is joined long before it builds them: until
 * then each is found. `ids` is a query of one column.
 */
export function joinedIds(sql: Sql, entity: number, ids: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(
    with kept as (
      select given.id, coalesce(m.into_id, given.id) as kept_id from (${ids}) given (id)
        left join merged_ids m on m.entity = ${entity} and m.id = given.id)
    select id, kept_id as joined_id from kept where kept_id <> id
    union all
    select kept.id, m.id from kept join merged_ids m on m.entity = ${entity} and m.into_id = kept_id
    where m.id <> kept.id)`;
}
