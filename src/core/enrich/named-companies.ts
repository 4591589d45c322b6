/**
 * A company's name is looked up without its legal form and words like `Group`, which sources add and omit at will. Here the
 * companies are left out that hold what remains of a row's name and are others all the same.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { must } from '../lib/assert.ts';
import { groupWords, readCompanyName } from '../match/company-words.ts';
import { beginsWith, isStatedApart } from '../match/compare-companies.ts';
import { namesNoCompany } from '../match/listed-company.ts';
import { countryOfCompany, namesOfCompany } from './agreement.ts';
import { readHolders } from './company-holders.ts';
import type { CompanyReader } from './company-reader.ts';
import type { RecordBytes } from './match-data.ts';
import type { Hits, RowInput } from './outcomes.ts';

/** By the index of a row: the companies that its name does not mean. */
type NotNamed = ReadonlyMap<number, ReadonlySet<number>>;

/**
 * Returns, for each row with a name, the companies to leave out when the name is looked up. Of a row that states its country those
 * of another country, and those of unknown country when a company of the row's country has the name. All that are left when each of
 * them has another legal form or is another part of a group than the row states; of several the statement picks none. All
 * where the name is none, as `Self-employed`.
 * @param firstLines the look-up line of the first value of each row
 */
export async function companiesNotNamed(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<NotNamed> {
  const isAsked = ({ companyName, country = null }: RowInput, kind: IdentifierKind) =>
    kind === 'name' && companyName !== undefined && (country !== null || isTelling(companyName));
  const { held, records } = await readHolders(companies, rows, firstLines, hits, isAsked);
  const known = new Map([...records].map(([id, record]) => [id, describe(record)]));
  for (const [index, found] of held) {
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
  return held;
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
