/**
 * The values by which records of different sources are surely the same person or company. A name is never one of
 * them. `partition.ts` decides which of the values that records share join them.
 */
import { normaliseIdentifier } from '../../identifiers/identifier.ts';
import { isPlaceholder } from '../../identifiers/placeholder.ts';
import { isSharedMailbox } from '../../identifiers/shared-mailbox.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { keyReference, type SourceRecord } from './source-record.ts';

/** Profiles that a system writes in place of one, besides placeholders. */
const noProfiles = new Set('me unavailable edit feed'.split(' '));

/** Returns the values under which a record is compared with those of other sources, and under which it is referred to. */
export function sureKeysOf(source: string, given: SourceRecord): string[] {
  const { entity, key, record, sameAs = [] } = given;
  const own = [keyReference(source, key), ...sameAs];
  if (entity === 'company') {
    const values = companyKeys(record);
    return [...values, ...(isNamedByNumber(source, values) ? sameAs : own)];
  }
  return entity === 'person' ? [...personKeys(record), ...own] : [];
}

/** Registers whose companies other records name by their number alone; by the key only where they have none. */
const namedByNumber: ReadonlySet<string> = new Set(['gb-companies', 'gleif', 'sirene']);

/** Returns true when the key of a company would be stored for nothing: a register has millions. */
function isNamedByNumber(source: string, values: readonly string[]): boolean {
  return namedByNumber.has(source) && values.some((value) => value.startsWith('registry:'));
}

function companyKeys(record: JsonRecord): string[] {
  const country = textOf(record.registryCountry);
  const number = firstValue('registry_number', record.registryNumber, country);
  return [
    ...(number === undefined ? [] : [`registry:${number}`]),
    ...named('domain', firstValue('domain', record.domain)),
    ...profileKeys(record, 'company'),
  ];
}

function personKeys(record: JsonRecord): string[] {
  const emails = [record.workEmail, record.email, ...listOf(record.otherEmails)]
    .map((text) => firstValue('email', text, '', 'person'))
    .filter((email) => email !== undefined && !isSharedMailbox(email));
  return [...profileKeys(record, 'person'), ...new Set(emails.map((email) => `email:${email}`))];
}

/** Two records without a profile are not one person or company: `nan` and `none` could be profiles as well. */
function profileKeys(record: JsonRecord, subject: 'company' | 'person'): string[] {
  const profile = firstValue('professional_network', record.professional_network, '', subject);
  const isNone = profile === undefined || noProfiles.has(profile) || isPlaceholder(profile);
  return isNone ? [] : [`profile:${profile}`];
}

function firstValue(
  kind: 'registry_number' | 'domain' | 'professional_network' | 'email',
  value: unknown,
  registryCountry = '',
  subject: 'company' | 'person' = 'company',
): string | undefined {
  const text = textOf(value);
  if (text === '') return undefined;
  const context = { subject, ...(registryCountry === '' ? {} : { registryCountry }) };
  const normalised = normaliseIdentifier(kind, text, context);
  return 'values' in normalised ? normalised.values[0] : undefined;
}

function named(kind: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${kind}:${value}`];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
