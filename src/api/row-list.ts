/** Converts a small list of JSON rows to CSV, the form of an uploaded file. */
import { z } from 'zod';
import { type AppError, invalidParameter } from '../core/lib/errors.ts';
import { isOperationName, operations } from '../core/operations.ts';
import { encodeCell } from '../formats/csv/quote-cell.ts';
import { contextColumns } from '../jobs/mapping/columns.ts';
import { parseValues } from './parse-parameters.ts';
import { parseExactly } from './read-json.ts';

/** Maximum rows of one call; longer lists are uploaded as files. */
const ROWS_MAX = 1000;
const COLUMNS_MAX = 100;
const CELL_LENGTH_MAX = 10_000;

const cell = z.union([z.string().max(CELL_LENGTH_MAX), z.number(), z.boolean(), z.null()]);
const name = z.string().min(1).max(200);
const rowSchema = z.record(name, cell);

/** The contents of the list, for documentation and validation. */
export const rowsSchema = z.array(rowSchema).min(1).max(ROWS_MAX);

export interface RowList {
  /** The column names in order of first appearance. */
  columns: string[];
  csv: string;
}

/** Returns the rows as CSV. Throws `AppError` 400 that names the row and the column. */
export function toRowList(values: unknown): RowList {
  refuseProto(values);
  const { rows } = parseValues(z.object({ rows: rowsSchema }), { rows: values });
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0) throw badRows('must have at least one column');
  if (columns.length > COLUMNS_MAX)
    throw badRows(`must have at most ${COLUMNS_MAX} different columns`);
  const lines = rows.map((row) => toLine(columns.map((column) => String(row[column] ?? ''))));
  return { columns, csv: [toLine(columns), ...lines].join('') };
}

/** Parses a body of JSON lines. Throws `AppError` 400 that names the invalid line. */
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
 * Returns the default mapping: columns named like an identifier of the operation or like a context column. Null without
 * such an identifier; the columns are then guessed, as for a file.
 */
export function mappingOf(operation: unknown, columns: readonly string[]): object | null {
  if (typeof operation !== 'string' || !isOperationName(operation)) return null;
  const { identifiers } = operations[operation];
  if (!identifiers.some((kind) => columns.includes(kind))) return null;
  const known = [...identifiers, ...contextColumns].filter((kind) => columns.includes(kind));
  return Object.fromEntries(known.map((kind) => [kind, kind]));
}

/** Throws for a member `__proto__`, which the schema would drop silently together with its column. */
function refuseProto(values: unknown): void {
  if (!Array.isArray(values)) return;
  const row = values.findIndex((value) => Object.hasOwn(Object(value), '__proto__'));
  if (row < 0) return;
  const message = 'cannot be the name of a column. Rename the column';
  const field = `rows.${row}.__proto__`;
  throw invalidParameter(field, message);
}

function toLine(cells: readonly string[]): string {
  const line = cells.map((text) => encodeCell(text, { delimiter: ',', safe: false })).join(',');
  // A row without a value is still a row, not a blank line.
  return `${line.trim() === '' ? `"${line}"` : line}\n`;
}

function badRows(message: string): AppError {
  return invalidParameter('rows', message);
}
