/**
 * Salesforce: the weekly export of contacts and accounts, leads of the data loader, and reports. An id has 15
 * significant characters, whose case counts; the other three only repeat the case.
 */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { isYes, optOutOf } from '../opt-out.ts';
import {
  cellOf,
  compact,
  countryOf,
  domainOf,
  isoDate,
  joined,
  phoneOf,
  textOf,
  wholeOf,
} from '../values.ts';

const SOURCE = 'salesforce';
const ID = /^[A-Za-z0-9]{15}(?:[A-Z0-5]{3})?$/;
const ID_CHARACTERS = 15;
/** Systems of others have a column `Contact ID` too; those of Salesforce begin with the sign of its contacts. */
const CONTACT_ID = /\b003[A-Za-z0-9]{12}/;

export const salesforce: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(head, ['Id', 'IsDeleted', 'AccountId', 'LastName', 'FirstName'], readContact) ??
    contactDataset(head, ['Id', 'IsDeleted', 'Name', 'BillingStreet'], readAccount) ??
    contactDataset(head, ['Id', 'IsConverted', 'LastName', 'Company'], readLead) ??
    (CONTACT_ID.test(head.text)
      ? contactDataset(head, ['Contact ID', 'First Name', 'Last Name'], readReported)
      : null),
};

function readContact(row: CsvRow): SourceRow {
  const cell = (name: string) => textOf(row.get(name));
  const id = idOf(row.get('Id'));
  if (id === undefined) return rejectId(row);
  const isOptedOut = optOutOf([row.get('HasOptedOutOfEmail'), row.get('DoNotCall')]);
  // Other sources may have the person still.
  if (isYes(row.get('IsDeleted')) && isOptedOut !== true) {
    return { line: row.line, ended: ['person', id] };
  }
  const account = idOf(row.get('AccountId'));
  const contact: Contact = {
    key: id,
    title: cell('Salutation'),
    name: cell('FirstName'),
    surname: cell('LastName'),
    suffix: cell('Suffix'),
    emails: [cell('Email')],
    isWorkEmail: true,
    phone: cell('Phone'),
    mobile: cell('MobilePhone'),
    position: cell('Title'),
    companyKeys: account === undefined ? [] : [`account:${account}`],
    street: cell('MailingStreet'),
    city: cell('MailingCity'),
    region: cell('MailingState'),
    postcode: cell('MailingPostalCode'),
    country: cell('MailingCountry'),
    birthDate: isoDate(cell('Birthdate')),
    isOptedOut,
  };
  return contactRow(SOURCE, { line: row.line, row, contact });
}

function readAccount(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (name: string) => cellOf(row.get(name));
  const id = idOf(row.get('Id'));
  if (id === undefined) return rejectId(row);
  const key = `account:${id}`;
  if (isYes(row.get('IsDeleted'))) return { line, ended: ['company', key] };
  const name = textOf(row.get('Name'));
  if (name === undefined)
    return { line, reason: 'missing', field: 'Name', source: row.source(), seen: [key] };
  const country = countryOf(row.get('BillingCountry'));
  const record = compact({
    name,
    domain: domainOf(cell('Website')),
    website: cell('Website'),
    phone: phoneOf(cell('Phone'), country),
    employees: wholeOf(cell('NumberOfEmployees')),
    industry: cell('Industry'),
    street: cell('BillingStreet'),
    postcode: cell('BillingPostalCode'),
    locality: joined(cell('BillingCity'), cell('BillingState'), country),
    _city: cell('BillingCity'),
    _country: country,
  });
  return { line, records: [{ entity: 'company', key, record }] };
}

/** A converted lead is a contact by now. */
function readLead(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (name: string) => textOf(row.get(name));
  const id = idOf(row.get('Id'));
  if (id === undefined) return rejectId(row);
  const key = `lead:${id}`;
  const isOptedOut = optOutOf([row.get('HasOptedOutOfEmail'), row.get('DoNotCall')]);
  if (isOptedOut !== true) {
    if (isYes(row.get('IsDeleted'))) return { line, ended: ['person', key] };
    if (isYes(row.get('IsConverted'))) return { line, reason: 'converted', source: row.source() };
  }
  const contact: Contact = {
    key,
    title: cell('Salutation'),
    name: cell('FirstName'),
    surname: cell('LastName'),
    suffix: cell('Suffix'),
    emails: [cell('Email')],
    isWorkEmail: true,
    phone: cell('Phone'),
    mobile: cell('MobilePhone'),
    position: cell('Title'),
    website: cell('Website'),
    street: cell('Street'),
    city: cell('City'),
    region: cell('State'),
    postcode: cell('PostalCode'),
    country: cell('Country'),
    isOptedOut,
  };
  return contactRow(SOURCE, { line, row, contact });
}

/** A report has the columns that its author chose: its records are parts of the contacts. */
function readReported(row: CsvRow): SourceRow {
  const cell = (name: string) => textOf(row.get(name));
  const id = idOf(row.get('Contact ID'));
  // The lines below the rows, with the report's name and the copyright.
  if (id === undefined) return { line: row.line, reason: 'footer', source: row.source() };
  const account = idOf(row.get('Account ID'));
  const contact: Contact = {
    key: `report:${id}`,
    sameAs: [id],
    title: cell('Salutation'),
    name: cell('First Name'),
    surname: cell('Last Name'),
    emails: [cell('Email')],
    isWorkEmail: true,
    phone: cell('Phone'),
    mobile: cell('Mobile'),
    position: cell('Title'),
    companyKeys: account === undefined ? [] : [`account:${account}`],
    street: cell('Mailing Street'),
    city: cell('Mailing City'),
    region: cell('Mailing State/Province'),
    postcode: cell('Mailing Zip/Postal Code'),
    country: cell('Mailing Country'),
    isOptedOut: optOutOf([row.get('Email Opt Out'), row.get('Do Not Call')]),
  };
  return contactRow(SOURCE, { line: row.line, row, contact });
}

function idOf(cell: string): string | undefined {
  const id = cell.trim();
  return ID.test(id) ? id.slice(0, ID_CHARACTERS) : undefined;
}

function rejectId(row: CsvRow): SourceRow {
  return { line: row.line, reason: 'not_an_id', field: 'Id', source: row.source() };
}
