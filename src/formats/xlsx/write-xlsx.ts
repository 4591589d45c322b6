/**
 * Writes rows as an Excel workbook of one sheet (ECMA-376, transitional), streamed: strings are inline, so nothing
 * is held. Every cell is text in a text format, which no spreadsheet runs as a formula or converts to a number or
 * date, except numbers that are safe to convert.
 */

import { escapeCell } from './cell-text.ts';
import { cellCharsMax, SHEET_COLUMNS_MAX, SHEET_ROWS_MAX } from './limits.ts';
import { notForXlsx } from './xlsx-errors.ts';
import { checkMemberBytes, isMemberSize, type ZipMember, zipStream } from './zip-stream.ts';

/** One cell: `typed` marks one of our values with a known form, as for `encodeCell`. */
export interface XlsxCell {
  text: string;
  typed: boolean;
}

/** A row, or a number of empty ones. */
type XlsxRow = readonly XlsxCell[] | number;

const PIECE_CHARS = 64 * 1024;
const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
/** The XML around the rows of the sheet. */
export const SHEET_BEGIN = `${DECLARATION}<worksheet xmlns="${MAIN}"><sheetData>`;
export const SHEET_END = '</sheetData></worksheet>';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPES = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/**
 * Writes a workbook of these rows, the first of which is usually the header. Empty cells are omitted. Throws
 * `AppError` 422 `not_as_xlsx` at the row, column or cell that exceeds Excel's limits (1,048,576 rows, 16,384
 * columns, 32,767 characters) and beyond 4 GiB; the output is then not a workbook. Errors of `rows` are passed on.
 */
export async function* rowsToXlsx(
  rows: AsyncIterable<XlsxRow> | Iterable<XlsxRow>,
): AsyncGenerator<Buffer> {
  yield* zipStream([
    ...fixedMembers(),
    { name: 'xl/worksheets/sheet1.xml', bytes: sheetXml(rows) },
  ]);
}

/**
 * Runs the rows through the writer and discards the output: throws what `rowsToXlsx` would throw, before anything
 * is sent. Takes almost as long as to send it: only for rows of which `sheetBytesMax` leaves it open.
 */
export async function assertFitsXlsx(rows: AsyncIterable<XlsxRow>): Promise<void> {
  let bytes = 0;
  for await (const xml of sheetXml(rows)) {
    bytes += xml.length;
    checkMemberBytes(bytes);
  }
}

/** Properties of a result that are known before its cells are read. */
export interface ResultSize {
  /** Header and blank lines included. */
  rows: number;
  columns: number;
  /** As CSV. */
  bytes: number;
  /** Maximum bytes of a cell. */
  cellBytesMax: number;
}

/** XML takes at most seven bytes for one of CSV (`_x000D_`), plus a fixed number for each cell. */
const XML_BYTES_PER_BYTE = 7;
const XML_BYTES_PER_CELL = 80;
/** As CSV: small enough to be counted before a response, and more than Excel opens. */
const CSV_BYTES_MAX = 1024 ** 3;

/**
 * Returns true when a result certainly fits, false when its rows have to be counted. Throws `AppError` 422
 * `not_as_xlsx` when it certainly does not fit, or is more than 1 GiB as CSV.
 */
export function certainlyFitsXlsx({ rows, columns, bytes, cellBytesMax }: ResultSize): boolean {
  if (bytes > CSV_BYTES_MAX) throw notForXlsx(`it takes more than ${CSV_BYTES_MAX} bytes as CSV`);
  return (
    rows <= SHEET_ROWS_MAX &&
    columns <= SHEET_COLUMNS_MAX &&
    cellBytesMax <= cellCharsMax &&
    isMemberSize(bytes * XML_BYTES_PER_BYTE + rows * columns * XML_BYTES_PER_CELL)
  );
}

/**
 * Returns why no workbook can hold the result of a list, as far as its own rows determine it; null when nothing is
 * known. `longestCell` is in characters.
 */
export function whyNotAsXlsx({ rows, longestCell }: { rows: number; longestCell: number }) {
  if (longestCell > cellCharsMax) return `a cell has more than ${cellCharsMax} characters`;
  // One is the header.
  return rows + 1 > SHEET_ROWS_MAX ? `it has more than ${SHEET_ROWS_MAX} rows` : null;
}

async function* sheetXml(rows: AsyncIterable<XlsxRow> | Iterable<XlsxRow>): AsyncGenerator<Buffer> {
  let xml = SHEET_BEGIN;
  let row = 0;
  for await (const cells of rows) {
    row = rowAfter(row, typeof cells === 'number' ? cells : 1);
    if (typeof cells !== 'number') xml += rowXml(cells, row);
    if (xml.length < PIECE_CHARS) continue;
    yield Buffer.from(xml);
    xml = '';
  }
  yield Buffer.from(xml + SHEET_END);
}

