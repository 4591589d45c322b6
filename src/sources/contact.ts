/** Contacts of CRMs and address books: one form for all, and the row that it becomes. */
import {
  heldKey,
  keyReference,
  type SourceRecord,
  type SourceRow,
} from '../core/graph/sources/source-record.ts';
import { normaliseIdentifier, statedText } from '../core/identifiers/identifier.ts';
import { isPlaceholder } from '../core/identifiers/placeholder.ts';
import { fold } from '../core/lib/fold.ts';
import { generationOf } from '../core/match/person-name.ts';
import type { CsvRow } from './csv-rows.ts';
import {
  compact,
  countryOf,
  emailOf,
  emailsOf,
  hasLostDigits,
  joined,
  mailDomainOf,
  phoneOf,
  phonesOf,
  textOf,
} from './values.ts';

export interface Contact {
  /** Key in the source; undefined when it has none: then the email, phone or profile is one, with the name. */
  key?: string | undefined;
  /** Keys of the source under which the same person is known, when this record has fewer fields than that. */
  sameAs?: readonly string[];
  title?: string | undefined;
  name?: string | undefined;
  surname?: string | undefined;
  /** The part after the name: `Jr.`, `PhD`. */
  suffix?: string | undefined;
  /** The first is the one to write to. */
  emails: readonly (string | undefined)[];
  /** The first email is at work whatever its domain, as in a CRM. */
  isWorkEmail?: boolean;
  phone?: string | undefined;
  mobile?: string | undefined;
  position?: string | undefined;
  /** The name of the company: a contact without a name of its own is the company's. */
  company?: string | undefined;
  companyKeys?: readonly string[];
  website?: string | undefined;
  profile?: string | undefined;
  twitter?: string | undefined;
  street?: string | undefined;
  city?: string | undefined;
  region?: string | undefined;
  postcode?: string | undefined;
  country?: string | undefined;
  birthDate?: string | undefined;
  /** Null for a contact of whom the file does not clearly say it, who is neither imported nor suppressed. */
  isOptedOut?: boolean | null;
}

/** Returns the key of a contact; of one without a key of its own an address with its name, as others may have the address. */
function keyOf(contact: Contact): string | undefined {
  const { key, emails, phone, mobile, profile, name, surname, country, company, city } = contact;
  if (key !== undefined) return key;
  const email = emails.map(emailOf).find((found) => found !== undefined);
  const number =
    phoneOf(phone, country) ?? phoneOf(mobile, country) ?? textOf(phone) ?? textOf(mobile);
  const folded = fold([name, surname].filter(Boolean).join(' '));
  const address = email ?? profileOf(profile) ?? number;
  if (address !== undefined) return heldKey(address, folded);
  if (folded === '') return undefined;
  return heldKey(`name:${folded}`, fold([company, city].filter(Boolean).join(' ')));
}

