/**
 * Maps the columns of a list to identifiers: as the caller requests, or guessed from the header and the first
 * cells. Pure. A guess never maps a column to two identifiers.
 */
import type { MatchMode } from '../core/enrich/match-mode.ts';
import { type AppError, invalidParameter, unprocessable } from '../core/lib/errors.ts';
import { type OperationName, operations } from '../core/operations.ts';
import { foldColumnName } from './column-names.ts';
import { type ColumnMapping, guessColumns, type MappedColumn } from './guess-columns.ts';
import {
  columnsOf,
  describeContent,
  kindOfContent,
  type ListHead,
  readColumns,
} from './read-columns.ts';

export type { ColumnMapping } from './guess-columns.ts';

/** Columns that are not identifiers but help to read a row and to judge its match. */
export const contextColumns = ['country', 'city', 'person_name', 'company_name'] as const;
/** Columns that only a likely match reads. */
const likelyColumns = ['title'] as const;

/** A caller's mapping: for each kind a header name, a column number from 1, or several of them. */
export type RequestedMapping = Record<string, string | number | (string | number)[]>;

const COLUMNS_SHOWN_MAX = 20;
const NAME_SHOWN_MAX = 100;
/** Of the names of a requested mapping: each view of the list shows them, and a column may be named for every kind. */
const NAMES_BYTES_MAX = 64 * 1024;

/** The kinds that an operation can read from a list: its identifiers and the context columns. */
function mappableOf(operation: OperationName, match: MatchMode): string[] {
  const context = [...operations[operation].identifiers, ...contextColumns];
  return match === 'likely' ? [...context, ...likelyColumns] : context;
}

/** How columns are sought. */
interface MappingOptions {
  /** True for a list that may be mapped later. */
  allowUnmapped?: boolean;
  match?: MatchMode;
}

/**
 * Finds the columns of a list. A requested mapping is exact: it replaces all guesses, so kinds that it does not
 * name are not read. Without one, the header counts first, unless hardly any cell confirms it; kinds that no
 * header names are sought by content. With likely matches a person's name is enough.
 *
 * Throws `AppError` 422 `unmapped` with a description of each column when none holds an identifier of the
 * operation (unless `allowUnmapped`: such a list cannot be started before it is mapped), and 400 `invalid_parameter`
 * (field `mapping`) for a request that names an unknown kind or column.
 */
export function mapColumns(
  operation: OperationName,
  list: ListHead,
  requested: RequestedMapping | null,
  { allowUnmapped = false, match = 'exact' }: MappingOptions = {},
): ColumnMapping {
  const mapping =
    requested === null
      ? guessColumns(operation, list, match)
      : byRequest(operation, list, requested, match);
  if (allowUnmapped || isMapped(operation, mapping, match)) return mapping;
  throw requested === null ? unmapped(operation, list) : nothingRequested(operation);
}

/** True when a column holds an identifier of the operation. */
export function isMapped(
  operation: OperationName,
  mapping: ColumnMapping,
  match: MatchMode,
): boolean {
  if (match === 'likely' && mapping.person_name !== undefined) return true;
  return operations[operation].identifiers.some((kind) => mapping[kind] !== undefined);
}

function unmapped(operation: OperationName, list: ListHead): AppError {
  const { identifiers, subject } = operations[operation];
  const columns = readColumns(list, subject);
  const seen = columns.map(
    (view) => `column ${view.column}${nameOf(view.header)}: ${describeContent(view)}`,
  );
  const unread = columns
    .map((view) => ({ view, kind: identifiers.find((kind) => kind === kindOfContent(view)) }))
    .find(({ kind }) => kind !== undefined);
  const kind = unread?.kind ?? (subject === 'person' ? 'email' : 'domain');
  const { column, header } = unread?.view ?? { column: 1, header: columns[0]?.header };
  const example = { [kind]: header || column };
  const doubt = unread === undefined ? '' : `Column ${column} may be of others than the rows. `;
  const shown = seen.slice(0, COLUMNS_SHOWN_MAX).join('; ');
  const more = moreThanShown(seen);
  return unprocessable(
    'unmapped',
    `No column of this file could be read as ${identifiers.join(', ')} (${shown}${more}). ` +
      `${doubt}Name the column, for example mapping=${JSON.stringify(example)} or {"${kind}": ${column}}.`,
    {
      extensions: {
        columns: columns.slice(0, COLUMNS_SHOWN_MAX).map((view) => {
          return {
            column: view.column,
            header: view.header && shorten(view.header),
            content: describeContent(view),
          };
        }),
      },
      errors: seen.slice(0, COLUMNS_SHOWN_MAX).map((message) => {
        return { field: 'mapping', line: 1, message };
      }),
    },
  );
}

