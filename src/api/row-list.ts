/** A small list that comes as JSON rows instead of a file: written as the CSV that a file would be. */
import { z } from 'zod';
import { type AppError, invalidParameter } from '../core/lib/errors.ts';
import { isOperationName, operations } from '../core/operations.ts';
import { encodeCell } from '../formats/csv/quote-cell.ts';
import { contextColumns } from '../jobs/mapping/columns.ts';
import { parseValues } from './parse-parameters.ts';
import { parseExactly } from './read-json.ts';

/** Rows of one call; more are a file. */
const ROWS_MAX = 1000;
const COLUMNS_MAX = 100;
const CELL_LENGTH_MAX = 10_000;

const cell = z.union([z.string().max(CELL_LENGTH_MAX), z.number(), z.boolean(), z.null()]);
const name = z.string().min(1).max(200);
const rowSchema = z.record(name, cell);

/** The contents of the list, for documentation and validation. */
export const rowsSchema = z.array(rowSchema).min(1).max(ROWS_MAX);

export interface RowList {
  /** The column names in the order in which rows first have them. */
  columns: string[];
  csv: string;
}

/** Rows as CSV. Throws `AppError` 400 that names the row and the column of what is wrong. */
export function toRowList(values: unknown): RowList {
  refuseProto(values);
  const { rows } = parseValues(z.object({ rows: rowsSchema }), { rows: values });
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0) throw badRows('no row has a column');
  if (columns.length > COLUMNS_MAX) throw badRows(`more than ${COLUMNS_MAX} different columns`);
  const lines = rows.map((row) => toLine(columns.map((column) => String(row[column] ?? ''))));
  return { columns, csv: [toLine(columns), ...lines].join('') };
}

/** The rows of a body of JSON lines. Throws `AppError` 400 that names the line that is no JSON. */
export function parseJsonLines(text: string): unknown[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [parseExactly(line)];
    } catch (cause) {
      const message = `line ${index + 1} is not valid JSON`;
      throw invalidParameter('body', message, { line: index + 1, cause });
    }
  });
}

/**
 * The default mapping of the columns: those named as an identifier of the operation or as
 * a context column are that. Null when none is; they are guessed then, as for a file.
 */
export function mappingOf(operation: unknown, columns: readonly string[]): object | null {
  if (typeof operation !== 'string' || !isOperationName(operation)) return null;
  const { identifiers } = operations[operation];
  if (!identifiers.some((kind) => columns.includes(kind))) return null;
  const known = [...identifiers, ...contextColumns].filter((kind) => columns.includes(kind));
  return Object.fromEntries(known.map((kind) => [kind, kind]));
}

/** A member of this name is left out by the schema without a word, and with it a column. */
function refuseProto(values: unknown): void {
  if (!Array.isArray(values)) return;
  const row = values.findIndex((value) => Object.hasOwn(Object(value), '__proto__'));
  if (row < 0) return;
  const message = 'is a name that no column may have; call the column something else';
  const field = `rows.${row}.__proto__`;
  throw invalidParameter(field, message);
}

function toLine(cells: readonly string[]): string {
  const line = cells.map((text) => encodeCell(text, { delimiter: ',', safe: false })).join(',');
  // A row without anything is a row all the same, not a blank line.
  return `${line.trim() === '' ? `"${line}"` : line}\n`;
}

function badRows(message: string): AppError {
  return invalidParameter('rows', message);
}
