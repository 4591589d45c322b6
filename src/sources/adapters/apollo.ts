/** Apollo exports of contacts, in the layout with ids and in the one of 2026 without. */
import type { SourceRecord, SourceRow } from '../../core/graph/sources/source-record.ts';
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
  joined,
  phoneOf,
  textOf,
  wholeOf,
} from '../values.ts';

const SOURCE = 'apollo';

export const apollo: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(
      head,
      ['First Name', 'Last Name', 'Person Linkedin Url', 'Email Status'],
      readContact,
    ),
};

function readContact(row: CsvRow): SourceRow {
  const cell = (name: string) => textOf(row.get(name));
  // A spreadsheet would take a number for a formula: it begins with an apostrophe.
  const phone = (name: string) => cellOf(row.get(name).replace(/^'/, ''));
  const website = cellOf(row.get('Website'));
  const domain = domainOf(website);
  const contact: Contact = {
    key: cell('Apollo Contact Id'),
    name: cell('First Name'),
    surname: cell('Last Name'),
    emails: [cell('Email'), cell('Secondary Email'), cell('Tertiary Email')],
    isWorkEmail: true,
    phone:
      phone('Work Direct Phone') ??
      phone('Corporate Phone') ??
      phone('Home Phone') ??
      phone('Other Phone'),
    mobile: phone('Mobile Phone'),
    position: cell('Title'),
    website,
    // Facebook Url and Twitter Url are those of the company: as a person's own they would opt out all colleagues with one.
    profile: cell('Person Linkedin Url'),
    city: cell('City'),
    region: cell('State'),
    country: cell('Country'),
    isOptedOut:
      cell('Stage')?.toLowerCase() === 'do not contact' || optOutOf([row.get('Do Not Call')]),
  };
  const name = cell('Company Name') ?? cell('Company');
  const companies: SourceRecord[] =
    domain === undefined || name === undefined
      ? []
      : [{ entity: 'company', key: `company:${domain}`, record: companyOf(row, name, domain) }];
  return contactRow(SOURCE, { line: row.line, row, contact }, companies);
}

function companyOf(row: CsvRow, name: string, domain: string): Record<string, unknown> {
  const cell = (column: string) => cellOf(row.get(column));
  const country = countryOf(row.get('Company Country'));
  return compact({
    name,
    domain,
    website: cell('Website'),
    professional_network: cell('Company Linkedin Url'),
    phone: phoneOf(cell('Company Phone')?.replace(/^'/, ''), country),
    employees: wholeOf(cell('# Employees')),
    industry: cell('Industry'),
    street: cell('Company Address'),
    locality: joined(cell('Company City'), cell('Company State'), country),
    _city: cell('Company City'),
    _country: country,
  });
}
