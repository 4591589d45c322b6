/** Limits of a workbook's content and cost. The limits of Excel itself are those published by Microsoft. */

import {
  rowsMax as batchRowsMax,
  longCellChars as cellCharsMax,
  chunkBytesMax,
  columnsMax,
} from '../csv/split.ts';

export { cellCharsMax };
/** Excel: maximum rows of one sheet. */
export const sheetRowsMax = 1_048_576;
/** Excel: maximum columns of one sheet. */
export const sheetColumnsMax = 16_384;

const mebibyte = 1024 * 1024;

export interface XlsxLimits {
  /** Members of the zip archive; a workbook has a dozen, one with many images some thousands. */
  entriesMax: number;
  /**
   * Bytes of the directory, local headers included: 10,000 members with names and extra fields of usual length take
   * 1.5 MB. Four bytes of it can become an object of two hundred.
   */
  directoryBytesMax: number;
  /** Bytes of all parts that are read, unzipped. A full million rows by ten columns takes 700 MB. */
  unzippedBytesMax: number;
  /** Growth of one part when unzipped; repetitive sheets reach a few dozen. */
  ratioMax: number;
  /** Parts smaller than this may grow by any ratio. */
  ratioFromBytes: number;
  /** Bytes of one part that describes the workbook: relations, sheets, styles. */
  partBytesMax: number;
  /** Bytes of all shared strings, plus eight for each. Any cell may refer to any of them. */
  sharedStringBytesMax: number;
  /** Bytes of these that stay in memory; the rest is spilled to a temporary file. */
  sharedStringMemoryBytes: number;
  /** Lines of the sheet, header included. */
  rowsMax: number;
  columnsMax: number;
  /** Bytes of one row as CSV. */
  rowBytesMax: number;
  /** Bytes of the whole sheet as CSV. For an upload the limit of all uploads applies instead. */
  csvBytesMax: number;
  /** Milliseconds for the whole conversion. A sheet of 200 MB of text took 19 s on a busy machine. */
  convertMsMax: number;
}

export const xlsxLimits: XlsxLimits = {
  entriesMax: 10_000,
  directoryBytesMax: 4 * mebibyte,
  unzippedBytesMax: 2048 * mebibyte,
  ratioMax: 100,
  ratioFromBytes: mebibyte,
  partBytesMax: 16 * mebibyte,
  sharedStringBytesMax: 256 * mebibyte,
  sharedStringMemoryBytes: 32 * mebibyte,
  rowsMax: batchRowsMax + 1,
  columnsMax,
  rowBytesMax: chunkBytesMax,
  csvBytesMax: 1024 * mebibyte,
  convertMsMax: 25_000,
};
