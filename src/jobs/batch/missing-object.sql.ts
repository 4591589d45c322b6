/** Statements about batches whose object is missing. */
import type { Sql } from '../../core/db/client.ts';
import type { BatchState } from './states.ts';

/**
 * Records that the object that a batch reads is missing. Returns the seconds since this was first recorded
 * without a part written since, and the batch's state; undefined when the batch has ended.
 */
export async function noteMissing(
  sql: Sql,
  id: string,
): Promise<{ state: BatchState; missingSeconds: number } | undefined> {
  const [noted] = await sql<{ state: BatchState; missingSeconds: number }[]>`
    update batches set object_missing_since = case
      when object_missing_since > coalesce(
        (select max(committed_at) from parts where batch_id = ${id}), '-infinity')
      then object_missing_since else clock_timestamp() end
    where id = ${id} and finished_at is null
    returning state, extract(epoch from clock_timestamp() - object_missing_since)::float8 as missing_seconds`;
  return noted;
}
