/** Reads the stored upload of a held list again: another sheet, header row, delimiter or encoding. */
import type { Owner } from '../../core/accounts/owner.ts';
import { AppError, conflict, invalidParameter } from '../../core/lib/errors.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import { readHead } from '../../core/storage/object-sum.ts';
import type { ListBatch } from '../batch/batch.ts';
import type { BatchChange } from '../batch/control-batch.sql.ts';
import { assertHeld, changeHeldBatch } from '../batch/control-batch.ts';
import { assertFilesKept } from '../result/files-kept.ts';
import { uploadColumns, wakeSplit } from './create-list.ts';
import { withNameDoubt } from './name-doubt.ts';
import {
  type ColumnRequest,
  type DialectRequest,
  readUpload,
  readWorkbook,
  requestOf,
} from './read-upload.ts';
import type { UploadContext } from './store-upload.ts';

/** The new options of reading; omitted ones stay as they were. */
export type Rereading = DialectRequest & Pick<ColumnRequest, 'mapping' | 'allowUnmapped'>;

/**
 * Reads a held list again and makes the other changes with it: it is `validating` afterwards, then `ready`. Its columns are
 * guessed again unless the mapping is given. Throws `AppError` as `readUpload` and `changeHeldBatch`, 400 when no other
 * sheet is kept, and 410 when the files are no longer kept. The list is then as before.
 */
export async function rereadList(
  context: UploadContext,
  owner: Owner,
  batch: ListBatch,
  { mapping, allowUnmapped, sheet, ...changed }: Rereading,
  change: BatchChange,
): Promise<ListBatch> {
  assertHeld(batch);
  assertFilesKept(batch);
  if (batch.rerunOf !== null) throw rowsAreFixed();
  const columns: ColumnRequest = {
    operation: batch.operation,
    mapping,
    allowUnmapped,
    match: change.match ?? batch.match,
    defaultRegion: change.defaultRegion === undefined ? batch.defaultRegion : change.defaultRegion,
    country: change.country === undefined ? batch.country : change.country,
  };
  // The header row of another sheet is found anew.
  const { headerRow, ...before } = requestOf(batch.dialect);
  const request = {
    ...before,
    ...(sheet === undefined ? { headerRow } : {}),
    ...omitUndefined(changed),
  };
  const list =
    sheet === undefined
      ? await readText(context, batch, columns, request)
      : await readSheet(context, batch, columns, { ...request, sheet });
  const isNew = list.uploadKey !== batch.uploadKey;
  let after: ListBatch;
  try {
    const { doubts } = list.dialect;
    list.dialect.doubts = await withNameDoubt(context, { live: batch.live, ...list, doubts });
    after = await changeHeldBatch(context, owner, batch, change, uploadColumns(list));
  } catch (error) {
    // Unless a lost connection leaves the outcome of the commit unknown.
    if (isNew && error instanceof AppError) await context.store.delete(list.uploadKey);
    throw error;
  }
  await wakeSplit(context, batch.id).catch((error: unknown) => {
    context.log.warn({ err: error }, 'workers not woken; the sweep will wake them');
  });
  const { canonicalKey, uploadKey } = batch;
  if (canonicalKey !== null && canonicalKey !== uploadKey) await context.store.delete(canonicalKey);
  if (isNew) await context.store.delete(uploadKey);
  return after;
}

/** Read in another way, its rows would no longer be those of their numbers. */
function rowsAreFixed(): AppError {
  return conflict(
    'invalid_state',
    'A rerun has rows of a list that was read already. Leave encoding, delimiter, header_row and sheet out; to read the file in another way, upload it again.',
  );
}

/** The text that is stored, a CSV file or the CSV of a sheet, read again. */
async function readText(
  context: UploadContext,
  { uploadKey: key, uploadBytes, uploadCrc32, uploadHeadCrc32, dialect }: ListBatch,
  columns: ColumnRequest,
  request: DialectRequest,
) {
  const head = await readHead(context.store, key, {
    bytes: uploadBytes,
    headCrc32: uploadHeadCrc32,
  });
  const sum = { bytes: uploadBytes, crc32: uploadCrc32, headCrc32: uploadHeadCrc32 };
  const { sheet, sheets, workbook } = dialect;
  // A sheet is stored in a form of ours.
  const form = sheet === null ? {} : { encoding: 'utf-8', delimiter: ',' as const };
  const list = await readUpload(context, { key, sum, head }, columns, { ...request, ...form });
  return { ...list, dialect: { ...list.dialect, sheet, sheets, workbook } };
}

function readSheet(
  context: UploadContext,
  { dialect: { workbook } }: ListBatch,
  columns: ColumnRequest,
  request: DialectRequest,
) {
  if (workbook !== null) return readWorkbook(context, workbook, columns, request);
  throw invalidParameter('sheet', 'this list is not from a workbook with several sheets');
}
