/**
 * Columns of others: the address of a clerk, the page with the form, or the site of the vendor. Their values are few, and each
 * would identify one record for many rows, or they are not named as the companies of the rows are. In a list of contacts, of whom
 * many have one employer, a column of few values may be of the rows' own companies.
 */
import { normaliseCompanyName } from '../core/identifiers/company-name.ts';
import {
  type IdentifierKind,
  isIdentifierKind,
  normaliseIdentifier,
} from '../core/identifiers/identifier.ts';
import type { ColumnView, ListHead } from './read-columns.ts';

/** Of this many rows in one, a column's values are those of others. */
const ROWS_OF_ONE = 5;
/** Of four companies in five the site has the first word of the name: of a column of few values half of them must. */
const NAMED_SHARE_MIN = 0.5;
/** Below this share a column whose header is not known word by word is of others, however many. */
const STRANGE_SHARE_MAX = 0.1;
const TELLING_LETTERS_MIN = 3;
const REPEATED_ROWS_MIN = 4;
const EACH_SHARE_MIN = 0.8;

/** Returns the columns that are of others than the rows; `kindOf` is the kind of a column's values. */
export function columnsOfOthers(
  list: ListHead,
  views: readonly ColumnView[],
  subject: 'person' | 'company',
  kindOf: (view: ColumnView) => string,
): ReadonlySet<ColumnView> {
  const names = views.filter(({ reading: { role } }) => /^(?:company_)?name$/.test(role ?? ''));
  const named = subject === 'company' ? names : [];
  const others = views.filter((view) => {
    const kind = kindOf(view);
    if (!isIdentifierKind(kind)) return false;
    if (view.header !== null) return isOfOthers(list, kind, view, named);
    const alike = views.filter((other) => other !== view && kindOf(other) === kind);
    return subject === 'person' && isRepeated(view) && alike.some(isOfEachRow);
  });
  return new Set(others);
}

/** Without a header, the column of the reps and that of the leads differ in this: one rep has several leads. */
function isRepeated({ content: { filled, different } }: ColumnView): boolean {
  return filled >= REPEATED_ROWS_MIN && different * 2 <= filled;
}

function isOfEachRow({ content: { filled, different } }: ColumnView): boolean {
  return different >= filled * EACH_SHARE_MIN;
}

/** Returns true for a column of few values, or of a doubtful header, that is not named as the companies of the rows are. */
function isOfOthers(
  { sample }: ListHead,
  kind: IdentifierKind,
  { column, reading, content: { filled, different } }: ColumnView,
  names: readonly ColumnView[],
): boolean {
  if (filled < ROWS_OF_ONE) return false;
  const isOfFew = different * ROWS_OF_ONE <= filled;
  if (!isOfFew && reading.isExact) return false;
  const shares = names.flatMap((name) => {
    const named = sample
      .map((row) => isNamedAs(kind, row[column - 1] ?? '', row[name.column - 1] ?? ''))
      .filter((is) => is !== null);
    return named.length < ROWS_OF_ONE ? [] : [named.filter(Boolean).length / named.length];
  });
  const share = Math.max(...shares);
  return isOfFew ? share < NAMED_SHARE_MIN : shares.length > 0 && share < STRANGE_SHARE_MAX;
}

/** Null when the texts cannot tell: one is missing, or the name has no letters of a host. */
function isNamedAs(kind: IdentifierKind, text: string, name: string): boolean | null {
  const value = nameInValue(kind, text);
  const company = normaliseCompanyName(name);
  if (value === '' || !('values' in company)) return null;
  const joined = plain(company.values[0]);
  if (!/^[a-z\d]+$/.test(joined)) return null;
  const word = plain(company.values[0].split(' ', 1)[0] ?? '');
  return value === joined || (word.length >= TELLING_LETTERS_MIN && value.includes(word));
}

/** The part of a value that may be the company's name; '' for kinds that have none, such as numbers. */
function nameInValue(kind: IdentifierKind, text: string): string {
  if (kind !== 'domain' && kind !== 'email' && kind !== 'professional_network') return '';
  const of = kind === 'email' ? 'domain' : kind;
  const normalised = normaliseIdentifier(of, text, { subject: 'company' });
  if (!('values' in normalised)) return '';
  const [value] = normalised.values;
  return plain(of === 'domain' ? value.slice(0, value.lastIndexOf('.')) : value);
}

/** Letters and digits; `mueller` and `müller` are one. */
function plain(text: string): string {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').replace(/([aou])e/g, '$1');
}
