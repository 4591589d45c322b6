/** Pipedrive exports of people and organizations. */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { cellOf, compact, countryOf, domainOf, joined, textOf } from '../values.ts';

const SOURCE = 'pipedrive';

export const pipedrive: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(head, ['Person - ID', 'Person - Name'], readPerson) ??
    contactDataset(head, ['Organization - ID', 'Organization - Name'], readOrganization),
};

function readPerson(row: CsvRow): SourceRow {
  const cell = (name: string) => textOf(row.get(`Person - ${name}`));
  const several = (name: string) => (cell(name) ?? '').split(',').map(textOf);
  const contact: Contact = {
    key: cell('ID'),
    name: cell('First name') ?? cell('Name'),
    surname: cell('Last name'),
    emails: ['Email - Work', 'Email - Home', 'Email - Other'].flatMap(several),
    isWorkEmail: cell('Email - Work') !== undefined,
    phone: several('Phone - Work')[0] ?? several('Phone - Home')[0] ?? several('Phone - Other')[0],
    mobile: several('Phone - Mobile')[0],
    position: cell('Title'),
    profile: cell('LinkedIn Page'),
    isOptedOut: cell('Marketing status')?.toLowerCase() === 'unsubscribed',
  };
  return contactRow(SOURCE, { line: row.line, row, contact });
}

function readOrganization(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (name: string) => cellOf(row.get(`Organization - ${name}`));
  const [id, name] = [cell('ID'), textOf(row.get('Organization - Name'))];
  if (id === undefined || name === undefined) {
    return { line, reason: 'missing', field: 'Organization - Name', source: row.source() };
  }
  const city = cell('City/town/village/locality of Address');
  const country = countryOf(row.get('Organization - Country of Address'));
  const record = compact({
    name,
    website: cell('Website'),
    domain: domainOf(cell('Website')),
    street: cell('Address'),
    postcode: cell('ZIP/Postal code of Address'),
    locality: joined(city, country),
    _city: city,
    _country: country,
  });
  return { line, records: [{ entity: 'company', key: `organization:${id}`, record }] };
}
