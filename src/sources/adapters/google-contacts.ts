/** Google Contacts, in the layout since 2024 and in the one before, which is UTF-16. */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { isoDate, joinedBy, textOf } from '../values.ts';

const SOURCE = 'google-contacts';
const BETWEEN_VALUES = ' ::: ';
const ADDRESSES = 3;
/** Words of a label, in the language of its owner or as they wrote it. */
const MOBILE = /mobil|m[oó]vil|cell|celular|portable|handy|iphone|komórk|携帯|手机/i;
const NO_PHONE = /fax|pager/i;

export const googleContacts: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(head, ['First Name', 'Last Name', 'Organization Name', 'Labels'], readContact) ??
    contactDataset(head, ['Given Name', 'Family Name', 'Group Membership'], readContact),
};

function readContact(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (...names: readonly string[]) =>
    names.map((name) => textOf(row.get(name))).find((text) => text !== undefined);
  const several = (kind: string, isWanted = (_label: string) => true) =>
    Array.from({ length: ADDRESSES }, (_, index) => `${kind} ${index + 1}`)
      .filter((name) => isWanted(row.get(`${name} - Label`) || row.get(`${name} - Type`)))
      .flatMap((name) => row.get(`${name} - Value`).split(BETWEEN_VALUES))
      .map(textOf)
      .filter((text) => text !== undefined);
  const labels = row.get('Labels') || row.get('Group Membership');
  // Addresses that were written to once: the email stands for the name.
  if (labels.includes('* Other Contacts'))
    return { line, reason: 'other_contact', source: row.source() };
  const contact: Contact = {
    title: cell('Name Prefix'),
    name: joinedBy(' ', cell('First Name', 'Given Name'), cell('Middle Name', 'Additional Name')),
    surname: cell('Last Name', 'Family Name'),
    suffix: cell('Name Suffix'),
    emails: several('E-mail'),
    phone: several('Phone', (label) => !MOBILE.test(label) && !NO_PHONE.test(label))[0],
    mobile: several('Phone', (label) => MOBILE.test(label))[0],
    position: cell('Organization Title', 'Organization 1 - Title'),
    company: cell('Organization Name', 'Organization 1 - Name'),
    website: cell('Website 1 - Value'),
    street: cell('Address 1 - Street'),
    city: cell('Address 1 - City'),
    region: cell('Address 1 - Region'),
    postcode: cell('Address 1 - Postal Code'),
    country: cell('Address 1 - Country'),
    birthDate: isoDate(cell('Birthday')),
  };
  return contactRow(SOURCE, { line, row, contact });
}
