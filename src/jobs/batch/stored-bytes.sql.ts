/** Statements about stored objects: bytes of accounts, and ids without a batch. */
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';

/** The stored objects of an account. */
export interface Stored {
  bytes: number;
  /** Lists and exports with files. */
  batches: number;
}

/**
 * Sums of an account's objects, live and test: those of batches whose files are not deleted, including the
 * result that one may still write, plus `bytesPerUpload` for every unused upload URL. Reads the batches that have not ended;
 * the others are summed when they end.
 */
export async function sumStored(
  sql: Sql,
  accountId: string,
  bytesPerUpload: number,
): Promise<Stored> {
  const [sum] = await sql<Stored[]>`
    with ended as (select bytes, batches from stored_sums where account_id = ${accountId})
    select (coalesce(sum(greatest(stored_bytes, stored_bytes_open)), 0)
        + coalesce((select bytes from ended), 0)
        + (select count(*) from uploads where account_id = ${accountId} and used_at is null)
          * ${bytesPerUpload}::bigint)::bigint as bytes,
      count(*) + coalesce((select batches from ended), 0) as batches
    from batches where account_id = ${accountId} and finished_at is null and files_deleted_at is null`;
  return must(sum, 'the sum');
}

/** Serializes transactions that store for this account. */
export async function lockStoredBytes(tx: Sql, accountId: string): Promise<void> {
  // This lock still allows inserts of rows that refer to the account.
  await tx`select id from accounts where id = ${accountId} for no key update`;
}

/** The ids among these without a batch. */
export async function listUnknownBatches(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${ids}::uuid[]) given (id)
    where not exists (select from batches where batches.id = given.id)`;
  return rows.map((row) => row.id);
}

/**
 * Returns those of these ids whose batch has no files: it has no row, or its files were deleted more than a day ago. A store
 * that failed may still have some of them, and no worker writes to them any more.
 */
export async function listWithoutFiles(sql: Sql, ids: string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from unnest(${ids}::uuid[]) given (id)
    where not exists (select from batches b where b.id = given.id
      and (b.files_deleted_at is null or b.files_deleted_at > now() - interval '1 day'))`;
  return rows.map((row) => row.id);
}

/** The identity of this installation. */
export async function readInstallationId(sql: Sql): Promise<string> {
  const [row] = await sql<{ id: string }[]>`select id from installation`;
  return must(row, 'the installation').id;
}

/** Returns true when some list or export has files. */
export async function hasStoredFiles(sql: Sql): Promise<boolean> {
  const rows = await sql`select from batches where files_deleted_at is null limit 1`;
  return rows.length > 0;
}
