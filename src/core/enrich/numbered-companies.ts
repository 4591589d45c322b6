/**
 * In some countries companies of several courts or states have one number in their registers. Here those are left out that hold a
 * row's number and have another name.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { isOfManyRegisters } from '../identifiers/registry-number.ts';
import { isOtherCompany } from './agreement.ts';
import { readHolders } from './company-holders.ts';
import type { CompanyReader } from './company-reader.ts';
import type { Hits, RowInput } from './outcomes.ts';

/**
 * Returns, by the index of a row with a name and such a number, the companies to leave out when the number is looked up.
 * @param firstLines the look-up line of the first value of each row
 */
export async function companiesNotNumbered(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<ReadonlyMap<number, ReadonlySet<number>>> {
  const isAsked = ({ companyName }: RowInput, kind: IdentifierKind, value: string) =>
    companyName !== undefined && kind === 'registry_number' && isOfManyRegisters(value);
  const { held, records } = await readHolders(companies, rows, firstLines, hits, isAsked);
  for (const [index, found] of held) {
    const name = rows[index]?.companyName ?? '';
    for (const id of found) {
      const record = records.get(id);
      if (record !== undefined && !isOtherCompany(name, record)) found.delete(id);
    }
  }
  return held;
}
