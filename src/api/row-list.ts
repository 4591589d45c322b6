/** Converts a small list of JSON rows to CSV, the form of an uploaded file. */
import { z } from 'zod';
import {
  AppError,
  type FieldError,
  invalidParameter,
  invalidParameters,
} from '../core/lib/errors.ts';
import { isOperationName, operations } from '../core/operations.ts';
import { sepLine } from '../formats/csv/dialect.ts';
import { encodeCell } from '../formats/csv/quote-cell.ts';
import { contextColumns } from '../mapping/columns.ts';
import { MEMBERS_MAX } from './http/json-bounds.ts';
import { ERRORS_MAX } from './http/parse-parameters.ts';
import { parseJson } from './http/read-json.ts';

/** Maximum rows of one call; longer lists are uploaded as files. */
const ROWS_MAX = 1000;
const COLUMNS_MAX = MEMBERS_MAX;
const NAME_LENGTH_MAX = 200;
const CELL_LENGTH_MAX = 10_000;

const cell = z.union([z.string().max(CELL_LENGTH_MAX), z.number(), z.boolean(), z.null()]);
const name = z.string().min(1).max(NAME_LENGTH_MAX);

type Row = Record<string, string | number | boolean | null>;

/** The contents of the list, for documentation. */
export const rowsSchema = z.array(z.record(name, cell)).min(1).max(ROWS_MAX);

export interface RowList {
  /** The column names in order of first appearance. */
  columns: string[];
  csv: string;
}

/** Returns the rows as CSV. Throws `AppError` 400 that names the row and the column. */
export function toRowList(values: unknown): RowList {
  const rows = checkRows(values);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (columns.length === 0) throw badRows('must have at least one column');
  if (columns.length > COLUMNS_MAX)
    throw badRows(`must have at most ${COLUMNS_MAX} different columns`);
  const lines = rows.map((row) => toLine(columns.map((column) => textOf(row, column))));
  const header = toLine(columns);
  // Not in all lists: a call that is repeated after an update is compared by its text.
  const first = /^"?sep=/i.test(header) ? sepLine(',', '\n') : '';
  return { columns, csv: [first, header, ...lines].join('') };
}

/**
 * Checks the rows as `rowsSchema` does. By hand, because a schema notes an error for each of a hundred thousand wrong
 * cells, and drops a member `__proto__` silently together with its column. Throws `AppError` 400 with the first errors.
 */
function checkRows(values: unknown): Row[] {
  if (!Array.isArray(values)) throw badRows('must be a list of objects');
  if (values.length === 0) throw badRows('must have at least one row');
  if (values.length > ROWS_MAX) throw tooManyRows();
  const errors: FieldError[] = [];
  for (const [index, row] of values.entries()) {
    for (const error of errorsOfRow(row, `rows.${index}`)) {
      errors.push(error);
      if (errors.length === ERRORS_MAX) throw invalidParameters(errors);
    }
  }
  if (errors.length > 0) throw invalidParameters(errors);
  return values;
}

function* errorsOfRow(row: unknown, field: string): Generator<FieldError> {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    yield { field, message: 'must be an object: column names with cells' };
    return;
  }
  for (const [column, value] of Object.entries(row)) {
    const cellField = `${field}.${column.slice(0, NAME_LENGTH_MAX)}`;
    if (column === '__proto__') {
      yield { field: cellField, message: 'cannot be the name of a column. Rename the column' };
    }
    if (column === '' || column.length > NAME_LENGTH_MAX) {
      const message = `the name of a column must have 1 to ${NAME_LENGTH_MAX} characters`;
      yield { field: cellField, message };
    }
    if (!isCell(value)) {
      const message = `must be a text of at most ${CELL_LENGTH_MAX} characters, a number, a boolean or null`;
      yield { field: cellField, message };
    }
  }
}

function isCell(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= CELL_LENGTH_MAX;
  return typeof value === 'number' || typeof value === 'boolean' || value === null;
}

/** Parses a body of JSON lines. Throws `AppError` 400 that names the invalid line, or the maximum of rows. */
export function parseJsonLines(text: string): unknown[] {
  const rows: unknown[] = [];
  let line = 0;
  for (let from = 0; from < text.length; line++) {
    const end = text.indexOf('\n', from);
    const to = end === -1 ? text.length : end;
    const row = text.slice(from, to).trim();
    from = to + 1;
    if (row === '') continue;
    if (rows.length === ROWS_MAX) throw tooManyRows();
    rows.push(parseLine(row, line + 1));
  }
  return rows;
}

function parseLine(text: string, line: number): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const [{ field = 'body', message = '' } = {}] = cause.errors;
    const place = field === 'body' ? `line ${line}` : `line ${line}, \`${field}\`,`;
    throw invalidParameter('body', `${place} ${message}`, { line, cause });
  }
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

/** Only of the row itself: `constructor` is a member of every object. */
function textOf(row: Row, column: string): string {
  return Object.hasOwn(row, column) ? String(row[column] ?? '') : '';
}

function toLine(cells: readonly string[]): string {
  const line = cells.map((text) => encodeCell(text, { delimiter: ',', safe: false })).join(',');
  // A row without a value is still a row, not a blank line.
  return `${line.trim() === '' ? `"${line}"` : line}\n`;
}

function tooManyRows(): AppError {
  return badRows(`must have at most ${ROWS_MAX} rows. Upload a longer list as a file`);
}

function badRows(message: string): AppError {
  return invalidParameter('rows', message);
}
