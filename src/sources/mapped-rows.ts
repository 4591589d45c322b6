/** The rows of a file that a mapping describes. */
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { countryCode } from '../core/identifiers/country.ts';
import { fold } from '../core/lib/fold.ts';
import { type Contact, type ContactKeys, contactRow } from './contact.ts';
import type { SourceMapping } from './source-mapping.ts';
import {
  compact,
  dayFirstDate,
  domainOf,
  emailOf,
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

const TRUE_WORDS = /^(?:1|true|yes|y|x|ja|oui|si|sí)$/i;

/** Returns the row of the import. `keys` finds keys for people of a file that has none. */
export function mappedRow(
  source: string,
  mapping: SourceMapping,
  row: NamedRow,
  keys: ContactKeys,
): SourceRow {
  const values = (field: string) =>
    (mapping.columns[field] ?? [])
      .map((name) => textOf(row.get(name)))
      .filter((text) => text !== undefined);
  const value = (field: string) => values(field)[0];
  const country = value('country') ?? mapping.country;
  return mapping.of === 'persons'
    ? contactRow(source, { line: row.line, row, contact: contactOf(values, country), keys })
    : companyRow(row, mapping, value, country);
}

function contactOf(values: (field: string) => string[], country: string | undefined): Contact {
  const value = (field: string) => values(field)[0];
  const [given, family] = nameOf(value('full_name'));
  const birth = value('birth_date');
  return {
    key: value('key'),
    title: value('salutation'),
    name: joinedNames(values('given_name')) ?? given,
    surname: value('family_name') ?? family,
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
    isOptedOut: values('opt_out').some((cell) => TRUE_WORDS.test(cell)),
  };
}

function joinedNames(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : names.join(' ');
}

/** `Ada Lark` and `Lark, Ada` as given and family name. */
function nameOf(full: string | undefined): [given: string | undefined, family: string | undefined] {
  if (full === undefined) return [undefined, undefined];
  const turned = /^([^,]+),\s*(.+)$/.exec(full);
  if (turned !== null) return [turned[2], turned[1]];
  const [, given, family] = /^(.+)\s+(\S+)$/.exec(full) ?? [];
  return given === undefined ? [full, undefined] : [given, family];
}

/** Only dots: with slashes the month may come first. */
function dottedDate(text: string): string | undefined {
  return text.includes('.') ? dayFirstDate(text) : undefined;
}

function companyRow(
  row: NamedRow,
  mapping: SourceMapping,
  value: (field: string) => string | undefined,
  country: string | undefined,
): SourceRow {
  const { line } = row;
  const name = value('name');
  const website = value('domain');
  const domain = domainOf(website);
  const registry = countryCode(value('registry_country') ?? country ?? '');
  const number = registry === null ? undefined : value('registry_number');
  const ownKey =
    value('key') ?? number ?? domain ?? (name === undefined ? undefined : `name:${fold(name)}`);
  const key = `company:${ownKey}`;
  if (name === undefined || ownKey === undefined) {
    const field = mapping.columns.name?.[0];
    const seen = ownKey === undefined ? {} : { seen: key };
    return {
      line,
      reason: 'missing',
      ...(field === undefined ? {} : { field }),
      ...seen,
      source: row.source(),
    };
  }
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
    employees: wholeOf(value('employees')?.replace(/[\s,.']/g, '')),
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
  return { line, records: [{ entity: 'company', key, record }] };
}
