/** Doubts, from its columns, that the rows of a list for people are about people. */
import type { ColumnKinds } from './mapping.ts';
import { subjectOf } from './operations.ts';
import type { Preview } from './preview.ts';

/** Names of columns that registers and tables of companies have. */
const COMPANY_HEADER =
  /^(company|organi[sz]ation|registry|registration|registered)[ _-]*(number|no\.?|nr\.?|id|status|category|office|address)$|^(crn|siren|siret|lei|vat([ _-]*(number|no\.?|id))?|sic([ _-]*codes?)?|(annual[ _-]*)?revenue|turnover)$/i;

/** Kinds of columns that name one person. */
const ownKinds: ReadonlySet<string> = new Set(['person_name', 'professional_network', 'twitter']);

/** Some rows of every list of people lack a name. */
const MIXED_SHARE_MIN = 0.2;
const MIXED_ROWS_MIN = 2;

/**
 * Returns a warning that belongs before the start, when charges begin; null for a list of people, for one of which the columns
 * tell nothing, and for operations about companies.
 */
export function subjectDoubt(
  operation: string,
  columns: ColumnKinds,
  preview: Pick<Preview, 'columns' | 'rows'>,
): string | null {
  if (subjectOf(operation) === 'company') return null;
  const ofCompany = preview.columns
    .filter(({ header }) => COMPANY_HEADER.test((header ?? '').trim()))
    .map(({ column }) => column);
  const own = [...columns].filter(([, kind]) => ownKinds.has(kind)).map(([column]) => column);
  if (own.length === 0) {
    return ofCompany.length === 0
      ? null
      : 'This looks like a list of companies, and the operation finds people: a row would be charged for a person with the same mailbox or phone. For companies, cancel it and upload it for “Enrich companies”.';
  }
  const named = [...columns].filter(([, kind]) => kind === 'company_name').map(([one]) => one);
  const has = ({ cells }: Preview['rows'][number], numbers: readonly number[]) =>
    numbers.some((column) => (cells[column - 1] ?? '').trim() !== '');
  const { rows } = preview;
  const mixed = rows.filter((row) => !has(row, own) && has(row, [...named, ...ofCompany]));
  if (mixed.length < Math.max(MIXED_ROWS_MIN, rows.length * MIXED_SHARE_MIN)) return null;
  return `${mixed.length} of the first ${rows.length} rows name a company and no person. This operation finds people: upload the companies as a list of their own, for “Enrich companies”.`;
}
