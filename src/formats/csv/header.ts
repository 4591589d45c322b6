/**
 * Finds the record of a file that names its columns. A header contains no value, that is nothing that looks like an
 * email address, a URL, a phone number or another number. It is the first record, unless a record below is wider,
 * reads like a header and has a table below it: then the narrow records above it are titles. Of several such records
 * it is the one with the most usual names of columns: `Created: 2026-01-31,by Ada` may be a title, too.
 */

/** Maximum rows above a header: a larger number of them is a table of its own. */
export const TITLE_ROWS_MAX = 20;
/** Rows below a header that are compared with it. */
const ROWS_BELOW_MAX = 20;

/** Longest header name kept, in characters. */
const HEADER_NAME_MAX = 256;

const EMAIL = /^(?:mailto:)?[^\s@]+@[^\s@]+\.[^\s@]+$/i;
const WEB_ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|www\.)\S+$/i;
const NUMBER_OR_PHONE = /^[+(-]?[\d\s().,/:%€$£-]+$/;
/** A phone number with a scheme or an extension. */
const CALLED = /^(?:tel:\s?)?[+(]?[\d\s().-]{6,40}(?:(?:ext|x)\.?\s?\d{1,7})?$/i;
/** Several addresses, or one with a name before it or a hidden `@`; a name of a column has none of these forms. */
const ADDRESSES = /^(?:[^\s@,;<>]{1,64}@[^\s@,;<>]{1,253}\.[^\s@,;<>]{2,63}(?:[\s,;]{1,5}|$))+$/;
const NAMED_ADDRESS = /^[^@<>]{0,100}<[^\s@<>]{1,64}@[^\s@<>]+\.[^\s@<>]+>$/;
const HIDDEN_ADDRESS = /^[\w.+-]{1,64}\s?[[({](?:at|@)[\])}]\s?[\w.-]+\.\w+$/i;
/** Forms that a column may have for a name, too, so that only cells below in the same form show a value. */
const HOST = /^(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,24}\.?(?::\d{1,5})?(?:[/?]\S*)?$/iu;
const HANDLE = /^@\w{1,20}$/;
const COMPANY_NUMBER = /^(?=.*\d{5})[A-Z]{0,2}-?\d{5,9}$/;

/** Returns true for a text that is an email address, a URL, a phone number, a date or a number. */
export function looksLikeValue(cell: string): boolean {
  const text = cell.trim();
  if (text.length > HEADER_NAME_MAX) return false;
  return (
    EMAIL.test(text) ||
    WEB_ADDRESS.test(text) ||
    (/\d/.test(text) && (NUMBER_OR_PHONE.test(text) || CALLED.test(text))) ||
    [ADDRESSES, NAMED_ADDRESS, HIDDEN_ADDRESS].some((form) => form.test(text))
  );
}

export interface KnownNames {
  /** Names of columns that look like domains but are not, such as `person.domain`. */
  columnNames: ReadonlySet<string>;
  /** Returns true for a usual name of a column, such as `E-mail`. */
  isColumnName(text: string): boolean;
}

/**
 * Returns the index of the record that is the header; null without a header.
 * @param rows the first records of the file
 */
export function findHeader(rows: readonly string[][], known: KnownNames): number | null {
  const last = Math.min(TITLE_ROWS_MAX, rows.length - 2);
  let best: { index: number; names: number } | null = null;
  for (let index = 1; index <= last; index++) {
    if (!isBelowTitles(rows, index, known)) continue;
    const names = (rows[index] ?? []).filter(known.isColumnName).length;
    if (best === null || names > best.names) best = { index, names };
  }
  if (best !== null) return best.index;
  return isHeaderRow(rows[0] ?? [], rows.slice(1), known.columnNames) ? 0 : null;
}

/** Returns true for a header with a table below it and nothing but titles above it. */
function isBelowTitles(rows: readonly string[][], index: number, known: KnownNames): boolean {
  const titles = rows.slice(0, index);
  const header = rows[index] ?? [];
  const below = rows.slice(index + 1, index + 1 + ROWS_BELOW_MAX);
  const filled = countFilled(header);
  if (!isHeaderRow(header, below, known.columnNames)) return false;
  if (filled < 2) return isNameBelowTitles(titles, header, below, known);
  const isNamed = header.some(known.isColumnName);
  const isAllNames = header.every((cell) => cell.trim() === '' || known.isColumnName(cell));
  if (!titles.every((title) => isNarrow(title, header, { isNamed, isAllNames }))) return false;
  const rowsOfTable = below.filter(
    (row) => row.length === header.length || countFilled(row) * 2 > filled,
  );
  if (rowsOfTable.length * 2 < below.length) return false;
  return isNamed || hasColumnOfValues(header, below);
}

/**
 * A title has at most half the texts of the header, or is a shorter record: `Date,2026-01-01` above three columns. That of
 * several columns may stand in each of them above usual names, as programs write merged cells. Above nothing but usual names any
 * fewer texts are titles, such as `Contact,,Company`.
 */
function isNarrow(
  title: readonly string[],
  header: readonly string[],
  { isNamed, isAllNames }: { isNamed: boolean; isAllNames: boolean },
): boolean {
  const texts = title.map((cell) => cell.trim()).filter((cell) => cell !== '');
  const filled = isNamed ? new Set(texts).size : texts.length;
  const names = countFilled(header);
  if (filled * 2 <= names) return true;
  return filled < names && (isAllNames || title.length < header.length);
}

/** A list of one column: only a usual name below titles that are none shows the header. */
function isNameBelowTitles(
  titles: readonly string[][],
  header: readonly string[],
  below: readonly string[][],
  { isColumnName }: KnownNames,
): boolean {
  return (
    header.some(isColumnName) &&
    titles.every((title) => countFilled(title) <= 1 && !title.some(isColumnName)) &&
    below.every((row) => countFilled(row) <= 1) &&
    hasColumnOfValues(header, below)
  );
}

const VALUES_SHARE_MIN = 0.8;

/** Returns true when nearly all cells below a name are values. */
function hasColumnOfValues(header: readonly string[], below: readonly string[][]): boolean {
  return header.some((name, column) => {
    if (name.trim() === '') return false;
    const cells = below.map((row) => row[column] ?? '').filter((cell) => cell.trim() !== '');
    return (
      cells.length > 0 && cells.filter(looksLikeValue).length >= cells.length * VALUES_SHARE_MIN
    );
  });
}

function countFilled(cells: readonly string[]): number {
  return cells.filter((cell) => cell.trim() !== '').length;
}

/**
 * @param rows some records after the first
 * @param columnNames names of columns that look like domains but are not, such as `person.domain`
 */
function isHeaderRow(
  first: readonly string[],
  rows: readonly string[][],
  columnNames: ReadonlySet<string>,
): boolean {
  if (first.every((cell) => cell.trim() === '')) return false;
  return !first.some(
    (cell, column) =>
      looksLikeValue(cell) || (!columnNames.has(cell.trim()) && isOfColumn(cell, column, rows)),
  );
}

/**
 * Returns true when the rows contain values in columns where the header has none: then it certainly is a header. A
 * file of names only gives no such sign.
 */
export function isHeaderProved(rows: readonly string[][]): boolean {
  return rows.some((row) => row.some(looksLikeValue));
}

/** Returns column names: trimmed, and cut to 256 characters. */
export function headerNames(cells: readonly string[]): string[] {
  return cells.map((cell) => {
    const name = cell.trim();
    return name.length <= HEADER_NAME_MAX ? name : [...name].slice(0, HEADER_NAME_MAX).join('');
  });
}

/** `person.name` may be the header of a column of names; `acme.com` above a column of domains is a domain. */
function isOfColumn(cell: string, column: number, rows: readonly string[][]): boolean {
  if (rows.length === 0) return false;
  return [HOST, HANDLE, COMPANY_NUMBER].some((form) => {
    if (!form.test(cell.trim())) return false;
    const below = rows.filter((row) => form.test((row[column] ?? '').trim()));
    return below.length * 2 > rows.length;
  });
}
