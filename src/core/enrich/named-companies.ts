/**
 * A company's name is looked up without its legal form and words like `Group`, which sources add and omit at will. Here the
 * companies are told apart that hold what remains of a row's name and are others all the same.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { must } from '../lib/assert.ts';
import { groupWords, readCompanyName } from '../match/company-words.ts';
import { beginsWith, isStatedApart } from '../match/compare-companies.ts';
import { namesNoCompany } from '../match/listed-company.ts';
import { countryOfCompany, namesOfCompany } from './agreement.ts';
import { type CompanyRecords, type Holders, idsOf } from './company-holders.ts';
import type { RecordBytes } from './match-data.ts';
import type { RowInput } from './outcomes.ts';

/** Returns true for the name of a row that states more than the value that is looked up. */
export function isUnsureName(
  { companyName, country = null }: RowInput,
  kind: IdentifierKind,
): boolean {
  return (
    kind === 'name' && companyName !== undefined && (country !== null || isTelling(companyName))
  );
}

/**
 * Removes the companies that the name of their row means. If the row states its country, those of another country stay, and so
 * do those of unknown country when a company of the row's country has the name. All stay if each of the remaining ones has
 * another legal form, or is another part of a group, than the row states; of several the statement picks none. All stay if the
 * name is no company, such as `Self-employed`.
 * @param holders of the values that `isUnsureName` is true for
 */
export function removeNamed(
  holders: Holders,
  rows: readonly RowInput[],
  records: CompanyRecords,
): void {
  const known = new Map(idsOf([holders]).map((id) => [id, describe(records.get(id))]));
  for (const [index, found] of holders) {
    const { companyName = '', country = null } = must(rows[index], 'row');
    const listed = readCompanyName(companyName);
    const countryOf = (id: number) => known.get(id)?.country ?? null;
    const isThere = [...found].some((id) => countryOf(id) === country);
    const here = [...found].filter((id) => {
      const own = countryOf(id);
      return country === null || own === country || (own === null && !isThere);
    });
    const isMeant = (id: number) =>
      listed === null || !isStatedApart(listed, known.get(id)?.names ?? []);
    if (listed !== null && namesNoCompany(listed)) continue;
    if (here.some(isMeant)) for (const id of here) found.delete(id);
  }
}

/** True for a name that states more than its value, or that no company is: a bare one means whoever holds it. */
function isTelling(companyName: string): boolean {
  const listed = readCompanyName(companyName);
  return (
    listed !== null &&
    (listed.forms.length > 0 ||
      listed.words.some((word) => groupWords.has(word)) ||
      beginsWith(listed) !== '' ||
      namesNoCompany(listed))
  );
}

function describe(record: RecordBytes | undefined) {
  if (record === undefined) return { country: null, names: [] };
  const names = namesOfCompany(record).flatMap((name) => readCompanyName(name) ?? []);
  return { country: countryOfCompany(record), names };
}
