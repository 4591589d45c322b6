/** Statements about stored objects: bytes of accounts, and ids without a batch. */
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';

/**
 * Bytes of an account's objects, live and test together: those of batches whose files are not deleted, with the
 * result that one may still write, and `bytesPerUpload` for every address that was given out and not used yet.
 */
export async function sumStoredBytes(
  sql: Sql,
  accountId: string,
  bytesPerUpload: number,
): Promise<number> {
  const [sum] = await sql<{ bytes: number }[]>`
    select (
      (select coalesce(sum(case when finished_at is null
          then greatest(stored_bytes, stored_bytes_open) else stored_bytes end), 0) from batches
        where account_id = ${accountId} and files_deleted_at is null)
      + (select count(*) from uploads
        where account_id = ${accountId} and used_at is null) * ${bytesPerUpload}::bigint
    )::bigint as bytes`;
  return must(sum, 'the sum').bytes;
}

/** Makes others that store for this account wait until the transaction ends. */
export async function lockStoredBytes(tx: Sql, accountId: string): Promise<void> {
  // Rows that refer to the account may still be inserted meanwhile.
  await tx`select id from accounts where id = ${accountId} for no key update`;
}

/** Those of these ids that no batch has. */
export async function listUnknownBatches(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${ids}::uuid[]) given (id)
    where not exists (select from batches where batches.id = given.id)`;
  return rows.map((row) => row.id);
}
