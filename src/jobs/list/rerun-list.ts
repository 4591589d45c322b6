/** Creates a new batch from an old batch's rows with certain outcomes. */
import { Readable } from 'node:stream';
import type { Sql } from '../../core/db/client.ts';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { must } from '../../core/lib/assert.ts';
import { conflict, unprocessable } from '../../core/lib/errors.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { type ListBatch, optionsOf } from '../batch/batch.ts';
import { findOpenRerun, findRerunRows } from '../batch/reruns.sql.ts';
import { isFinal } from '../batch/states.ts';
import { assertFilesKept } from '../result/files-kept.ts';
import { numberedRows, withReruns } from '../result/merge-reruns.ts';
import { openParts } from '../result/read-parts.ts';
import { openRedactedParts } from '../result/redact-parts.ts';
import { matchColumns } from '../result/render-part.ts';
import { readResultRows } from '../result/result-rows.ts';
import type { RequestedList } from './create-list.ts';
import { storeUpload, type UploadContext } from './store-upload.ts';

/**
 * Stores the list's own columns of the chosen rows, for a new batch with the same options. Throws `AppError`
 * 409 `invalid_state` while the batch runs, 410 when its files are no longer kept, 422 `no_rows` when no
 * row has one of the outcomes.
 */
export async function storeRerun(
  context: UploadContext,
  batch: ListBatch,
  { outcomes, hold }: { outcomes: readonly OutcomeStatus[]; hold: boolean },
): Promise<RequestedList> {
  if (!isFinal(batch.state) || batch.width === null) {
    throw conflict(
      'invalid_state',
      `Batch ${batch.id} is ${batch.state}: rows can be rerun after it has ended.`,
      { extensions: { state: batch.state } },
    );
  }
  assertFilesKept(batch);
  const rerunRows: number[] = [];
  const list = Readable.from(chosenRows(context, batch, outcomes, rerunRows));
  const stored = await storeUpload(context, list);
  if (rerunRows.length === 0) {
    await context.store.delete(stored.key);
    throw unprocessable(
      'no_rows',
      `No row of batch ${batch.id} has the outcome ${outcomes.join(' or ')}.`,
    );
  }
  const mapping = Object.fromEntries(
    Object.entries(batch.mapping).map(([kind, columns]) => [kind, columns.map((c) => c.column)]),
  );
  return {
    upload: stored,
    request: {
      ...optionsOf(batch),
      operation: batch.operation,
      name: `${batch.name} (again)`,
      mapping,
      allowUnmapped: false,
      hold,
      rerunOf: batch.id,
      rerunRows,
    },
    dialect: {
      encoding: 'utf-8',
      delimiter: batch.dialect.delimiter,
      headerRow: batch.dialect.header === null ? 0 : 1,
    },
  };
}

/** The header, then the chosen rows with the list's own columns, whose numbers are added to `numbers`. */
async function* chosenRows(
  context: UploadContext,
  batch: ListBatch,
  outcomes: readonly OutcomeStatus[],
  numbers: number[],
): AsyncGenerator<Buffer> {
  const { header, newline } = batch.dialect;
  const delimiter = batch.dialect.delimiter;
  const width = must(batch.width, 'width of a batch that ran');
  const line = (cells: readonly string[]) => {
    const text = cells.map((cell) => encodeCell(cell, { delimiter, safe: false })).join(delimiter);
    // An empty line is not a row.
    return Buffer.from((text === '' ? '""' : text) + newline);
  };
  if (header !== null) yield line(header);
  const status = width + matchColumns.indexOf('match.status');
  const parts = await openParts(context, await openRedactedParts(context, batch));
  const { accountId } = batch;
  const own = numberedRows(
    readResultRows(parts, { accountId, delimiter }),
    await findRerunRows(context.sql, batch.id),
  );
  // A row that an earlier rerun has matched is not paid again.
  for await (const { row, cells } of withReruns(context, batch, own)) {
    if (!outcomes.includes(cells[status] as OutcomeStatus)) continue;
    numbers.push(row);
    yield line(cells.slice(0, width));
  }
}

/**
 * Throws `AppError` 409 `invalid_state` while another rerun of the same list has not ended: both could be charged for
 * one row. Call in the transaction of the insert, after it.
 */
export async function assertOnlyRerun(sql: Sql, id: string): Promise<void> {
  const open = await findOpenRerun(sql, id);
  if (open === undefined) return;
  throw conflict(
    'invalid_state',
    `Batch ${open} reruns rows of this list and has not ended. Wait for its end, or cancel it.`,
    { extensions: { batch_id: open } },
  );
}
