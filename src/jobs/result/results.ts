/** The result of a list or an export as one stream: the header, then the recorded parts in order. No join. */
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { assertFitsXlsx, certainlyFitsXlsx, rowsToXlsx } from '../../formats/xlsx/write-xlsx.ts';
import type { Batch, ResultFormat } from '../batch/batch.ts';
import { isFinal } from '../batch/states.ts';
import { assertFilesKept } from './files-kept.ts';
import type { Part } from './parts.sql.ts';
import type { PartsContext } from './read-part.ts';
import { openParts, type ReadPart } from './read-parts.ts';
import { openRedactedParts, resultChanging } from './redact-parts.ts';
import { type ResultLayout, toJsonLines, toSafeCsv, toSheet } from './result-formats.ts';
import { layoutOf } from './result-layout.ts';
import { readResultRows } from './result-rows.ts';

export interface BatchResults {
  /** False when rows are pending or were never written: the stream then ends after the finished prefix. */
  complete: boolean;
  /** Known for stored bytes; null for formats converted while streaming. */
  bytes: number | null;
  stream: Readable;
}

/**
 * Opens the result as far as it is finished, without people who have opted out. Each part is read and verified
 * before its first byte is sent: the stream fails rather than omit data. Throws `AppError` 410 when its files
 * are no longer kept, 422 `not_as_xlsx` when it does not fit into a workbook, and as `openParts`.
 */
export async function openResults(
  context: PartsContext,
  batch: Batch,
  form: { format: ResultFormat; gzip: boolean },
): Promise<BatchResults> {
  assertFilesKept(batch);
  const layout = layoutOf(batch);
  const parts = await openRedactedParts(context, batch);
  if (form.format === 'xlsx') await assertFits(context, batch, layout, parts);
  const header = headerLine(layout);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, header.length);
  const read = await openParts(context, parts);
  const { accountId } = batch;
  const { format } = form;
  const stream = Readable.from(render(layout, header, read, { accountId, format, bytes }));
  const complete = isFinal(batch.state) && batch.chunksDone === batch.chunksTotal;
  if (form.gzip) return { complete, bytes: null, stream: gzipOf(stream) };
  return { complete, bytes: form.format === 'csv' ? bytes : null, stream };
}

async function assertFits(
  context: PartsContext,
  batch: Batch,
  layout: ResultLayout,
  parts: readonly Part[],
): Promise<void> {
  let [rows, bytes, cellBytesMax]: [number, number, number | null] = [1, 0, 0];
  for (const part of parts) {
    rows += part.rows;
    bytes += part.bytes;
    const { rowBytesMax } = part;
    if (cellBytesMax === null || rowBytesMax === null) cellBytesMax = null;
    else cellBytesMax = Math.max(cellBytesMax, rowBytesMax);
  }
  for (const name of layout.names) {
    if (cellBytesMax !== null) cellBytesMax = Math.max(cellBytesMax, name.length);
  }
  rows += batch.blankLines ?? 0;
  if (certainlyFitsXlsx({ rows, columns: layout.names.length, bytes, cellBytesMax })) return;
  const read = readResultRows(await openParts(context, parts), {
    accountId: batch.accountId,
    delimiter: layout.delimiter,
  });
  await assertFitsXlsx(toSheet(read, layout));
}

function render(
  layout: ResultLayout,
  header: Buffer,
  parts: AsyncIterable<ReadPart>,
  { accountId, format, bytes }: { accountId: string; format: ResultFormat; bytes: number },
): AsyncIterable<Buffer> {
  if (format === 'csv') return concat(header, parts, bytes);
  const rows = readResultRows(parts, { accountId, delimiter: layout.delimiter });
  if (format === 'xlsx') return rowsToXlsx(toSheet(rows, layout));
  return inBlocks(format === 'jsonl' ? toJsonLines(rows, layout) : toSafeCsv(rows, layout));
}

/** The compressed stream. An error of either stream ends both, and so does a disconnected reader. */
function gzipOf(source: Readable): Readable {
  return pipeline(source, createGzip({ level: 4 }), () => {});
}

/** The list's own header, unchanged, then the added names. */
function headerLine(layout: ResultLayout): Buffer {
  const { names, headerText, headerWidth, delimiter, newline } = layout;
  const cells = names.map((name) => encodeCell(name, { delimiter, safe: false }));
  if (headerText !== null) cells.splice(0, headerWidth, headerText);
  return Buffer.from(cells.join(delimiter) + newline);
}

/** The stored bytes. Throws when their number differs from the announced length. */
async function* concat(
  header: Buffer,
  parts: AsyncIterable<ReadPart>,
  announced: number,
): AsyncGenerator<Buffer> {
  let given = header.length;
  yield header;
  for await (const { bytes } of parts) {
    given += bytes.length;
    yield bytes;
  }
  // A person in a part opted out after it was listed.
  if (given !== announced) throw resultChanging();
}

const BLOCK_CHARACTERS = 65_536;

/** Joins lines into blocks: streaming single lines costs more than producing them. */
async function* inBlocks(lines: AsyncIterable<string>): AsyncGenerator<Buffer> {
  let block = '';
  for await (const line of lines) {
    block += line;
    if (block.length < BLOCK_CHARACTERS) continue;
    yield Buffer.from(block);
    block = '';
  }
  if (block !== '') yield Buffer.from(block);
}
