import type { Sql } from '../../../core/db/client.ts';

/** Ended batches that still have their files, in the order of their ids, after this one. */
export async function listKeptResults(
  sql: Sql,
  after: string | null,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from batches
    where state in ('completed', 'cancelled') and files_deleted_at is null
      and (${after}::uuid is null or id > ${after}::uuid)
    order by id limit ${limit}`;
  return rows.map((row) => row.id);
}
