/** Creates a new batch from an old batch's rows with certain outcomes. */
import { Readable } from 'node:stream';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import { must } from '../../core/lib/assert.ts';
import { conflict, unprocessable } from '../../core/lib/errors.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { type ListBatch, optionsOf } from '../batch/batch.ts';
import { isFinal } from '../batch/states.ts';
import { assertFilesKept } from '../result/files-kept.ts';
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
  const counter = { rows: 0 };
  const list = Readable.from(chosenRows(context, batch, outcomes, counter));
  const stored = await storeUpload(context, list);
  if (counter.rows === 0) {
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
    },
    dialect: {
      encoding: 'utf-8',
      delimiter: batch.dialect.delimiter,
      headerRow: batch.dialect.header === null ? 0 : 1,
    },
  };
}

/** The header, then the chosen rows with the list's own columns. */
async function* chosenRows(
  context: UploadContext,
  batch: ListBatch,
  outcomes: readonly OutcomeStatus[],
  counter: { rows: number },
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
  for await (const { cells } of readResultRows(parts, { accountId: batch.accountId, delimiter })) {
    if (!outcomes.includes(cells[status] as OutcomeStatus)) continue;
    counter.rows++;
    yield line(cells.slice(0, width));
  }
}
