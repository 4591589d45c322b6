/**
 * The maximum bytes that an account stores. It is checked when something is accepted, and when a list is split,
 * which reserves the maximum that its result may take for free. Paid rows are stored even beyond the maximum.
 */
import type { Config } from '../../core/config.ts';
import type { Sql } from '../../core/db/client.ts';
import { AppError, conflict } from '../../core/lib/errors.ts';
import { countRecorded } from '../../core/limits/limits.ts';
import { lockStoredBytes, sumStored } from './stored-bytes.sql.ts';

/** The config options that bound stored bytes. */
export type StorageBounds = Pick<Config, 'storedBytesMax' | 'uploadBytesMax' | 'filesKeepDays'>;

/**
 * Disk space of a batch beside its bytes: a list of one row has three files in two folders, each of which takes a block of
 * 4 KiB, and a hundred bytes.
 */
const BATCH_DISK_BYTES = 16 * 1024;
/** Lists and exports with files that any account may have. */
const BATCHES_MIN = 1000;

/** Maximum of a number of Postgres. */
const INTEGER_MAX = 2_147_483_647;

/** Maximum lists and exports with files of an account: small files must not take many times its maximum of bytes. */
function batchesMax({ storedBytesMax }: StorageBounds): number {
  return Math.max(BATCHES_MIN, Math.floor(storedBytesMax / BATCH_DISK_BYTES));
}

/**
 * Maximum lists and exports that an account makes in a day: with as many each day, it has the maximum of them when the first ones
 * expire. Their rows outlive their files, so that one which deletes its lists at once may not make more either.
 */
function batchesPerDay(bounds: StorageBounds): number {
  const perDay = Math.max(BATCHES_MIN, Math.floor(batchesMax(bounds) / bounds.filesKeepDays));
  return Math.min(perDay, INTEGER_MAX);
}

/**
 * Counts a list or an export in the day of the account. Call in the transaction that has recorded it, which locks the account
 * first. Throws `AppError` 429 when the account has made as many today as it may.
 */
export async function countMade(tx: Sql, accountId: string, bounds: StorageBounds): Promise<void> {
  await countRecorded(tx, accountId, batchesPerDay(bounds));
}

/**
 * Bytes that the account stores. A list that has not ended counts with the maximum of its result, an unused
 * upload URL with the maximum upload size.
 */
export async function readStoredBytes(
  sql: Sql,
  accountId: string,
  { uploadBytesMax }: StorageBounds,
): Promise<number> {
  const { bytes } = await sumStored(sql, accountId, uploadBytesMax);
  return bytes;
}

/**
 * Throws `AppError` 409 `storage_full` when the account has more than its maximum of bytes, or of lists and exports with
 * files. Refuses a call before its
 * body is read; `assertRecordedFits` decides.
 */
export async function assertStorageLeft(
  sql: Sql,
  accountId: string,
  bounds: StorageBounds,
): Promise<void> {
  const { bytes, batches } = await sumStored(sql, accountId, bounds.uploadBytesMax);
  if (bytes > bounds.storedBytesMax) throw storageFull(bytes, bounds);
  if (batches > batchesMax(bounds)) throw tooManyStored(bounds);
}

/** Returns false when the account stores more than its maximum. */
export async function isStorageLeft(
  sql: Sql,
  accountId: string,
  bounds: StorageBounds,
): Promise<boolean> {
  return (await readStoredBytes(sql, accountId, bounds)) <= bounds.storedBytesMax;
}

/**
 * As `assertStorageLeft`, in the transaction that has just recorded an object: transactions of one account wait for each
 * other here, so the bound is exact.
 */
export async function assertRecordedFits(
  tx: Sql,
  accountId: string,
  bounds: StorageBounds,
): Promise<void> {
  await lockStoredBytes(tx, accountId);
  await assertStorageLeft(tx, accountId, bounds);
}

/** Returns true for the error of an account that stores more than its maximum. */
export function isStorageFull(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'storage_full';
}

function storageFull(stored: number, { storedBytesMax, filesKeepDays }: StorageBounds): AppError {
  return conflict(
    'storage_full',
    `The lists, results and open uploads of this account would take ${stored} bytes, and the maximum is ${storedBytesMax}. An unfinished list counts with the maximum size of its result, which grows with its rows and columns. Delete lists or exports that are no longer needed (\`DELETE /v1/batches/:id\`, \`DELETE /v1/exports/:id\`), or wait: files are deleted ${filesKeepDays} days after their list has ended.`,
    { extensions: { stored_bytes: stored, stored_bytes_max: storedBytesMax } },
  );
}

function tooManyStored(bounds: StorageBounds): AppError {
  const max = batchesMax(bounds);
  return conflict(
    'storage_full',
    `This account has ${max} lists and exports with files, the maximum. Delete those that are no longer needed (\`DELETE /v1/batches/:id\`, \`DELETE /v1/exports/:id\`), or wait: files are deleted ${bounds.filesKeepDays} days after their list has ended.`,
    { extensions: { stored_batches_max: max } },
  );
}