/** The row of a contact. `row` is its source, for the rejects. */
export function contactRow(
  source: string,
  given: { line: number; row: CsvRow | { source(): unknown }; contact: Contact },
  more: readonly SourceRecord[] = [],
): SourceRow {
  const { line, row } = given;
  const tidy = tidyContact(given.contact);
  const isDamaged = hasLostDigits(tidy.key?.replace(/^[a-z]+:/, ''));
  if (isDamaged && tidy.isOptedOut !== true) {
    return { line, reason: 'digits_lost', source: row.source() };
  }
  // An opt-out holds for the addresses of the row, whatever its key.
  const contact = isDamaged ? { ...tidy, key: undefined, sameAs: [] } : tidy;
  const key = keyOf(contact);
  const hasName = contact.name !== undefined || contact.surname !== undefined;
  if (key === undefined) return { line, reason: 'names_no_person', source: row.source() };
  if (contact.isOptedOut === null) {
    return { line, reason: 'unclear_opt_out', source: row.source(), seen: [key] };
  }
  const { country, sameAs = [] } = contact;
  const emails = [...new Set(contact.emails.map(emailOf).filter((email) => email !== undefined))];
  const phone = phoneOf(contact.phone, country);
  const mobile = phoneOf(contact.mobile, country);
  const profile = profileOf(contact.profile);
  if (contact.isOptedOut === true) {
    // All that a cell has, of which a record keeps the first.
    const addresses = new Set(contact.emails.flatMap(emailsOf));
    const mobiles = phonesOf(contact.mobile, country);
    const handle = handleOf(contact.twitter);
    const own = [...addresses, ...mobiles, profile, handle].filter((text) => text !== undefined);
    // Colleagues share the telephone of their office: it stands for the person where nothing else does.
    const optedOut = own.length === 0 && phone !== undefined ? [phone] : own;
    return { line, optedOut, keys: [key, ...sameAs].map((one) => ['person', one] as const) };
  }
  // A contact with an address and no name is a person; one with an organization is that.
  if (!hasName && contact.company !== undefined) {
    return { line, reason: 'names_no_person', source: row.source(), seen: [key] };
  }
  const [first, ...otherEmails] = emails;
  const isWork = contact.isWorkEmail === true || mailDomainOf(first) !== undefined;
  const domains = [contact.website?.includes('/in/') ? undefined : contact.website, first]
    .map((text) => (text?.includes('@') ? mailDomainOf(text) : domainOfSite(text)))
    .filter((domain) => domain !== undefined);
  const record = compact({
    title: contact.title,
    name: contact.name ?? '',
    surname: contact.surname,
    ...(isWork ? { workEmail: first } : { email: first }),
    otherEmails,
    // A text that is no number is dropped by the import, and counted.
    phone: phone ?? textOf(contact.phone),
    mobile: mobile ?? textOf(contact.mobile),
    position: contact.position,
    professional_network: profile,
    twitter: contact.twitter,
    street: contact.street,
    postcode: contact.postcode,
    locality: joined(contact.city, contact.region, country),
    birthDate: contact.birthDate,
    birthYear: contact.birthDate === undefined ? undefined : Number(contact.birthDate.slice(0, 4)),
    _city: contact.city,
    _country: country,
  });
  const person: SourceRecord = {
    entity: 'person',
    key,
    record,
    sameAs: sameAs.map((other) => keyReference(source, other)),
    company: [
      ...(contact.companyKeys ?? []).map((company) => keyReference(source, company)),
      ...new Set(domains.map((domain) => `domain:${domain}`)),
    ],
  };
  return { line, records: [person, ...more] };
}

/**
 * Returns the contact with the generation in its family name, and without cells that say that they have no value: `nan` would be
 * the key, the profile or the city of all of them. A name stays as it is: there are people called Na and Null.
 */
function tidyContact({ suffix, surname, country, ...contact }: Contact): Contact {
  const values = Object.entries(contact).filter(
    ([field, value]) => typeof value !== 'string' || field === 'name' || !isPlaceholder(value),
  );
  const after = (suffix ?? '').trim().toLowerCase().replace(/\.$/, '');
  // It tells father and son apart, which a degree does not.
  const hasGeneration = surname !== undefined && generationOf([after]) !== '';
  return {
    ...(Object.fromEntries(values) as unknown as Contact),
    surname: hasGeneration ? `${surname} ${suffix}` : surname,
    country: countryOf(country),
  };
}

/** The address of a profile in canonical form, if it is one. */
export function profileOf(text: string | undefined): string | undefined {
  const handle = canonicalOf('professional_network', text);
  return handle && `https://www.linkedin.com/in/${handle}`;
}

/** The handle of a text as `@handle`, if it is one. */
function handleOf(text: string | undefined): string | undefined {
  const handle = canonicalOf('twitter', text);
  return handle && `@${handle}`;
}

function canonicalOf(
  kind: 'professional_network' | 'twitter',
  text: string | undefined,
): string | undefined {
  // `no` or `-` would be the handle of all who have none.
  const normalised = normaliseIdentifier(kind, statedText(kind, text), { subject: 'person' });
  return 'values' in normalised ? normalised.values[0] : undefined;
}

function domainOfSite(text: string | undefined): string | undefined {
  const normalised = normaliseIdentifier('domain', text ?? '', { subject: 'company' });
  return 'values' in normalised ? normalised.values[0] : undefined;
}

/**
 * Returns true when an earlier record with another name has the key: of two people with one key, one would be lost. `holders` has
 * the first name of each key, and is updated.
 */
export function isOfAnother(
  holders: Map<string, string>,
  key: string | undefined,
  name: string,
): boolean {
  if (key === undefined) return false;
  const holder = fold(name);
  const known = holders.get(key) ?? holder;
  holders.set(key, known);
  return known !== holder;
}
