/** The rows of a file that a mapping describes. */
import { heldKey, type SourceRow } from '../core/graph/sources/source-record.ts';
import { countryCode } from '../core/identifiers/country.ts';
import { fold } from '../core/lib/fold.ts';
import { readPersonName } from '../core/match/person-name.ts';
import { type Contact, contactRow, isOfAnother } from './contact.ts';
import { optOutOf } from './opt-out.ts';
import type { SourceMapping } from './source-mapping.ts';
import {
  cellOf,
  compact,
  countryOf,
  dayFirstDate,
  domainOf,
  emailOf,
  hasLostDigits,
  isoDate,
  joined,
  phoneOf,
  textOf,
  wholeOf,
} from './values.ts';

/** One row by the names of its columns. */
export interface NamedRow {
  line: number;
  get(name: string): string;
  source(): unknown;
}

/** The values of a field in a row, in the order of its columns. */
type Values = (field: string) => string[];

const names: ReadonlySet<string> = new Set(['full_name', 'given_name', 'family_name', 'name']);

/** Returns the row of the import. `holders` has the names of the earlier rows by their keys. */
export function mappedRow(
  source: string,
  mapping: SourceMapping,
  row: NamedRow,
  holders: Map<string, string>,
): SourceRow {
  const { line } = row;
  const cells = (field: string) => (mapping.columns[field] ?? []).map((name) => row.get(name));
  const values: Values = (field) => {
    const read = names.has(field) ? textOf : field === 'country' ? countryOf : cellOf;
    return cells(field)
      .map(read)
      .filter((text) => text !== undefined);
  };
  const reject = (reason: string, field: string): SourceRow => {
    const column = mapping.columns[field]?.[0];
    return {
      line,
      reason,
      ...(column === undefined ? {} : { field: column }),
      source: row.source(),
    };
  };
  const [country = mapping.country] = values('country');
  if (mapping.of === 'companies') return companyRow({ line, values, country, holders, reject });
  const isOptedOut = optOutOf(cells('opt_out'));
  const contact = { ...contactOf(values, country), isOptedOut };
  const name = `${contact.name ?? ''} ${contact.surname ?? ''}`;
  const isTaken = isOfAnother(holders, contact.key, name);
  if (isTaken && isOptedOut !== true) return reject('key_twice', 'key');
  // An opt-out holds for the addresses of the row, and not for the other person.
  const own = isTaken ? { ...contact, key: undefined } : contact;
  return contactRow(source, { line, row, contact: own });
}

function contactOf(values: Values, country: string | undefined): Contact {
  const value = (field: string) => values(field)[0];
  const whole = nameOf(value('full_name'));
  const birth = value('birth_date');
  return {
    key: value('key'),
    title: value('salutation'),
    name: joinedNames(values('given_name')) ?? whole.name,
    surname: value('family_name') ?? whole.surname,
    suffix: whole.suffix,
    emails: values('email'),
    phone: value('phone'),
    mobile: value('mobile'),
    position: value('job_title'),
    company: value('company_name'),
    website: value('website'),
    profile: value('professional_network'),
    twitter: value('twitter'),
    street: value('street'),
    city: value('city'),
    region: value('region'),
    postcode: value('postcode'),
    country,
    birthDate: birth === undefined ? undefined : (isoDate(birth) ?? dottedDate(birth)),
  };
}

function joinedNames(parts: readonly string[]): string | undefined {
  return parts.length === 0 ? undefined : parts.join(' ');
}

/** Reads `Ada Lark`, `Lark, Ada` and `Ada Lark, PhD`: the comma of the last one divides no name. */
function nameOf(full: string | undefined): Pick<Contact, 'name' | 'surname' | 'suffix'> {
  if (full === undefined) return {};
  const [, before = full, after] = /^([^,]+),\s*(.+)$/.exec(full) ?? [];
  if (after !== undefined && isTurned(full)) return { name: after, surname: before };
  const [, name, surname] = /^(.+)\s+(\S+)$/.exec(before) ?? [];
  return name === undefined ? { name: before } : { name, surname, suffix: after };
}

function isTurned(full: string): boolean {
  const read = readPersonName(full, true);
  if (typeof read === 'string') return true;
  // `Lark, Earl`, but not `Ada Lark, Justice`.
  return read.untitled === undefined ? read.family > 0 : read.family === 1;
}

/** Only dots: with slashes the month may come first. */
function dottedDate(text: string): string | undefined {
  return text.includes('.') ? dayFirstDate(text) : undefined;
}

function companyRow({
  line,
  values,
  country,
  holders,
  reject,
}: {
  line: number;
  values: Values;
  country: string | undefined;
  holders: Map<string, string>;
  reject(reason: string, field: string): SourceRow;
}): SourceRow {
  const value = (field: string) => values(field)[0];
  const name = value('name');
  if (name === undefined) return reject('missing', 'name');
  const key = value('key');
  if (hasLostDigits(key)) return reject('digits_lost', 'key');
  if (isOfAnother(holders, key, name)) return reject('key_twice', 'key');
  const website = value('domain');
  const domain = domainOf(website);
  const registry = countryCode(value('registry_country') ?? country ?? '');
  const number = registry === null ? undefined : value('registry_number');
  const place = joined(value('city'), country) ?? '';
  const record = compact({
    name,
    domain,
    website,
    professional_network: value('professional_network'),
    phone: phoneOf(value('phone'), country),
    email: emailOf(value('email')),
    registryNumber: number,
    registryCountry: number === undefined ? undefined : registry,
    industry: value('industry'),
    sicCodes: value('sic_codes')
      ?.split(/[,;|\s]+/)
      .filter(Boolean),
    employees: countOf(value('employees')),
    headCount: value('head_count'),
    founded: value('founded'),
    status: value('status'),
    summary: value('summary'),
    street: value('street'),
    postcode: value('postcode'),
    locality: joined(value('city'), value('region'), country),
    _city: value('city'),
    _country: country,
  });
  // Numbers of two countries may be equal, sister companies have one site, and many companies one name.
  const address = number ?? domain;
  const own =
    key ??
    (address === undefined
      ? heldKey(`name:${fold(name)}`, fold(place))
      : heldKey(address, fold(name)));
  return { line, records: [{ entity: 'company', key: `company:${own}`, record }] };
}

/** `1,200`, `1.200` and `1 200` as 1200. */
function countOf(text: string | undefined): number | undefined {
  const isGrouped = /^\d{1,3}(?:[\s,.'’]\d{3})+$/.test(text ?? '');
  return wholeOf(isGrouped ? text?.replace(/\D/g, '') : text);
}
