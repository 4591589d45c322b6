/**
 * Reads an uploaded Excel workbook as a list: one of its visible sheets as canonical CSV, streamed from storage.
 * Memory holds one window of the archive, a few rows, and the first of the workbook's shared strings.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { must } from '../../core/lib/assert.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { type XlsxLimits, xlsxLimits } from './limits.ts';
import { scanXmlPart } from './read-xml-part.ts';
import { readSharedStrings, SharedStrings } from './shared-strings.ts';
import { type SheetContext, SheetCsv } from './sheet-csv.ts';
import { readWorkbook } from './workbook.ts';
import { notXlsx, unreadableXlsx, xlsxTooLarge } from './xlsx-errors.ts';
import { openZipParts, type XlsxSource } from './zip-parts.ts';

const zipMagic = Buffer.from('PK\x03\x04', 'latin1');
const compoundMagic = Buffer.from('d0cf11e0a1b11ae1', 'hex');
const OUTPUT_BYTES = 64 * 1024;

/** Returns true when these first bytes (four at least) begin a zip archive; the reader checks the rest. */
export function isXlsx(head: Buffer): boolean {
  return head.subarray(0, zipMagic.length).equals(zipMagic);
}

/** Returns a workbook in storage as a source: its key and its size in bytes. */
export function storedXlsx(store: ObjectStore, upload: { key: string; bytes: number }): XlsxSource {
  const { key, bytes } = upload;
  return {
    bytes,
    get: (range) => store.get(key, range),
    getStream: (range) => store.getStream(key, range),
  };
}

/** A workbook whose visible sheets can be read one after another, from the beginning each time. */
export interface OpenXlsx {
  /** Names of the visible sheets, in the order of the tabs: at least one. */
  sheets: string[];
  /** The CSV of the sheet at a position of `sheets`. */
  sheetToCsv(index: number): AsyncGenerator<Buffer>;
  /** Call when no sheet is read any more. */
  close(): Promise<void>;
}

/**
 * Opens a workbook. A sheet as CSV: UTF-8 without mark, `,`, CRLF, quoted by RFC 4180. Row n of the sheet is record
 * n: empty rows in between are blank lines, those at the end are omitted; short rows are padded to the width of
 * the first. Numbers keep their digits (`447911123456`, `0.1`), dates are ISO 8601, booleans TRUE and FALSE,
 * formulas their last value, errors their text (`#N/A`), rich text its text; of merged cells the first has the
 * value. Macros, links and everything else are not read.
 *
 * Throws `AppError`, here or while a sheet is read: 415 `unsupported_media_type` for .xls, .xlsb, .ods, other
 * archives and workbooks with a password; 422 `unreadable_xlsx` for a broken or empty workbook and one beyond the
 * limits; 413 `file_too_large` for too many rows or too much text; 503 `unavailable` when there is no room for
 * temporary files. Errors of the storage and the reason of `signal` are passed on unchanged: an aborted conversion
 * ends after the current block of input, even when the sheet yields no rows. An error may come after the first bytes:
 * the output is then incomplete.
 */
export async function openXlsx(
  source: XlsxSource,
  overrides: Partial<XlsxLimits> = {},
  signal?: AbortSignal,
): Promise<OpenXlsx> {
  const limits = { ...xlsxLimits, ...overrides };
  await refuseCompoundFile(source);
  const endsAt = performance.now() + limits.convertMsMax;
  const parts = await openZipParts(source, limits, () => {
    signal?.throwIfAborted();
    if (performance.now() > endsAt) throw tooSlow(limits);
  });
  const { sheets, stringsPart, forms, is1904 } = await readWorkbook(parts, limits);
  const strings = new SharedStrings(limits);
  try {
    if (stringsPart !== null) await readSharedStrings(parts.read(stringsPart), strings);
  } catch (error) {
    await strings.close();
    throw error;
  }
  return {
    sheets: sheets.map(({ name }) => name),
    sheetToCsv(index) {
      const { part } = must(sheets[index], 'a sheet of the workbook');
      return sheetToCsv(parts.read(part), { strings, forms, is1904, limits });
    },
    close: () => strings.close(),
  };
}

async function* sheetToCsv(
  bytes: AsyncIterable<Buffer>,
  context: SheetContext,
): AsyncGenerator<Buffer> {
  const { csvBytesMax } = context.limits;
  const sheet = new SheetCsv(context);
  let total = 0;
  let pending = '';
  const flush = (): Buffer => {
    const csv = Buffer.from(pending);
    pending = '';
    total += csv.length;
    if (total > csvBytesMax) throw tooMuchText(csvBytesMax);
    return csv;
  };
  for await (const _ of scanXmlPart(bytes, sheet)) {
    pending += sheet.take();
    if (pending.length < OUTPUT_BYTES) continue;
    yield flush();
    // A few kilobytes of a sheet may refer to megabytes of shared strings. The thread also serves all other calls.
    await nextRound();
  }
  if (pending !== '') yield flush();
}

/**
 * Old workbooks and those with a password are compound files (MS-CFB); the latter contain a stream named
 * `EncryptedPackage` (MS-OFFCRYPTO 2.3.4.4), which their directory lists.
 */
async function refuseCompoundFile(source: XlsxSource): Promise<void> {
  const head = await source.get({ from: 0, to: Math.min(source.bytes, 512) });
  if (isXlsx(head)) return;
  if (!head.subarray(0, compoundMagic.length).equals(compoundMagic)) {
    throw notXlsx('unknown', 'This file is not an Excel workbook (.xlsx).');
  }
  if (await isEncryptedPackage(source, head)) {
    throw notXlsx('encrypted', 'This workbook has a password. Remove it and save again, or:');
  }
  throw notXlsx('xls', 'This file is an old Excel workbook (.xls).');
}

async function isEncryptedPackage(source: XlsxSource, head: Buffer): Promise<boolean> {
  if (head.length < 512) return false;
  const sectorBytes = 2 ** Math.min(head.readUInt16LE(30), 12);
  const from = Math.min(source.bytes, (head.readUInt32LE(48) + 1) * sectorBytes);
  const directory = await source.get({ from, to: Math.min(source.bytes, from + 4096) });
  return directory.includes(Buffer.from('EncryptedPackage', 'utf16le'));
}

function tooSlow({ convertMsMax }: XlsxLimits): Error {
  return unreadableXlsx(`it takes more than ${convertMsMax / 1000} s to read`);
}

function tooMuchText(bytesMax: number): Error {
  return xlsxTooLarge(
    `This sheet holds more than ${bytesMax} bytes of text. Split it into several files.`,
    { bytes_max: bytesMax },
  );
}
