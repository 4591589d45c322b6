/** Limits of a workbook's content and cost. The limits of Excel itself are those published by Microsoft. */

import {
  ROWS_MAX as batchRowsMax,
  CHUNK_BYTES_MAX,
  COLUMNS_MAX,
  LONG_CELL_CHARS as cellCharsMax,
} from '../csv/split.ts';

export { cellCharsMax };
/** Excel: maximum rows of one sheet. */
export const SHEET_ROWS_MAX = 1_048_576;
/** Excel: maximum columns of one sheet. */
export const SHEET_COLUMNS_MAX = 16_384;

const MEBIBYTE = 1024 * 1024;

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
  /** Sheets, hidden ones included: their names are stored with the list. */
  sheetsMax: number;
  /** Relations of one part to others. */
  relationsMax: number;
  /** Number formats, and styles of cells; Excel writes at most 65,490. */
  stylesMax: number;
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
  directoryBytesMax: 4 * MEBIBYTE,
  unzippedBytesMax: 2048 * MEBIBYTE,
  ratioMax: 100,
  ratioFromBytes: MEBIBYTE,
  partBytesMax: 16 * MEBIBYTE,
  sheetsMax: 1000,
  relationsMax: 10_000,
  stylesMax: 70_000,
  sharedStringBytesMax: 256 * MEBIBYTE,
  sharedStringMemoryBytes: 32 * MEBIBYTE,
  rowsMax: batchRowsMax + 1,
  columnsMax: COLUMNS_MAX,
  rowBytesMax: CHUNK_BYTES_MAX,
  csvBytesMax: 1024 * MEBIBYTE,
  convertMsMax: 25_000,
};
