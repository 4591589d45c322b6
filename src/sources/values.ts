/** Conversions that several adapters need; each returns undefined for a value that says nothing. */
import { isPlainTime } from '../core/graph/import/coerce.ts';
import { keyReference, registryReference } from '../core/graph/sources/source-record.ts';
import { countryCode, phoneRegion } from '../core/identifiers/country.ts';
import { normaliseIdentifier } from '../core/identifiers/identifier.ts';
import { isPlaceholder } from '../core/identifiers/placeholder.ts';
import { restoreWholeNumber } from '../core/identifiers/spreadsheet-number.ts';

/** Trimmed text; undefined when empty. */
export function textOf(text: string | null | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

/** Trimmed text of a cell that people fill; undefined also for one that says that it has no value: `nan`, `k.A.`, `-`. */
export function cellOf(text: string | null | undefined): string | undefined {
  const trimmed = textOf(text);
  return trimmed === undefined || isPlaceholder(trimmed) ? undefined : trimmed;
}

/** The text of a cell with a country: `NA` is one, `n/a` is none. */
export function countryOf(text: string | null | undefined): string | undefined {
  return cellOf(text) ?? (countryCode(text ?? '') === null ? undefined : textOf(text));
}

/** Returns true for an id of which a spreadsheet kept the first digits, `1.76543E+11`: other records have the same. */
export function hasLostDigits(id: string | undefined): boolean {
  return id !== undefined && /e\+/i.test(id) && restoreWholeNumber(id) === null;
}

/** The texts that are not empty, joined by `, `. */
export function joined(...texts: readonly (string | null | undefined)[]): string | undefined {
  return joinedBy(', ', ...texts);
}

/** The texts that are not empty, joined. */
export function joinedBy(
  separator: string,
  ...texts: readonly (string | null | undefined)[]
): string | undefined {
  const present = texts.map(textOf).filter((text) => text !== undefined);
  return present.length === 0 ? undefined : present.join(separator);
}

/** `31/12/2026` or, with a dot between, `31.12.2026` as `2026-12-31`; undefined for a day that does not exist. */
export function dayFirstDate(text: string): string | undefined {
  const match = /^(\d{1,2})[/.](\d{1,2})[/.](\d{4})$/.exec(text.trim());
  if (match === null) return undefined;
  const [, day = '', month = '', year = ''] = match;
  return isoDate(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`);
}

/** `20261231` as `2026-12-31`. */
export function compactDate(text: string): string | undefined {
  const match = /^(\d{4})(\d\d)(\d\d)$/.exec(text.trim());
  return match === null ? undefined : isoDate(`${match[1]}-${match[2]}-${match[3]}`);
}

/** The day of an ISO date or time; undefined for a day that does not exist. */
export function isoDate(text: string | null | undefined): string | undefined {
  const day = /^(\d{4}-\d\d-\d\d)(?:$|[T ])/.exec(text?.trim() ?? '')?.[1];
  return day !== undefined && isPlainTime(`${day}T00:00:00`) ? day : undefined;
}

/** Returns true for a day, `2026-10-01`, that has begun nowhere: somewhere it is tomorrow already. */
export function isLaterThanTomorrow(day: string): boolean {
  return day > new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A whole number of at least zero; a data frame writes it as `250.0`. */
export function wholeOf(text: string | null | undefined): number | undefined {
  const digits = text?.trim().replace(/\.0$/, '') ?? '';
  return /^\d{1,10}$/.test(digits) && Number(digits) <= 2_147_483_647 ? Number(digits) : undefined;
}

/** A phone number in E.164, read in a country (ISO alpha-2 or a name) when it has no calling code. */
export function phoneOf(text: string | null | undefined, country?: string): string | undefined {
  return phonesOf(text, country)[0];
}

/** As `phoneOf`, all numbers of a cell. */
export function phonesOf(text: string | null | undefined, country?: string): string[] {
  const region = country === undefined ? null : phoneRegion(country);
  const normalised = normaliseIdentifier('phone', text ?? '', {
    subject: 'person',
    ...(region === null ? {} : { region }),
  });
  return 'values' in normalised ? normalised.values : [];
}

/** The domain that a website is the home page of; undefined for a page on a host that others share. */
export function domainOf(website: string | null | undefined): string | undefined {
  const text = website?.trim() ?? '';
  if (text === '' || text.includes('@')) return undefined;
  const path = text.replace(/^[a-z]+:\/\//i, '').replace(/^[^/?#]*/, '');
  if (/^\/.*[^/]/.test(path) || sharedHosts.test(text)) return undefined;
  const normalised = normaliseIdentifier('domain', text, { subject: 'company' });
  return 'values' in normalised ? normalised.values[0] : undefined;
}

const sharedHosts =
  /(?:^|\/\/|\.)(?:facebook|fb|instagram|linkedin|twitter|x|youtube|tiktok|pinterest|medium|wordpress|blogspot|wixsite|weebly|github|sites\.google|linktr|etsy|ebay|amazon|yelp|google|business\.site)\.[a-z.]{2,6}(?:[/:?#]|$)/i;

/** The canonical value of an email address; undefined for any other text. */
export function emailOf(text: string | null | undefined): string | undefined {
  return emailsOf(text)[0];
}

/** As `emailOf`, all addresses of a cell. */
export function emailsOf(text: string | null | undefined): string[] {
  const normalised = normaliseIdentifier('email', text ?? '', { subject: 'person' });
  return 'values' in normalised ? normalised.values : [];
}

/** The domain of an email address, unless it is one of free mail. */
export function mailDomainOf(email: string | undefined): string | undefined {
  return email === undefined ? undefined : domainOf(email.slice(email.indexOf('@') + 1));
}

/** ` &amp; `, `&#039;` and `&AMP;` as their characters; anything that is not a whole reference stays. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([a-zA-Z]{2,6}));/g,
    (whole, decimal, hex, name) => {
      if (name !== undefined) return entities[String(name).toLowerCase()] ?? whole;
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
      const isCharacter = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
      return isCharacter ? String.fromCodePoint(code) : whole;
    },
  );
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** References to a company of Companies House by its number; the register itself has some that are none, `00000000`. */
export function britishCompany(number: string): string[] {
  const canonical = normaliseIdentifier('registry_number', number, { subject: 'company' });
  if ('values' in canonical) return [registryReference(canonical.values[0])];
  return /^[A-Z0-9]{8}$/.test(number) ? [keyReference('gb-companies', number)] : [];
}

/** The record without its undefined values and empty lists. */
export function compact(record: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const field of Object.keys(record)) {
    const value = record[field];
    if (value === undefined || (Array.isArray(value) && value.length === 0)) continue;
    kept[field] = value;
  }
  return kept;
}
