/** Outlook: the export of the desktop program, of Outlook on the web, and either saved by Excel as Unicode text. */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow } from '../contact.ts';
import { contactDataset } from '../contact-files.ts';
import type { CsvRow } from '../csv-rows.ts';
import { isYes } from '../opt-out.ts';
import { isoDate, joined, joinedBy, textOf } from '../values.ts';

const SOURCE = 'outlook';
/** An address inside Exchange is a path, not an email address. */
const EXCHANGE = 'EX';

export const outlook: Adapter = {
  name: SOURCE,
  recognise: (head) =>
    contactDataset(
      head,
      ['First Name', 'Last Name', 'E-mail Address', 'Business Street'],
      readContact,
    ),
};

function readContact(row: CsvRow): SourceRow {
  const { line } = row;
  const cell = (name: string) => textOf(row.get(name));
  if (isYes(row.get('Private')) || /^private$/i.test(cell('Sensitivity') ?? '')) {
    return { line, reason: 'private', source: { line } };
  }
  const emails = ['E-mail', 'E-mail 2', 'E-mail 3']
    .filter((name) => cell(`${name} Type`) !== EXCHANGE)
    .map((name) => cell(`${name} Address`));
  const isAtWork = ['Street', 'City', 'Country/Region'].some((name) => cell(`Business ${name}`));
  const place = isAtWork ? 'Business' : 'Home';
  const contact: Contact = {
    title: cell('Title'),
    name: joinedBy(' ', cell('First Name'), cell('Middle Name')),
    surname: cell('Last Name'),
    suffix: cell('Suffix'),
    emails,
    phone:
      cell('Business Phone') ?? cell('Home Phone') ?? cell('Primary Phone') ?? cell('Other Phone'),
    mobile: cell('Mobile Phone'),
    position: cell('Job Title'),
    company: cell('Company'),
    website: cell('Web Page'),
    street: joined(cell(`${place} Street`), cell(`${place} Street 2`), cell(`${place} Street 3`)),
    city: cell(`${place} City`),
    region: cell(`${place} State`),
    postcode: cell(`${place} Postal Code`),
    country: cell(`${place} Country/Region`),
    birthDate: birthDateOf(row.get('Birthday')),
  };
  return contactRow(SOURCE, { line, row, contact });
}

/** `M/D/YYYY`, or ISO on the web; `0/0/00` is none. */
function birthDateOf(text: string): string | undefined {
  const american = /^(\d{1,2})\/(\d{1,2})\/(\d{4})$/.exec(text.trim());
  if (american === null) return isoDate(text);
  const [, month = '', day = '', year = ''] = american;
  return isoDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
}
