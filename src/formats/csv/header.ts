/**
 * Decides whether the first record of a file names its columns. The rule: a header contains no value, that is
 * nothing that looks like an e-mail address, a URL, a phone number or another number.
 */

/** Longest header name kept, in characters. */
const HEADER_NAME_MAX = 256;

const EMAIL = /^(?:mailto:)?[^\s@]+@[^\s@]+\.[^\s@]+$/i;
const WEB_ADDRESS = /^(?:[a-z][a-z0-9+.-]*:\/\/|www\.)\S+$/i;
const NUMBER_OR_PHONE = /^[+(-]?[\d\s().,/:%€$£-]+$/;
const DOMAIN = /^(?:[a-z0-9-]{1,63}\.)+[a-z]{2,24}$/i;

/** Returns true for a text that is an e-mail address, a URL, a phone number, a date or a number. */
export function looksLikeValue(cell: string): boolean {
  const text = cell.trim();
  if (text.length > HEADER_NAME_MAX) return false;
  return (
    EMAIL.test(text) || WEB_ADDRESS.test(text) || (/\d/.test(text) && NUMBER_OR_PHONE.test(text))
  );
}

/**
 * @param rows some records after the first
 * @param columnNames names of columns that look like domains but are not, such as `person.domain`
 */
export function isHeaderRow(
  first: readonly string[],
  rows: readonly string[][],
  columnNames: ReadonlySet<string>,
): boolean {
  if (first.every((cell) => cell.trim() === '')) return false;
  return !first.some(
    (cell, column) =>
      looksLikeValue(cell) || (!columnNames.has(cell.trim()) && isDomainAmong(cell, column, rows)),
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
function isDomainAmong(cell: string, column: number, rows: readonly string[][]): boolean {
  if (rows.length === 0 || !DOMAIN.test(cell.trim())) return false;
  const below = rows.filter((row) => DOMAIN.test((row[column] ?? '').trim()));
  return below.length * 2 > rows.length;
}
