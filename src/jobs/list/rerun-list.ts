/** Creates a new batch from rows of an old one: those with certain outcomes, or those that a caller decided. */
import { Readable } from 'node:stream';
import type { Sql } from '../../core/db/client.ts';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { must } from '../../core/lib/assert.ts';
import { type AppError, conflict, unprocessable } from '../../core/lib/errors.ts';
import { fieldsEnd } from '../../formats/csv/cells.ts';
import { sepLine } from '../../formats/csv/dialect.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { RECORD_BYTES_MAX } from '../../formats/csv/record-reader.ts';
import { columnNumbers } from '../../mapping/guess-columns.ts';
import { type ListBatch, optionsOf } from '../batch/batch.ts';
import { findBatch, lockFiles } from '../batch/batches.sql.ts';
import { findRerunRecords, findRerunRows, listFamily, type Rerun } from '../batch/reruns.sql.ts';
import { isFinal } from '../batch/states.ts';
import { assertFilesKept } from '../result/files-kept.ts';
import { type MergedRow, mergedRows } from '../result/merge-reruns.ts';
import type { ListRequest, RequestedList } from './create-list.ts';
import { storeUpload, type UploadContext } from './store-upload.ts';

/** A stored rerun with the request for it. */
export interface RequestedRerun extends RequestedList {
  /** The reruns that had ended before the rows were chosen. */
  endedBefore: ReadonlySet<string>;
}

/** Rows to run again. */
export interface RowChoice {
  /** Returns true for a row of the choice. */
  isChosen(row: MergedRow): boolean;
  /** Returns the records that the chosen rows mean, by decisions about these row numbers; absent: rows are matched. */
  recordsOf?(rows: readonly number[]): number[];
  /** Throws `AppError` when the rows are not those that the caller may choose. Called after the last row. */
  check(rows: readonly number[]): void;
  /** Added to the name of the batch. */
  suffix: string;
  hold: boolean;
}

/** The choice of the rows with these outcomes. `check` throws `AppError` 422 `no_rows`. */
export function rowsWithOutcomes(
  batch: ListBatch,
  { outcomes, hold }: { outcomes: readonly OutcomeStatus[]; hold: boolean },
): RowChoice {
  return {
    // A row that an earlier rerun has matched is not paid again.
    isChosen: ({ status }) => outcomes.includes(status),
    check(rows) {
      if (rows.length > 0) return;
      const wanted = outcomes.join(' or ');
      throw unprocessable('no_rows', `No row of batch ${batch.id} has the outcome ${wanted}.`);
    },
    suffix: 'again',
    hold,
  };
}

/**
 * Stores the list's own columns of the chosen rows, for a new batch with the same options. Throws `AppError`
 * 409 `invalid_state` while the batch or a rerun of it runs, 410 when its files are no longer kept, 422 `no_rows` when all
 * chosen rows are longer than a record may be, and as `check`.
 */
export async function storeRerun(
  context: UploadContext,
  batch: ListBatch,
  choice: RowChoice,
): Promise<RequestedRerun> {
  if (!isFinal(batch.state) || batch.width === null) {
    throw conflict(
      'invalid_state',
      `Batch ${batch.id} is ${batch.state}: rows can be rerun after it has ended.`,
      { extensions: { state: batch.state } },
    );
  }
  assertFilesKept(batch);
  const family = await listFamily(context.sql, batch.id);
  const open = family.find(({ hasEnded }) => !hasEnded);
  if (open !== undefined) throw rerunOpen(open);
  const rerunRows: number[] = [];
  const tooLong: number[] = [];
  const list = Readable.from(chosenRows(context, batch, choice, { chosen: rerunRows, tooLong }));
  const stored = await storeUpload(context, list);
  try {
    if (rerunRows.length === 0 && tooLong.length > 0) throw allTooLong(tooLong);
    choice.check(rerunRows);
  } catch (error) {
    await context.store.delete(stored.key);
    throw error;
  }
  const rerunRecords = choice.recordsOf?.(rerunRows);
  return {
    endedBefore: new Set(family.map(({ id }) => id)),
    upload: stored,
    request: {
      ...optionsOf(batch),
      operation: batch.operation,
      name: `${batch.name} (${choice.suffix})`,
      mapping: columnNumbers(batch.mapping),
      allowUnmapped: false,
      hold: choice.hold,
      rerunOf: batch.id,
      rerunRows,
      ...(rerunRecords === undefined ? {} : { rerunRecords }),
    },
    dialect: {
      encoding: 'utf-8',
      delimiter: batch.dialect.delimiter,
      headerRow: batch.dialect.header === null ? 0 : 1,
    },
  };
}

