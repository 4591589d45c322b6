/**
 * Writes the cells of one sheet (ECMA-376 part 1, 18.3.1) as CSV text, row by row. Rows and columns that the sheet
 * omits are written empty, so that line n of the CSV is row n of the sheet as long as no cell contains a newline.
 */

import { encodeCell } from '../csv/quote-cell.ts';
import { SHEET_COLUMNS_MAX, SHEET_ROWS_MAX, type XlsxLimits } from './limits.ts';
import { type NumberForm, plainForm } from './number-form.ts';
import { numberText } from './number-text.ts';
import type { SharedStrings } from './shared-strings.ts';
import { StringItem } from './string-item.ts';
import { TextRun } from './text-run.ts';
import { unreadableXlsx, xlsxTooLarge } from './xlsx-errors.ts';
import { readAttribute, type XmlHandler } from './xml-scanner.ts';

export interface SheetContext {
  strings: SharedStrings;
  forms: NumberForm[];
  is1904: boolean;
  limits: XlsxLimits;
}

const csvStyle = { delimiter: ',', safe: false } as const;
const NEWLINE = '\r\n';

export class SheetCsv implements XmlHandler {
  readonly #sheet: SheetContext;
  readonly #inline = new StringItem();
  readonly #value = new TextRun();
  #inData = false;
  #inCell = false;
  #isValue = false;
  #isInline = false;
  #type = 'n';
  #style = 0;
  /** One-based, of the row being read. */
  #row = 0;
  /** Its cells, as text or as the number of a shared string. */
  #cells: (string | number)[] = [];
  /** Zero-based, of the cell being read. */
  #column = -1;
  /** Rows written so far, including the omitted and empty ones between them. */
  #rowsWritten = 0;
  /** Number of cells of the first row that is not empty: shorter rows are padded to it. */
  #width = 0;
  #csv = '';

  constructor(sheet: SheetContext) {
    this.#sheet = sheet;
  }

  /** Returns the CSV text of the rows that ended since the last call. */
  take(): string {
    const csv = this.#csv;
    this.#csv = '';
    return csv;
  }

  open(name: string, attributes: string): void {
    if (!this.#inData) {
      if (name === 'sheetData') this.#inData = true;
    } else if (this.#inCell) this.#openInCell(name);
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'row') this.#openRow(attributes);
  }

  text(piece: string): void {
    if (this.#isValue) this.#value.add(piece);
    else if (this.#isInline) this.#inline.text(piece);
  }

  close(name: string): void {
    if (!this.#inData) return;
    if (this.#isInline && name !== 'is') this.#inline.close(name);
    else if (name === 'v') this.#isValue = false;
    else if (name === 'is') this.#isInline = false;
    else if (name === 'c') this.#closeCell();
    else if (name === 'row') this.#closeRow();
    else if (name === 'sheetData') this.#inData = false;
  }

  #openRow(attributes: string): void {
    const number = readAttribute(attributes, 'r');
    const row = number === null ? this.#row + 1 : Number(number);
    if (!Number.isInteger(row) || row <= this.#row || row > SHEET_ROWS_MAX) {
      throw unreadableXlsx(`its row ${number ?? row} is out of order`);
    }
    this.#row = row;
    this.#cells = [];
    this.#column = -1;
  }

  #openCell(attributes: string): void {
    const reference = readAttribute(attributes, 'r');
    this.#column = reference === null ? this.#column + 1 : columnOf(reference);
    this.#type = readAttribute(attributes, 't') ?? 'n';
    this.#style = Number(readAttribute(attributes, 's') ?? 0);
    this.#inCell = true;
  }

  #openInCell(name: string): void {
    if (this.#isInline) this.#inline.open(name);
    else if (name === 'v') this.#isValue = true;
    else if (name === 'is') this.#isInline = true;
  }

  #closeCell(): void {
    this.#inCell = false;
    const value = this.#value.take();
    const inline = this.#inline.take();
    const cell = this.#type === 'inlineStr' ? inline : this.#cellOf(value);
    if (cell === '') return;
    if (this.#column >= this.#sheet.limits.columnsMax) {
      if (this.#textOf(cell) === '') return;
      throw unreadableXlsx(
        `row ${this.#row} has more than ${this.#sheet.limits.columnsMax} columns`,
      );
    }
    while (this.#cells.length < this.#column) this.#cells.push('');
    this.#cells[this.#column] = cell;
  }

  #cellOf(value: string): string | number {
    const { forms, is1904 } = this.#sheet;
    switch (this.#type) {
      case 's':
        return value === '' ? '' : Number(value);
      case 'b':
        return booleanText(value.trim());
      case 'n':
        return numberText(value, forms[this.#style] ?? plainForm, is1904);
      default:
        // Texts of formulas, errors such as #N/A, and dates that are ISO 8601 already.
        return value;
    }
  }

  #textOf(cell: string | number): string {
    if (typeof cell === 'string') return cell;
    const text = this.#sheet.strings.at(cell);
    if (text === null) throw unreadableXlsx(`a cell of row ${this.#row} names a missing text`);
    return text;
  }

  #closeRow(): void {
    const cells = this.#readCells();
    if (cells.length === 0) return;
    const { rowsMax } = this.#sheet.limits;
    if (this.#row > rowsMax) {
      throw xlsxTooLarge(
        `The sheet has more than ${rowsMax - 1} rows. Split it into several files.`,
        { rows_max: rowsMax - 1 },
      );
    }
    if (this.#width === 0) this.#width = cells.length;
    const empty = ','.repeat(Math.max(0, this.#width - cells.length));
    const line = cells.map((cell) => encodeCell(cell, csvStyle)).join(',') + empty;
    this.#checkLine(line);
    this.#csv += NEWLINE.repeat(this.#row - this.#rowsWritten - 1) + line + NEWLINE;
    this.#rowsWritten = this.#row;
  }

  /**
   * Returns the texts of the row's cells, up to the last that is not empty. Shared strings are read here, once all cells are
   * known: a row may name thousands of long ones in the same cell, and keep none of them.
   */
  #readCells(): string[] {
    const texts: string[] = [];
    let chars = 0;
    let width = 0;
    for (const cell of this.#cells) {
      const text = this.#textOf(cell);
      chars += text.length;
      if (chars > this.#sheet.limits.rowBytesMax) throw this.#rowTooLong();
      texts.push(text);
      if (text !== '') width = texts.length;
    }
    return texts.slice(0, width);
  }

  #checkLine(line: string): void {
    const { rowBytesMax } = this.#sheet.limits;
    // A character takes at most three bytes (an astral one is two characters and four bytes).
    if (line.length * 3 <= rowBytesMax || Buffer.byteLength(line) <= rowBytesMax) return;
    throw this.#rowTooLong();
  }

  #rowTooLong(): Error {
    const { rowBytesMax } = this.#sheet.limits;
    return unreadableXlsx(`row ${this.#row} takes more than ${rowBytesMax} bytes`);
  }
}

function booleanText(value: string): string {
  if (value === '1' || value === 'true') return 'TRUE';
  return value === '0' || value === 'false' ? 'FALSE' : value;
}

/** The zero-based column of a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at++) {
    const letter = (reference.charCodeAt(at) | 0x20) - 0x60;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  if (column < 1 || column > SHEET_COLUMNS_MAX) {
    throw unreadableXlsx(`a cell has no column (${reference.slice(0, 20)})`);
  }
  return column - 1;
}
