/** The companies that a row does not mean although they hold its name, number or domain. */
import { findHolders, type IsUnsure, readHolders } from './company-holders.ts';
import type { CompanyReader } from './company-reader.ts';
import { isUnsureName, removeNamed } from './named-companies.ts';
import { isUnsureNumber, removeAlike, unsureDomains } from './otherwise-named.ts';
import type { Hits, LeftOut, RowInput } from './outcomes.ts';

/**
 * Returns what finds the companies to leave out of the row at an index; undefined for none. Reads the records of all rows at
 * once.
 * @param firstLines the look-up line of the first value of each row
 */
export async function companiesLeftOut(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<(index: number) => LeftOut | undefined> {
  const holdersOf = (isUnsure: IsUnsure) => findHolders(rows, firstLines, hits, isUnsure);
  const byName = holdersOf(isUnsureName);
  const byNumber = holdersOf(isUnsureNumber);
  const byDomain = holdersOf(unsureDomains(firstLines, hits));
  const records = await readHolders(companies, [byName, byNumber, byDomain]);
  removeNamed(byName, rows, records);
  removeAlike(byNumber, rows, records);
  removeAlike(byDomain, rows, records);
  return (index) => {
    const name = byName.get(index);
    const number = byNumber.get(index);
    const domain = byDomain.get(index);
    const isNone = name === undefined && number === undefined && domain === undefined;
    return isNone ? undefined : { name, registry_number: number, domain };
  };
}
