import type { Sql } from '../../src/core/db/client.ts';

/**
 * Adds copies of a batch and its parts, with other values in these columns of the batch: thousands are made in a moment. Copies
 * have no chunks, and the objects are those of the original.
 */
export async function copyBatch(
  sql: Sql,
  id: string,
  copies: number,
  changes: Record<string, string | number | null> = {},
): Promise<void> {
  const batches = await columnsOf(sql, 'batches');
  const parts = await columnsOf(sql, 'parts');
  await sql.unsafe(
    `with copied as (
      insert into batches (${batches})
      select ${batches} from (
        select (jsonb_populate_record(b, $2::text::jsonb || jsonb_build_object('id', gen_random_uuid()))).*
        from batches b, generate_series(1, $3::int) where b.id = $1) copy
      returning id)
    insert into parts (${parts})
    select ${parts} from (
      select (jsonb_populate_record(p, jsonb_build_object('batch_id', copied.id,
        'object_key', p.object_key || ' of ' || copied.id))).*
      from parts p, copied where p.batch_id = $1) copy`,
    [id, JSON.stringify(changes), copies],
  );
  await sql`analyze batches, parts`;
}

async function columnsOf(sql: Sql, table: string): Promise<string> {
  const [row] = await sql<{ names: string }[]>`
    select string_agg(column_name, ', ') as names from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER'`;
  return row?.names ?? '';
}
