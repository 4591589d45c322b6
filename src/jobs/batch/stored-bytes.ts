/**
 * The bound on what an account stores. It is asked when something is accepted, and when a list is split, which
 * reserves all that its result may take for free. What is paid for is stored beyond the bound as well.
 */
import type { Config } from '../../core/config.ts';
import type { Sql } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import { lockStoredBytes, sumStoredBytes } from './stored-bytes.sql.ts';

/** The options that bound what is stored. */
export type StorageBounds = Pick<Config, 'storedBytesMax' | 'uploadBytesMax' | 'filesKeepDays'>;

/**
 * Bytes that the account stores. A list that has not ended counts with what its result may take, an upload address that
 * is not used yet as the largest upload.
 */
export function readStoredBytes(
  sql: Sql,
  accountId: string,
  { uploadBytesMax }: StorageBounds,
): Promise<number> {
  return sumStoredBytes(sql, accountId, uploadBytesMax);
}

/**
 * Throws `AppError` 409 `storage_full` when the account stores more than it may. For refusing a call before its
 * body is read; `assertRecordedFits` decides.
 */
export async function assertStorageLeft(
  sql: Sql,
  accountId: string,
  bounds: StorageBounds,
): Promise<void> {
  const stored = await readStoredBytes(sql, accountId, bounds);
  if (stored > bounds.storedBytesMax) throw storageFull(stored, bounds);
}

/**
 * The same, for the transaction that has just recorded something more: transactions of one account wait for
 * each other here, so that the bound is exact.
 */
export async function assertRecordedFits(
  tx: Sql,
  accountId: string,
  bounds: StorageBounds,
): Promise<void> {
  await lockStoredBytes(tx, accountId);
  await assertStorageLeft(tx, accountId, bounds);
}

function storageFull(stored: number, { storedBytesMax, filesKeepDays }: StorageBounds): AppError {
  return new AppError({
    code: 'storage_full',
    status: 409,
    message: `The lists, results and open uploads of this account would take ${stored} bytes, and may take ${storedBytesMax}; a list that has not ended counts with the most that its result may take, rows times columns included. Delete lists or exports that are no longer needed (\`DELETE /v1/batches/:id\`, \`DELETE /v1/exports/:id\`), or wait: files are deleted ${filesKeepDays} days after their list has ended.`,
    extensions: { stored_bytes: stored, stored_bytes_max: storedBytesMax },
  });
}
