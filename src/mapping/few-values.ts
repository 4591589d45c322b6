/**
 * Columns of few values, each of which would identify one record for many rows: the address of a clerk, the page with the form,
 * or the site of the vendor. In a list of contacts, of whom many have one employer, such a column may be of the rows' own companies.
 */
import { normaliseCompanyName } from '../core/identifiers/company-name.ts';
import { type IdentifierKind, normaliseIdentifier } from '../core/identifiers/identifier.ts';
import type { ColumnView, ListHead } from './read-columns.ts';

/** Of this many rows in one, a column's values are those of others. */
const ROWS_OF_ONE = 5;
/** The share of rows whose value has the name of their company in it. */
const NAMED_SHARE_MIN = 0.5;
const TELLING_LETTERS_MIN = 3;

export function isOfFew({ header, content: { filled, different } }: ColumnView): boolean {
  return header !== null && filled >= ROWS_OF_ONE && different * ROWS_OF_ONE <= filled;
}

/** Returns true when the values of a column are named as the companies of their rows are: `acme.com` of Acme Ltd. */
export function isOfNamedCompanies(
  { sample }: ListHead,
  kind: IdentifierKind,
  values: ColumnView,
  names: readonly ColumnView[],
): boolean {
  const textIn = (row: readonly string[], { column }: ColumnView) => row[column - 1]?.trim() ?? '';
  return names.some((name) => {
    const rows = sample.filter((row) => textIn(row, values) !== '' && textIn(row, name) !== '');
    const named = rows.filter((row) => isNamedAs(kind, textIn(row, values), textIn(row, name)));
    return rows.length > 0 && named.length >= rows.length * NAMED_SHARE_MIN;
  });
}

function isNamedAs(kind: IdentifierKind, text: string, name: string): boolean {
  const value = nameInValue(kind, text);
  const company = normaliseCompanyName(name);
  if (value === '' || !('values' in company)) return false;
  const [first = ''] = company.values[0].split(' ');
  const joined = plain(company.values[0]);
  const word = plain(first);
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
