/** HubSpot exports: contacts, companies, and lists of contacts with their company. */
import type { SourceRecord, SourceRow } from '../../core/graph/sources/source-record.ts';
import { keyReference } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { optOutOf } from '../opt-out.ts';
import {
  cellOf,
  compact,
  countryOf,
  domainOf,
  hasLostDigits,
  joined,
  phoneOf,
  textOf,
  wholeOf,
} from '../values.ts';

const SOURCE = 'hubspot';

export const hubspot: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(head, ['Record ID', 'First Name', 'Last Name', 'Email'], readContact) ??
    contactDataset(head, ['Record ID', 'Company name', 'Company Domain Name'], readCompany) ??
    contactDataset(head, ['Record ID - Contact', 'First Name', 'Last Name'], readListed),
};

function readContact(row: CsvRow): SourceRow {
  const cell = (name: string) => textOf(row.get(name));
  const companies = severalOf(row.get('Associated Company IDs'));
  const contact: Contact = {
    ...commonOf(row),
    key: cell('Record ID'),
    emails: [cell('Email'), ...severalOf(row.get('Additional email addresses'))],
    phone: cell('Phone Number'),
    mobile: cell('Mobile Phone Number'),
    position: cell('Job Title'),
    companyKeys: companies.map((id) => `company:${id}`),
    website: cell('Website URL'),
    profile: cell('LinkedIn URL'),
    twitter: cell('Twitter Username'),
    street: cell('Street Address'),
    city: cell('City'),
    region: cell('State/Region'),
    postcode: cell('Postal Code'),
    country: cell('Country/Region'),
  };
  return contactRow(SOURCE, { line: row.line, row, contact });
}

function readCompany(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (name: string) => cellOf(row.get(name));
  const [id, name] = [cell('Record ID'), textOf(row.get('Company name'))];
  if (id === undefined || name === undefined) {
    return { line, reason: 'missing', field: 'Company name', source: row.source() };
  }
  if (hasLostDigits(id)) return { line, reason: 'digits_lost', source: row.source() };
  const country = countryOf(row.get('Country/Region'));
  const record = compact({
    name,
    domain: domainOf(cell('Company Domain Name')),
    phone: phoneOf(cell('Phone Number'), country),
    industry: cell('Industry'),
    employees: wholeOf(cell('Number of Employees')),
    locality: joined(cell('City'), country),
    _city: cell('City'),
    _country: country,
  });
  return { line, records: [{ entity: 'company', key: `company:${id}`, record }] };
}

/** A list has fewer columns than the export of contacts: its records are parts of those. */
function readListed(row: CsvRow): SourceRow {
  const cell = (name: string) => cellOf(row.get(name));
  const id = cell('Record ID - Contact');
  const companyId = hasLostDigits(cell('Record ID - Company'))
    ? undefined
    : cell('Record ID - Company');
  const companyName = textOf(row.get('Company name'));
  const country = countryOf(row.get('Country/Region'));
  const contact: Contact = {
    ...commonOf(row),
    key: id === undefined ? undefined : `list:${id}`,
    sameAs: id === undefined ? [] : [id],
    emails: [cell('Email')],
    phone: cell('Phone Number'),
    companyKeys: companyId === undefined ? [] : [`company:${companyId}`],
  };
  const company: SourceRecord[] =
    companyId === undefined || companyName === undefined
      ? []
      : [
          {
            entity: 'company',
            key: `list-company:${companyId}`,
            sameAs: [keyReference(SOURCE, `company:${companyId}`)],
            record: compact({
              name: companyName,
              phone: phoneOf(cell('Phone Number (2)'), country),
              industry: cell('Industry'),
              locality: joined(cell('City'), country),
              _country: country,
            }),
          },
        ];
  return contactRow(SOURCE, { line: row.line, row, contact }, company);
}

function commonOf(row: CsvRow): Pick<Contact, 'name' | 'surname' | 'isWorkEmail' | 'isOptedOut'> {
  return {
    name: textOf(row.get('First Name')),
    surname: textOf(row.get('Last Name')),
    isWorkEmail: true,
    isOptedOut: optOutOf([row.get('Unsubscribed from all email')]),
  };
}

function severalOf(cell: string): string[] {
  return cell
    .split(';')
    .map(textOf)
    .filter((text) => text !== undefined);
}