function moreThanShown({ length }: readonly unknown[]): string {
  return length > COLUMNS_SHOWN_MAX ? `; and ${length - COLUMNS_SHOWN_MAX} more` : '';
}

function nameOf(header: string | null): string {
  return header === null || header === '' ? '' : ` "${shorten(header)}"`;
}

function shorten(name: string): string {
  return name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}…` : name;
}

function nothingRequested(operation: OperationName): AppError {
  const { identifiers } = operations[operation];
  const message =
    `The mapping names no column for ${identifiers.join(', ')}. A mapping is exact: ` +
    'name every column to read, or omit the mapping to have the columns guessed.';
  return unprocessable('unmapped', message, { errors: [{ field: 'mapping', message }] });
}

function byRequest(
  operation: OperationName,
  list: ListHead,
  requested: RequestedMapping,
  match: MatchMode,
): ColumnMapping {
  const mapping: ColumnMapping = {};
  const mappable = mappableOf(operation, match);
  const indexOfName = indexNames(list.header ?? []);
  for (const [kind, wanted] of Object.entries(requested)) {
    if (!mappable.includes(kind)) {
      throw wrongMapping(
        `${operation} does not read \`${kind}\`. Choose from: ${mappable.join(', ')}.`,
      );
    }
    const columns: MappedColumn[] = [];
    for (const one of Array.isArray(wanted) ? wanted : [wanted]) {
      const column = requestedColumn(kind, one, list, indexOfName);
      if (!columns.some((other) => other.column === column.column)) columns.push(column);
    }
    if (columns.length > 0) mapping[kind] = columns;
  }
  const names = Object.values(mapping).flatMap((columns) =>
    columns.map(({ header }) => header ?? ''),
  );
  if (Buffer.byteLength(names.join('')) <= NAMES_BYTES_MAX) return mapping;
  throw wrongMapping(
    `The names of the mapped columns have more than ${NAMES_BYTES_MAX} bytes. Map fewer columns, or shorten their names in the header.`,
  );
}

type IndexOfName = (wanted: string) => number | undefined;

function requestedColumn(
  kind: string,
  wanted: string | number,
  list: ListHead,
  indexOfName: IndexOfName,
): MappedColumn {
  const { header } = list;
  if (typeof wanted === 'string') {
    const index = indexOfName(wanted);
    if (index !== undefined) return chosen(index + 1, header);
    if (!/^\d{1,6}$/.test(wanted)) throw noSuchColumn(kind, wanted, header);
  }
  const column = Number(wanted);
  const last = lastColumn(list);
  if (Number.isInteger(column) && column >= 1 && column <= last) return chosen(column, header);
  throw wrongMapping(`\`${kind}\` names column ${wanted}; columns are numbered from 1 to ${last}.`);
}

function chosen(column: number, header: readonly string[] | null): MappedColumn {
  return { column, header: header?.[column - 1] ?? null, reason: 'chosen' };
}

/**
 * The last column of the header or of the sampled records: a higher number is a mistake. Without a sample any
 * number is accepted.
 */
function lastColumn(list: ListHead): number {
  return list.header === null && list.sample.length === 0
    ? Number.MAX_SAFE_INTEGER
    : columnsOf(list);
}

/** Finds the first column of a name, as written or else folded; folds each column of the header once. */
function indexNames(header: readonly string[]): IndexOfName {
  const written = new Map<string, number>();
  const folded = new Map<string, number>();
  for (const [index, name] of header.entries()) {
    const key = foldColumnName(name);
    if (!written.has(name)) written.set(name, index);
    if (key !== '' && !folded.has(key)) folded.set(key, index);
  }
  return (wanted) => written.get(wanted) ?? folded.get(foldColumnName(wanted));
}

function noSuchColumn(kind: string, wanted: string, header: readonly string[] | null): AppError {
  const columns =
    header === null
      ? 'The file has no header row: use column numbers.'
      : `The columns are ${header.slice(0, COLUMNS_SHOWN_MAX).map(shorten).join(', ')}${moreThanShown(header)}.`;
  return wrongMapping(
    `\`${kind}\` names the column "${shorten(wanted)}", which is not in the file. ${columns}`,
  );
}

function wrongMapping(message: string): AppError {
  return invalidParameter('mapping', message);
}