/** Returns the rows of a rerun, and the decisions about them, for a list that takes its place. */
export async function rowsOfRerun(
  sql: Sql,
  { id, rerunOf }: ListBatch,
): Promise<Pick<ListRequest, 'rerunOf' | 'rerunRows' | 'rerunRecords'>> {
  const rerunRows = rerunOf === null ? null : await findRerunRows(sql, id);
  if (rerunRows === null) return { rerunOf };
  const records = await findRerunRecords(sql, id, { from: 1, to: rerunRows.length });
  return { rerunOf, rerunRows, ...(records === null ? {} : { rerunRecords: records }) };
}

/**
 * Excel's first line, the header, then the chosen rows with the list's own columns, whose numbers are added to `chosen`. A row
 * keeps its bytes: written anew, it could be longer than a record may be. One that is too long already is left out: it would be
 * read as several rows.
 */
async function* chosenRows(
  context: UploadContext,
  batch: ListBatch,
  { isChosen }: RowChoice,
  numbers: { chosen: number[]; tooLong: number[] },
): AsyncGenerator<Buffer> {
  const { header, newline } = batch.dialect;
  const delimiter = batch.dialect.delimiter;
  const width = must(batch.width, 'width of a batch that ran');
  yield Buffer.from(sepLine(delimiter, newline));
  if (header !== null) {
    const text = header.map((cell) => encodeCell(cell, { delimiter, safe: false })).join(delimiter);
    // An empty line is not a row.
    yield Buffer.from((text === '' ? '""' : text) + newline);
  }
  for await (const row of mergedRows(context, batch)) {
    const { text } = row;
    const end = fieldsEnd(text, { start: 0, end: text.length }, delimiter, width);
    if (!isChosen(row)) continue;
    const isTooLong = end > RECORD_BYTES_MAX;
    numbers[isTooLong ? 'tooLong' : 'chosen'].push(row.row);
    if (isTooLong) continue;
    yield Buffer.concat([text.subarray(0, end), Buffer.from(newline)]);
  }
}

/**
 * Throws `AppError` 409 `invalid_state` while another rerun of the same list has not ended, or when one ended after
 * the rows were chosen: both could be charged for one row. Throws 410 when the files of the list were deleted since, and with
 * them perhaps what it has matched with `dedupe`. Call in the transaction of the insert, after it.
 */
export async function assertOnlyRerun(
  sql: Sql,
  { id, rerunOf }: Pick<ListBatch, 'id' | 'rerunOf'>,
  endedBefore: ReadonlySet<string>,
): Promise<void> {
  const list = must(rerunOf, 'list of a rerun');
  const hasFiles = await lockFiles(sql, list);
  if (!hasFiles) assertFilesKept(must(await findBatch(sql, list), `batch ${list}`));
  for (const other of await listFamily(sql, id)) {
    if (other.id !== id && !(other.hasEnded && endedBefore.has(other.id))) throw rerunOpen(other);
  }
}

function allTooLong(rows: readonly number[]): AppError {
  const named = rows.length === 1 ? `Row ${rows[0]} has` : `All ${rows.length} such rows have`;
  return unprocessable(
    'no_rows',
    `${named} more than ${RECORD_BYTES_MAX} bytes and cannot be run again. Shorten the texts and upload the rows as a list.`,
  );
}

function rerunOpen({ id, hasEnded }: Rerun): AppError {
  const message = hasEnded
    ? `Batch ${id} reran rows of this list meanwhile. Send the request again.`
    : `Batch ${id} reruns rows of this list and has not ended. Wait for its end, or cancel it.`;
  return conflict('invalid_state', message, { extensions: { batch_id: id } });
}
