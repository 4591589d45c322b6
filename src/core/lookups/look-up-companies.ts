/**
 * Finds companies by their name or domain. A whole name or domain finds any company: the caller knows it already. The
 * beginning of a name finds only companies of ten people and more, because a smaller one may be named for its owner.
 */
import type { Sql } from '../db/client.ts';
import { normaliseCompanyName } from '../identifiers/company-name.ts';
import { normaliseDomain } from '../identifiers/domain.ts';
import type { Normalised } from '../identifiers/normalised.ts';
import { FEW } from '../search/free-responses.ts';
import { type CompanyValue, selectCompanies, selectCompaniesById } from './companies.sql.ts';

/** Letters from which on the beginning of a name is looked up. */
const PREFIX_MIN = 2;

/** Returns at most `limit` companies for the text in the graph that `sql` sees; none for an empty one. */
export async function lookUpCompaniesNamed(
  sql: Sql,
  { text, limit }: { text: string; limit: number },
): Promise<CompanyValue[]> {
  const names = valuesOf(normaliseCompanyName(text));
  const whole = [...names, ...valuesOf(normaliseDomain(text))];
  if (whole.length === 0) return [];
  const [name = ''] = names;
  const prefix = name.length < PREFIX_MIN ? null : name;
  return selectCompanies(sql, { whole, prefix, peopleMin: FEW, limit });
}

function valuesOf(normalised: Normalised): readonly string[] {
  return 'values' in normalised ? normalised.values : [];
}

/**
 * Returns those of the companies with these ids that have ten people and more: ids can be counted through, and a caller who
 * knows a smaller one knows its name.
 */
export async function lookUpCompanyIds(sql: Sql, ids: readonly number[]): Promise<CompanyValue[]> {
  return (await readCompanies(sql, ids)).filter(({ count }) => count >= FEW);
}

/**
 * Returns the companies with these ids, of any size: a name is disclosed only to a caller who sent it, or from ten people
 * on.
 */
export function readCompanies(sql: Sql, ids: readonly number[]): Promise<CompanyValue[]> {
  return selectCompaniesById(sql, ids);
}
