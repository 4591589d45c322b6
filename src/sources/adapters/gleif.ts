/**
 * GLEIF golden copy, level 1, as CSV: whole files and deltas, three times a day. A legal entity is never absent: its
 * state says that it ended. A lapsed registration is only an unpaid renewal.
 */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import { countryCode } from '../../core/identifiers/country.ts';
import type { Adapter } from '../adapter.ts';
import { type CsvRow, readCsvRows, unevenReason } from '../csv-rows.ts';
import type { SourcePart } from '../source-files.ts';
import { compact, isoDate, joined, textOf } from '../values.ts';

const OTHER_NAMES = 5;
const TRANSLITERATED_NAMES = 5;
const ADDRESS_LINES = 3;
/** The authority is none of the list: the number is not one of a register. */
const noAuthority = new Set(['RA999999', 'RA888888', 'RA777777']);
/**
 * The authorities of the registers that are sources too, from GLEIF's list. Others of these countries number charities, funds and
 * banks: a charity has the number of another company.
 */
const companyRegisters: Readonly<Record<string, readonly string[]>> = {
  GB: ['RA000585', 'RA000586', 'RA000587'],
  FR: ['RA000189', 'RA000192'],
  NO: ['RA000472', 'RA000473'],
  EE: ['RA000181'],
};
/** A registration that is not of an entity of its own. */
const mistakenStates = new Set(['DUPLICATE', 'ANNULLED']);

const required = [
  'LEI',
  'Entity.LegalName',
  'Entity.LegalAddress.City',
  'Entity.LegalAddress.Country',
  'Entity.EntityStatus',
  'Registration.RegistrationStatus',
  'Entity.RegistrationAuthority.RegistrationAuthorityID',
  'Entity.RegistrationAuthority.RegistrationAuthorityEntityID',
];

export const gleif: Adapter = {
  name: 'gleif',
  recognise: ({ text }) =>
    /^\ufeff?"?LEI"?,"?Entity\.LegalName"?,/.test(text)
      ? { snapshotOf: null, read: readParts }
      : null,
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, { delimiter: ',', required }))
      yield rows.map(readRow);
  }
}

function readRow(row: CsvRow): SourceRow {
  const { line } = row;
  if (row.unreadable !== null) return { line, reason: row.unreadable, source: row.cells() };
  const lei = row.get('LEI').trim().toUpperCase();
  const reject = (reason: string, field: string): SourceRow => ({
    line,
    reason,
    field,
    source: row.source(),
  });
  const uneven = unevenReason(row);
  if (uneven !== null) return reject(uneven, '');
  if (!isLei(lei)) return reject('not_a_lei', 'LEI');
  if (mistakenStates.has(row.get('Registration.RegistrationStatus'))) {
    return { line, ended: ['company', lei] };
  }
  const name = textOf(row.get('Entity.LegalName'));
  if (name === undefined) return reject('missing', 'Entity.LegalName');
  return { line, records: [{ entity: 'company', key: lei, record: recordOf(row, name) }] };
}

function recordOf(row: CsvRow, name: string): Record<string, unknown> {
  const address = (field: string) => textOf(row.get(`Entity.LegalAddress.${field}`));
  const names = namesOf(row);
  const isEnded =
    row.get('Entity.EntityStatus') === 'INACTIVE' ||
    ['RETIRED', 'MERGED'].includes(row.get('Registration.RegistrationStatus'));
  const country = address('Country');
  return compact({
    name,
    aliases: names.filter((one) => one.name !== name && !one.isFormer).map((one) => one.name),
    formerNames: names.filter((one) => one.isFormer).map((one) => one.name),
    ...registryOf(row),
    street: joined(
      address('FirstAddressLine'),
      ...Array.from({ length: ADDRESS_LINES }, (_, index) =>
        address(`AdditionalAddressLine.${index + 1}`),
      ),
    ),
    postcode: address('PostalCode'),
    locality: joined(address('City'), address('Region'), country),
    founded: isoDate(row.get('Entity.EntityCreationDate')),
    status: isEnded ? 'Dissolved' : 'Active',
    _country: country,
    _city: address('City'),
  });
}

/** The number in the register of the jurisdiction: the authority's own country, but for a few of the codes. */
function registryOf(row: CsvRow): { registryNumber?: string; registryCountry?: string } {
  const authority = row.get('Entity.RegistrationAuthority.RegistrationAuthorityID').trim();
  const number = textOf(row.get('Entity.RegistrationAuthority.RegistrationAuthorityEntityID'));
  if (number === undefined || authority === '' || noAuthority.has(authority)) return {};
  const jurisdiction =
    row.get('Entity.LegalJurisdiction') || row.get('Entity.LegalAddress.Country');
  const country = countryCode(jurisdiction.slice(0, 2));
  const isOther = companyRegisters[country ?? '']?.includes(authority) === false;
  return country === null || isOther ? {} : { registryNumber: number, registryCountry: country };
}

function namesOf(row: CsvRow): { name: string; isFormer: boolean }[] {
  const names: { name: string; isFormer: boolean }[] = [];
  for (let index = 1; index <= OTHER_NAMES; index++) {
    const column = `Entity.OtherEntityNames.OtherEntityName.${index}`;
    const name = textOf(row.get(column));
    const isFormer = row.get(`${column}.type`) === 'PREVIOUS_LEGAL_NAME';
    if (name !== undefined) names.push({ name, isFormer });
  }
  for (let index = 1; index <= TRANSLITERATED_NAMES; index++) {
    const list = 'Entity.TransliteratedOtherEntityNames.TransliteratedOtherEntityName';
    const name = textOf(row.get(`${list}.${index}`));
    if (name !== undefined) names.push({ name, isFormer: false });
  }
  return names;
}

/** ISO 17442: 18 letters and digits, then two check digits by ISO 7064 modulo 97-10. */
function isLei(text: string): boolean {
  if (!/^[A-Z0-9]{18}\d{2}$/.test(text)) return false;
  let rest = 0;
  for (const character of text) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
