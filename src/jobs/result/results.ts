/** The result of a list or an export as one stream: the header, then the recorded parts in order. No join. */
import { createHash } from 'node:crypto';
import { pipeline, Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { OutcomeStatus } from '../../core/enrich/outcomes.ts';
import type { ThreadUser } from '../../core/limits/thread-turns.ts';
import { encodeCell } from '../../formats/csv/quote-cell.ts';
import { type CsvRow, sheetBytesMax } from '../../formats/xlsx/count-xlsx.ts';
import { assertFitsXlsx, certainlyFitsXlsx, rowsToXlsx } from '../../formats/xlsx/write-xlsx.ts';
import { isMemberSize } from '../../formats/xlsx/zip-stream.ts';
import type { Batch, ResultFormat } from '../batch/batch.ts';
import { findRerunRows } from '../batch/reruns.sql.ts';
import { isFinal } from '../batch/states.ts';
import { assertFilesKept } from './files-kept.ts';
import { numberedRows, withReruns } from './merge-reruns.ts';
import type { Part } from './parts.sql.ts';
import { atListedKey, type PartsContext } from './read-part.ts';
import { openParts, type PartPiece } from './read-parts.ts';
import { openRedactedParts } from './redact-parts.ts';
import {
  BYTE_ORDER_MARK,
  type ResultLayout,
  toJsonLines,
  toSafeCsv,
  toSheet,
} from './result-formats.ts';
import { layoutOf } from './result-layout.ts';
import {
  BLOCK_CHARACTERS,
  inBlocks,
  type ResultRow,
  readResultRows,
  withOutcomes,
  withText,
} from './result-rows.ts';

/** Positions of the first and the last byte, from 0. */
export interface ByteRange {
  start: number;
  end: number;
}

/** Stored bytes, which can be read in ranges. */
export interface StoredBytes {
  bytes: number;
  /** Equal as long as the bytes are. */
  version: string;
}

export interface BatchResults {
  /** False when rows are pending or were never written: the stream then ends after the finished prefix. */
  complete: boolean;
  /** Null for formats converted while streaming. */
  stored: StoredBytes | null;
  /**
   * The file, or a range of its stored bytes. Each part is verified before its first byte is sent: the
   * stream fails rather than omit data. Rejects as `openParts`.
   */
  read(range?: ByteRange): Promise<Readable>;
}

/** The form in which a result is read. */
export interface ResultForm {
  format: ResultFormat;
  gzip: boolean;
  /** The outcomes of the rows of a list to read; null for all rows. */
  outcomes: ReadonlySet<OutcomeStatus> | null;
  /** A text that a cell of the rows contains; null for all rows. */
  search: string | null;
  /** True for the rows of a list with the answers of its reruns. */
  reruns: boolean;
}

/**
 * Opens the result as far as it is finished, without people who have opted out. Throws `AppError` 410 when its
 * files are no longer kept, and 422 `not_as_xlsx` when it does not fit into a workbook.
 */
export async function openResults(
  context: PartsContext,
  batch: Batch,
  form: ResultForm,
): Promise<BatchResults> {
  assertFilesKept(batch);
  const layout = layoutOf(batch);
  const parts = await openRedactedParts(context, batch);
  const source: RowSource = { context, batch, layout, parts, form };
  if (form.format === 'xlsx') await assertFits(source);
  const complete = isFinal(batch.state) && batch.chunksDone === batch.chunksTotal;
  if (isStored(form)) {
    const header = headerLine(layout);
    const stored = describeBytes(header, parts);
    const whole = { start: 0, end: stored.bytes - 1 };
    const read = async (range = whole) => streamOf(await readRange(source, header, range));
    return { complete, stored, read };
  }
  const read = async () => {
    const lines = hasStoredRows(form)
      ? concat(headerLine(layout), await openParts(context, batch.accountId, parts))
      : await render(source);
    return form.gzip ? gzipOf(streamOf(lines)) : streamOf(lines);
  };
  return { complete, stored: null, read };
}

function describeBytes(header: Buffer, parts: readonly Part[]): StoredBytes {
  const hash = createHash('sha256').update(header);
  let bytes = header.length;
  for (const part of parts) {
    bytes += part.bytes;
    hash.update(`${part.objectKey} ${part.bytes} ${part.crc32}\n`);
  }
  return { bytes, version: hash.digest('base64url') };
}

/** Returns true for a form whose bytes are stored; any other is made from them while it is read. */
export function isStored(form: ResultForm): boolean {
  return hasStoredRows(form) && !form.gzip;
}

/** True when every row is read as it is stored. */
function hasStoredRows({ format, outcomes, search, reruns }: ResultForm): boolean {
  return format === 'csv' && outcomes === null && search === null && !reruns;
}

/** A result and how to read it. */
interface RowSource {
  context: PartsContext;
  batch: Batch;
  layout: ResultLayout;
  parts: readonly Part[];
  form: ResultForm;
}

async function assertFits(source: RowSource): Promise<void> {
  const { batch, layout, parts, form } = source;
  let [rows, bytes, cellBytesMax] = [1, 0, 0];
  for (const part of parts) {
    rows += part.rows;
    bytes += part.bytes;
    cellBytesMax = Math.max(cellBytesMax, part.rowBytesMax);
  }
  for (const name of layout.names) cellBytesMax = Math.max(cellBytesMax, name.length);
  rows += batch.blankLines ?? 0;
  const fits = certainlyFitsXlsx({ rows, columns: layout.names.length, bytes, cellBytesMax });
  // The answers of reruns may be longer.
  if (fits && !form.reruns) return;
  const counted = withHeader(await readRows(source, turnBytesOf(source)), layout);
  if (isMemberSize(await sheetBytesMax(counted, layout.delimiter))) return;
  await assertFitsXlsx(toSheet(await readRows(source), layout));
}

/** To count so many bytes takes about as long as to write 64 KiB of them. */
const COUNTED_BYTES = 512 * 1024;

/** The bytes of rows that are counted in a turn: more, when none of their cells is decoded. */
function turnBytesOf({ batch, form }: RowSource): number {
  const isRerun = batch.kind === 'list' && batch.rerunOf !== null;
  const isDecoded = isRerun || form.reruns || form.outcomes !== null || form.search !== null;
  return isDecoded ? 0 : COUNTED_BYTES;
}

async function* withHeader(
  rows: AsyncIterable<ResultRow>,
  layout: ResultLayout,
): AsyncGenerator<CsvRow> {
  yield { text: headerLine(layout), cells: layout.names, blankLines: 0 };
  yield* rows;
}

async function render(source: RowSource): Promise<AsyncIterable<Buffer>> {
  const { context, batch, layout, form } = source;
  const rows = await readRows(source);
  if (form.format === 'csv') return toChosenCsv(rows, layout);
  if (form.format === 'xlsx') return rowsToXlsx(toSheet(rows, layout));
  const lines = form.format === 'jsonl' ? toJsonLines(rows, layout) : toSafeCsv(rows, layout);
  return inBlocks(lines, threadUser(context, batch));
}

function threadUser({ signal }: PartsContext, { accountId }: Batch): ThreadUser {
  return { accountId, signal: signal ?? new AbortController().signal };
}

/** The rows that the form asks for, with their numbers in the list that was uploaded. Rejects as `openParts`. */
async function readRows(source: RowSource, turnBytes = 0): Promise<AsyncIterable<ResultRow>> {
  const { context, batch, layout, parts, form } = source;
  const read = await openParts(context, batch.accountId, parts);
  let rows: AsyncIterable<ResultRow> = readResultRows(read, {
    ...threadUser(context, batch),
    delimiter: layout.delimiter,
    turnBytes,
  });
  if (batch.kind === 'list') {
    if (batch.rerunOf !== null)
      rows = numberedRows(rows, await findRerunRows(context.sql, batch.id));
    if (form.reruns) rows = await withReruns(context, batch, rows);
  }
  if (form.outcomes !== null) rows = withOutcomes(rows, form.outcomes, layout);
  return form.search ? withText(rows, form.search) : rows;
}

/** The header and the chosen rows, byte for byte. */
async function* toChosenCsv(
  rows: AsyncIterable<ResultRow>,
  layout: ResultLayout,
): AsyncGenerator<Buffer> {
  const newline = Buffer.from(layout.newline);
  let block = [headerLine(layout)];
  let bytes = 0;
  for await (const { text, blankLines } of rows) {
    for (let line = 0; line < blankLines; line++) block.push(newline);
    // A copy: the part that the row is a piece of may be a thousand times as long.
    block.push(Buffer.from(text), newline);
    bytes += text.length;
    if (bytes < BLOCK_CHARACTERS) continue;
    yield Buffer.concat(block);
    [block, bytes] = [[], 0];
  }
  yield Buffer.concat(block);
}

/** A stream that reads no block ahead, for a client that may not read one; by default it would be sixteen. */
function streamOf(blocks: AsyncIterable<Buffer>): Readable {
  return Readable.from(blocks, { objectMode: false, highWaterMark: 0 });
}

/** The compressed stream. An error of either stream ends both, and so does a disconnected reader. */
function gzipOf(source: Readable): Readable {
  return pipeline(source, createGzip({ level: 4 }), () => {});
}

/** The list's own header, unchanged, then the added names; its byte order mark comes back too. */
function headerLine(layout: ResultLayout): Buffer {
  const { names, headerText, headerWidth, delimiter, newline, hasMark } = layout;
  const cells = names.map((name) => encodeCell(name, { delimiter, safe: false }));
  if (headerText !== null) cells.splice(0, headerWidth, headerText);
  return Buffer.from((hasMark ? BYTE_ORDER_MARK : '') + cells.join(delimiter) + newline);
}

/** The whole file as stored. */
async function* concat(header: Buffer, parts: AsyncIterable<PartPiece>): AsyncGenerator<Buffer> {
  yield header;
  for await (const { bytes } of parts) yield bytes;
}

/**
 * Opens a range of the stored bytes; reads only the parts that it touches. Rejects as `openParts`; the stream fails
 * before a part that was replaced since it was listed: its bytes are not those of the announced length and version.
 */
async function readRange(
  { context, batch, parts }: RowSource,
  header: Buffer,
  { start, end }: ByteRange,
): Promise<AsyncGenerator<Buffer>> {
  const touched: Part[] = [];
  let from = header.length;
  let at = from;
  for (const part of parts) {
    if (at > end) break;
    if (at + part.bytes > start) touched.push(part);
    else from = at + part.bytes;
    at += part.bytes;
  }
  const read = await openParts(context, batch.accountId, touched, atListedKey);
  return (async function* () {
    if (start < header.length) yield header.subarray(start, end + 1);
    let position = from;
    for await (const { bytes } of read) {
      yield bytes.subarray(Math.max(0, start - position), end + 1 - position);
      position += bytes.length;
      // The next response of the connection would begin with what follows.
      if (position > end) return;
    }
  })();
}
