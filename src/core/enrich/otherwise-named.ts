/**
 * A number or a domain of a row may be of another company than the one that the row names. In some countries companies of several
 * courts or states have one number in their registers, and a number without a country is read as British, also that of `Jansen
 * Bouw B.V.`. An address may be at the domain of a parent, an agency or a client, and then the name decides, if any company has
 * it: brands have other names than the companies that own their domain. Here those are told apart that hold such a value and have
 * another name. A website is the company's own, whatever it is called.
 */
import type { IdentifierKind } from '../identifiers/identifier.ts';
import { isOfManyRegisters } from '../identifiers/registry-number.ts';
import { readCompanyName } from '../match/company-words.ts';
import { isFormUnregistered } from '../match/form-countries.ts';
import { isOtherCompany } from './agreement.ts';
import {
  type CompanyRecords,
  forEachLine,
  type Holders,
  type IsUnsure,
} from './company-holders.ts';
import type { Hits, RowInput } from './outcomes.ts';

/** Returns true for a number that may be of another company than the one that the row names. */
export function isUnsureNumber(
  { companyName }: RowInput,
  kind: IdentifierKind,
  value: string,
): boolean {
  if (companyName === undefined || kind !== 'registry_number') return false;
  return isOfManyRegisters(value) || hasForeignForm(companyName, value.slice(0, 2));
}

/** True for a name that states a legal form which the country does not have. */
function hasForeignForm(name: string, country: string): boolean {
  return readCompanyName(name)?.forms.some((form) => isFormUnregistered(form, country)) ?? false;
}

/**
 * Returns what is true for the domain of an address that may be of another company than the one that the row names.
 * @param firstLines the look-up line of the first value of each row
 */
export function unsureDomains(firstLines: Int32Array, hits: Hits): IsUnsure {
  return (row, kind, _, index) =>
    row.companyName !== undefined &&
    kind === 'domain' &&
    row.isDomainOfAddress === true &&
    isNameHeld(row, firstLines[index] ?? 0, hits);
}

/** Removes the companies whose name may be that of their row. */
export function removeAlike(
  holders: Holders,
  rows: readonly RowInput[],
  records: CompanyRecords,
): void {
  for (const [index, found] of holders) {
    const name = rows[index]?.companyName ?? '';
    for (const id of found) {
      const record = records.get(id);
      if (record !== undefined && !isOtherCompany(name, record)) found.delete(id);
    }
  }
}

/** Returns true for a row whose name is looked up and is that of a company. */
function isNameHeld(row: RowInput, firstLine: number, hits: Hits): boolean {
  let isHeld = false;
  forEachLine(row, firstLine, (line, kind) => {
    if (kind === 'name' && hits.count(line) > 0) isHeld = true;
  });
  return isHeld;
}
