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
