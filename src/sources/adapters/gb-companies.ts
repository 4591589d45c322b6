/**
 * Companies House, Free Company Data Product (`BasicCompanyDataAsOneFile-2026-10-01.zip` and its parts): the live
 * register, monthly. A company that is dissolved is absent from the next file.
 */
import { type SourceRow, seenOf } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type CsvRow, readCsvRows, rejectUnreadable, unevenReason } from '../csv-rows.ts';
import type { SourcePart } from '../source-files.ts';
import { compact, dayFirstDate, decodeEntities, joined, textOf } from '../values.ts';

const PREVIOUS_NAMES = 10;
const SIC_COLUMNS = 4;
const NUMBERS = /\b[A-Z0-9]{8}\b/g;
const SIC_TEXT = /^(\d{5}) - /;

/** Names of columns, made once: a register has millions of rows. */
const address = {
  careOf: 'RegAddress.CareOf',
  poBox: 'RegAddress.POBox',
  line1: 'RegAddress.AddressLine1',
  line2: 'RegAddress.AddressLine2',
  town: 'RegAddress.PostTown',
  county: 'RegAddress.County',
  country: 'RegAddress.Country',
  postcode: 'RegAddress.PostCode',
};
const sicColumns = Array.from(
  { length: SIC_COLUMNS },
  (_, index) => `SICCode.SicText_${index + 1}`,
);
const previousNames = Array.from(
  { length: PREVIOUS_NAMES },
  (_, index) => `PreviousName_${index + 1}.CompanyName`,
);

/** The columns of a file that are read. */
export const gbCompanyColumns = [
  'CompanyName',
  'CompanyNumber',
  ...Object.values(address),
  'CompanyStatus',
  'IncorporationDate',
  ...sicColumns,
  ...previousNames,
];

export const gbCompanies: Adapter = {
  name: 'gb-companies',
  recognise: ({ text }) =>
    /^\ufeff?"? ?CompanyName"?, ?"? ?CompanyNumber"?,/.test(text)
      ? { snapshotOf: [''], read: readParts }
      : null,
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  for await (const part of parts) {
    for await (const rows of readCsvRows(part, {
      delimiter: ',',
      required: gbCompanyColumns,
    }))
      yield rows.map(readRow);
  }
}

function readRow(row: CsvRow): SourceRow {
  const unreadable = rejectUnreadable(row, (text) => text.match(NUMBERS) ?? []);
  if (unreadable !== null) return unreadable;
  const { line } = row;
  const number = row.get('CompanyNumber').trim().toUpperCase();
  const reject = (reason: string, field?: string): SourceRow => ({
    line,
    reason,
    ...(field === undefined ? {} : { field }),
    ...seenOf(number === '' ? undefined : number),
    source: row.source(),
  });
  // A fifth SIC code moves all later columns one to the right.
  const uneven = unevenReason(row);
  if (uneven !== null) return reject(uneven);
  if (SIC_TEXT.test(row.get('LimitedPartnerships.NumGenPartners'))) return reject('columns_moved');
  if (!/^[A-Z0-9]{8}$/.test(number)) return reject('not_a_registry_number', 'CompanyNumber');
  const name = decodeEntities(row.get('CompanyName')).trim();
  if (name === '') return reject('missing', 'CompanyName');
  return {
    line,
    records: [{ entity: 'company', key: number, record: recordOf(row, number, name) }],
  };
}

function recordOf(row: CsvRow, number: string, name: string): Record<string, unknown> {
  const read = (column: string) => textOf(decodeEntities(row.get(column)));
  const careOf = read(address.careOf);
  const poBox = read(address.poBox);
  const town = read(address.town);
  return compact({
    name,
    registryNumber: number,
    registryCountry: 'GB',
    street: joined(
      careOf === undefined || /^c\/o\b/i.test(careOf) ? careOf : `C/O ${careOf}`,
      poBox === undefined ? undefined : `PO BOX ${poBox}`,
      read(address.line1),
      read(address.line2),
    ),
    postcode: read(address.postcode),
    locality: localityOf(town, read(address.county), read(address.country)),
    founded: dayFirstDate(row.get('IncorporationDate')),
    sicCodes: sicCodesOf(row),
    formerNames: formerNamesOf(row),
    status: textOf(row.get('CompanyStatus')),
    _country: 'GB',
    _city: town,
  });
}

/** `<town>, <county or country>, United Kingdom`. */
function localityOf(
  town: string | undefined,
  county: string | undefined,
  country: string | undefined,
): string | undefined {
  const region =
    county ?? (country !== undefined && /^united kingdom$/i.test(country) ? undefined : country);
  return town === undefined && region === undefined
    ? undefined
    : joined(town, region, 'United Kingdom');
}

function sicCodesOf(row: CsvRow): string[] {
  const codes: string[] = [];
  for (const column of sicColumns) {
    const code = SIC_TEXT.exec(row.get(column))?.[1];
    if (code !== undefined) codes.push(code);
  }
  return codes;
}

function formerNamesOf(row: CsvRow): string[] {
  const names: string[] = [];
  for (const column of previousNames) {
    const cell = row.get(column);
    if (cell === '') continue;
    const name = textOf(decodeEntities(cell));
    if (name !== undefined) names.push(name);
  }
  return names;
}
