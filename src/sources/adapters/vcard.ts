/** vCard 2.1, 3.0 (RFC 2426) and 4.0 (RFC 6350), in one file also mixed. */
import type { SourceRow } from '../../core/graph/sources/source-record.ts';
import type { Adapter } from '../adapter.ts';
import { type Contact, contactRow, isOfAnother } from '../contact.ts';
import { toUtf8 } from '../csv-rows.ts';
import type { SourcePart } from '../source-files.ts';
import { isoDate, joinedBy, textOf } from '../values.ts';
import { readCards, type VCard } from '../vcard-reader.ts';

const SOURCE = 'vcard';
/** The year of a birthday whose year is unknown, as Apple writes it. */
const UNKNOWN_YEAR = '1604';

export const vcard: Adapter = {
  name: SOURCE,
  recognise: ({ text }) =>
    /^\s*BEGIN:VCARD\s/i.test(text.replace(/^\ufeff/, ''))
      ? { snapshotOf: null, read: readParts }
      : null,
};

async function* readParts(parts: AsyncIterable<SourcePart>): AsyncGenerator<SourceRow[]> {
  const holders = new Map<string, string>();
  for await (const { bytes } of parts) {
    for await (const card of readCards(toUtf8(bytes))) yield [readCard(card, holders)];
  }
}

function readCard(card: VCard, holders: Map<string, string>): SourceRow {
  const { line } = card;
  const source = () => Object.fromEntries(card.properties.map(({ name, value }) => [name, value]));
  if (card.unreadable !== null) return { line, reason: card.unreadable, source: source() };
  const first = (name: string) => card.properties.find((property) => property.name === name);
  // In version 3.0 programs of Apple write it under a name of their own.
  const { value: written } = first('KIND') ?? first('X-ADDRESSBOOKSERVER-KIND') ?? {};
  const kind = textOf(written)?.toLowerCase() ?? 'individual';
  const isCompany = textOf(first('X-ABSHOWAS')?.value)?.toUpperCase() === 'COMPANY';
  if (kind !== 'individual' || isCompany)
    return { line, reason: 'names_no_person', source: source() };
  const all = (name: string) =>
    card.properties
      .filter((property) => property.name === name)
      .sort((a, b) => Number(b.isPreferred) - Number(a.isPreferred));
  const [surname, given, additional, prefix, suffix] = first('N')?.parts ?? [];
  const [, , street, city, region, postcode, country] = all('ADR')[0]?.parts ?? [];
  const phones = all('TEL').filter(({ types }) => !types.has('fax') && !types.has('pager'));
  const mobile = phones.find(({ types }) => types.has('cell') || types.has('mobile'));
  const profiles = [...all('SOCIALPROFILE'), ...all('X-SOCIALPROFILE'), ...all('URL')].map(
    ({ value }) => value,
  );
  const name = joinedBy(' ', given, additional);
  const names =
    name === undefined && textOf(surname) === undefined
      ? { name: textOf(first('FN')?.value) }
      : { name, surname: textOf(surname) };
  const uid = textOf(first('UID')?.value);
  // For example a card that was copied and then changed.
  const isTaken = isOfAnother(holders, uid, Object.values(names).join(' '));
  const contact: Contact = {
    key: isTaken ? undefined : uid,
    title: textOf(prefix),
    suffix: textOf(suffix),
    ...names,
    emails: all('EMAIL').map(({ value }) => value),
    phone: phoneText(phones.find((phone) => phone !== mobile)?.value),
    mobile: phoneText(mobile?.value),
    position: textOf(first('TITLE')?.value),
    website: textOf(first('URL')?.value),
    profile: profiles.find((value) => /linkedin\.com\/in\//i.test(value)),
    twitter: profiles.find((value) => /(?:twitter|\/\/x)\.com\//i.test(value)),
    street: textOf(street),
    city: textOf(city),
    region: textOf(region),
    postcode: textOf(postcode),
    country: textOf(country),
    birthDate: birthDateOf(first('BDAY')?.value),
  };
  return contactRow(SOURCE, { line, row: { source }, contact });
}

function phoneText(value: string | undefined): string | undefined {
  return textOf(value?.replace(/^tel:/i, ''));
}

/** `1976-08-09` or `19760809`; a day without a year is none. */
function birthDateOf(value: string | undefined): string | undefined {
  const day = isoDate(value?.trim().replace(/^(\d{4})(\d\d)(\d\d)/, '$1-$2-$3'));
  return day?.startsWith(UNKNOWN_YEAR) ? undefined : day;
}
