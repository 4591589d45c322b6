/**
 * The stored record: the cells of one record as text, in the order of its field table, separated by the unit
 * separator. Texts never contain the separator, because the import removes it.
 */
import { assert, must } from '../lib/assert.ts';
import type { RecordField } from './fields.ts';

/** Unit separator, between the cells of a stored record, as text and as a byte. */
export const CELL_SEPARATOR = '\u001f';
export const CELL_SEPARATOR_BYTE = 0x1f;

/** Returns the end of the cell that begins at `from`, at most `to`: the position of its separator, if any. */
export function endOfCell(bytes: Uint8Array, from: number, to: number): number {
  let end = from;
  while (end < to && bytes[end] !== CELL_SEPARATOR_BYTE) end++;
  return end;
}

/** Returns the begin of the cell that is `count` cells after the one at `from`. */
export function startOfCell(bytes: Uint8Array, from: number, to: number, count: number): number {
  let start = from;
  for (let cell = 0; cell < count; cell++) start = endOfCell(bytes, start, to) + 1;
  return start;
}

/** Splits a stored record into its cells, one per field, as text. A wrong number of them is a bug. */
function recordCells(fields: readonly RecordField[], record: string): string[] {
  const cells = record.split(CELL_SEPARATOR);
  assert(
    cells.length === fields.length,
    `a stored record has ${cells.length} cells for ${fields.length} fields`,
  );
  return cells;
}

/** Returns the text of one cell by field name; '' when absent. An unknown name is a bug. */
export function recordCell(fields: readonly RecordField[], record: string, name: string): string {
  const index = fields.findIndex((field) => field.name === name);
  assert(index >= 0, `the record has no field ${name}`);
  return must(recordCells(fields, record)[index], `cell ${name}`);
}

/**
 * Returns the JSON text of the record as in the API: every field, in order, with its JSON type. Every single call
 * and every page passes through here, and producing text from text takes a third of the time of serialising an
 * object.
 */
export function recordToJson(fields: readonly RecordField[], record: string): string {
  let parts = partsOf.get(fields);
  if (parts === undefined) {
    parts = fields.map(jsonPart);
    partsOf.set(fields, parts);
  }
  const cells = recordCells(fields, record);
  let json = '';
  for (let index = 0; index < parts.length; index++) {
    const { name, absent, isText } = must(parts[index], 'field');
    const cell = must(cells[index], 'cell');
    if (cell === '') json += absent;
    else json += name + (isText ? JSON.stringify(cell) : cell);
  }
  return `${json}}`;
}

/** The JSON of a field that is the same for every record. */
interface JsonPart {
  name: string;
  absent: string;
  isText: boolean;
}

const partsOf = new WeakMap<readonly RecordField[], JsonPart[]>();

function jsonPart(field: RecordField, index: number): JsonPart {
  const name = `${index === 0 ? '{' : ','}${JSON.stringify(field.name)}:`;
  // JSON cells are JSON already, and numbers are written as in JSON.
  const isText = field.type !== 'integer' && field.type !== 'json';
  return { name, absent: name + JSON.stringify(absentValue(field)), isText };
}

/** The properties of a field that determine the JSON value of its cells. */
export type CellShape = Pick<RecordField, 'name' | 'type' | 'nullable' | 'absent'>;

/** Returns the JSON value of one cell: an absent one is null, or "", 0, [] or its object when null is not allowed. */
export function cellToJson(field: CellShape, cell: string): unknown {
  if (cell === '') return absentValue(field);
  switch (field.type) {
    case 'integer': {
      const value = Number(cell);
      assert(Number.isSafeInteger(value), `cell ${field.name} is not an integer`);
      return value;
    }
    case 'json':
      return JSON.parse(cell);
    case 'text':
    case 'date':
    case 'timestamp':
      return cell;
  }
}

function absentValue(field: CellShape): unknown {
  if (field.nullable) return null;
  if (field.absent !== undefined) return field.absent;
  if (field.type === 'integer') return 0;
  return field.type === 'json' ? [] : '';
}
