/** Statements that read one record with its present id. */
import type { Sql } from '../../db/client.ts';

/** Follows merges from an id to the one that stayed. */
export async function resolveMergedId(sql: Sql, entity: number, id: number): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    with recursive chain (id, step) as (
      select ${id}::bigint, 0
      union all
      select m.into_id, c.step + 1 from chain c
      join merged_ids m on m.id = c.id and m.entity = ${entity} where c.step < 100)
    select id from chain order by step desc limit 1`;
  return row?.id ?? id;
}

/** Returns the stored record; of a person who opted out none. */
export async function readStored(
  sql: Sql,
  of: 'company' | 'person',
  id: number,
): Promise<string | undefined> {
  const [row] =
    of === 'company'
      ? await sql<{ record: string }[]>`select record from company_records where id = ${id}`
      : await sql<{ record: string }[]>`
          select record from person_records where id = ${id}
            and not exists (select from suppressed_persons s where s.person_id = ${id})`;
  return row?.record;
}