/** The number of the row so many rows after another. Throws `AppError` 422 for one too many. */
export function rowAfter(row: number, count: number): number {
  if (row + count > SHEET_ROWS_MAX) throw notForXlsx(`it has more than ${SHEET_ROWS_MAX} rows`);
  return row + count;
}

/** The XML of a row, '' when all cells are empty. Throws `AppError` 422 for a column too many and a cell too long. */
export function rowXml(cells: readonly XlsxCell[], row: number): string {
  if (cells.length > SHEET_COLUMNS_MAX) {
    throw notForXlsx(`row ${row} has more than ${SHEET_COLUMNS_MAX} columns`);
  }
  let xml = '';
  for (const [column, { text, typed }] of cells.entries()) {
    if (text === '') continue;
    const reference = columnName(column) + row;
    if (text.length > cellCharsMax) {
      throw notForXlsx(`the cell ${reference} has more than ${cellCharsMax} characters`);
    }
    xml += typed && isSafeNumber(text) ? numberCell(reference, text) : textCell(reference, text);
  }
  return xml === '' ? '' : rowElement(row, xml);
}

/** A row with the XML of its cells. */
export function rowElement(row: number, xml: string): string {
  return `<row r="${row}">${xml}</row>`;
}

const PLAIN_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/;
/** Excel shows and keeps fifteen digits of a number. */
const DIGITS_MAX = 15;

/**
 * Returns true for a number that a spreadsheet preserves. A leading `+` or zero, a trailing zero after the point,
 * an exponent or a sixteenth digit would be lost: such a value stays text.
 */
function isSafeNumber(text: string): boolean {
  if (text.length > DIGITS_MAX + 2 || !PLAIN_NUMBER.test(text)) return false;
  return text.replace(/\D/g, '').length <= DIGITS_MAX && String(Number(text)) === text;
}

function numberCell(reference: string, text: string): string {
  return `<c r="${reference}"><v>${text}</v></c>`;
}

/** Style 1 is the text format: such a cell stays text when a person edits it, too. */
export function textCell(reference: string, text: string): string {
  const space = /^\s|\s$|[\t\n]/.test(text) ? ' xml:space="preserve"' : '';
  return `<c r="${reference}" s="1" t="inlineStr"><is><t${space}>${escapeCell(text)}</t></is></c>`;
}

const columnNames: string[] = [];

/** `A` for 0, `AA` for 26. */
export function columnName(column: number): string {
  const known = columnNames[column];
  if (known !== undefined) return known;
  const last = String.fromCharCode(0x41 + (column % 26));
  const name = column < 26 ? last : columnName(Math.floor(column / 26) - 1) + last;
  columnNames[column] = name;
  return name;
}

/** The parts that are the same in every workbook. */
function fixedMembers(): ZipMember[] {
  const parts: [name: string, xml: string][] = [
    ['[Content_Types].xml', contentTypesXml()],
    ['_rels/.rels', relationsXml([['officeDocument', 'xl/workbook.xml']])],
    ['xl/workbook.xml', workbookXml()],
    [
      'xl/_rels/workbook.xml.rels',
      relationsXml([
        ['worksheet', 'worksheets/sheet1.xml'],
        ['styles', 'styles.xml'],
      ]),
    ],
    ['xl/styles.xml', stylesXml()],
  ];
  return parts.map(([name, xml]) => ({ name, bytes: [Buffer.from(DECLARATION + xml)] }));
}

function contentTypesXml(): string {
  const parts = [
    ['/xl/workbook.xml', 'sheet.main'],
    ['/xl/worksheets/sheet1.xml', 'worksheet'],
    ['/xl/styles.xml', 'styles'],
  ].map(([name, type]) => `<Override PartName="${name}" ContentType="${TYPES}.${type}+xml"/>`);
  return (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    '<Default Extension="rels" ' +
    'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    `<Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`
  );
}

function relationsXml(targets: [type: string, target: string][]): string {
  const each = targets.map(
    ([type, target], index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${RELATIONS}">${each.join('')}</Relationships>`;
}

function workbookXml(): string {
  return (
    `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
    '<sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>'
  );
}

/** Style 0 is General; style 1 is Text (built-in format 49). The rest is what the schema demands. */
function stylesXml(): string {
  const xf = (format: number) =>
    `<xf numFmtId="${format}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`;
  return (
    `<styleSheet xmlns="${MAIN}">` +
    '<fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>' +
    '<fills count="2"><fill><patternFill patternType="none"/></fill>' +
    '<fill><patternFill patternType="gray125"/></fill></fills>' +
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `<cellXfs count="2">${xf(0)}${xf(49)}</cellXfs>` +
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>' +
    '</styleSheet>'
  );
}
