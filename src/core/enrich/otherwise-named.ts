/**
 * A number or a domain of a row may be of another company than the one that the row names. In some countries companies of several
 * courts or states have one number in their registers. An address may be at the domain of a parent, an agency or a client, and then
 * the name decides, if any company has it: brands have other names than the companies that own their domain. Here those
 * are left out that hold such a value and have another name. A website is the company's own, whatever it is called.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { isOfManyRegisters } from '../identifiers/registry-number.ts';
import { isOtherCompany } from './agreement.ts';
import { forEachLine, readHolders } from './company-holders.ts';
import type { CompanyReader } from './company-reader.ts';
import type { Hits, RowInput } from './outcomes.ts';

type Held = ReadonlyMap<number, ReadonlySet<number>>;

/** Returns true for a value of a row that may be of another company than the row's. */
type IsUnsure = (row: RowInput, kind: IdentifierKind, value: string, index: number) => boolean;

const isUnsureNumber: IsUnsure = (_, kind, value) =>
  kind === 'registry_number' && isOfManyRegisters(value);

/**
 * Returns, by the index of a row with a name, the companies to leave out when its number and when its domain is looked up.
 * @param firstLines the look-up line of the first value of each row
 */
export async function companiesOtherwiseNamed(
  companies: CompanyReader,
  rows: readonly RowInput[],
  firstLines: Int32Array,
  hits: Hits,
): Promise<{ byNumber: Held; byDomain: Held }> {
  const isUnsureDomain: IsUnsure = (row, kind, _, index) =>
    kind === 'domain' &&
    row.isDomainOfAddress === true &&
    isNameHeld(row, firstLines[index] ?? 0, hits);
  const held = async (isUnsure: IsUnsure) => {
    const isAsked: IsUnsure = (row, ...identifier) =>
      row.companyName !== undefined && isUnsure(row, ...identifier);
    const holders = await readHolders(companies, rows, firstLines, hits, isAsked);
    for (const [index, found] of holders.held) {
      const name = rows[index]?.companyName ?? '';
      for (const id of found) {
        const record = holders.records.get(id);
        if (record !== undefined && !isOtherCompany(name, record)) found.delete(id);
      }
    }
    return holders.held;
  };
  return { byNumber: await held(isUnsureNumber), byDomain: await held(isUnsureDomain) };
}

/** Returns true for a row whose name is looked up and is that of a company. */
function isNameHeld(row: RowInput, firstLine: number, hits: Hits): boolean {
  let isHeld = false;
  forEachLine(row, firstLine, (line, kind) => {
    if (kind === 'name' && hits.count(line) > 0) isHeld = true;
  });
  return isHeld;
}
