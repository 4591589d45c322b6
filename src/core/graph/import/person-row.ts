import { normaliseIdentifier } from '../../identifiers/identifier.ts';
import { personFields } from '../fields.ts';
import { personIdentifierCodes } from '../identifier-kinds.ts';
import { asObject, coerceText } from './coerce.ts';
import { columnsOfFields } from './columns.ts';
import type { JsonRecord } from './read-records.ts';
import { IdentifierSet } from './record-row.ts';

export const personColumns = columnsOfFields(personFields);

/** Field names of an import row; others are ignored and counted. */
export const personKnownFields: ReadonlySet<string> = new Set([
  ...personFields.map((field) => field.name),
  'industry',
  '_meta',
]);

/** Returns the identifiers of a person. `region` is the record's country, for phones. */
export function personIdentifiers(
  id: number,
  record: JsonRecord,
  region: string | undefined,
): IdentifierSet {
  const found = new IdentifierSet(id);
  const codes = personIdentifierCodes;
  const context = { subject: 'person' as const, ...(region === undefined ? {} : { region }) };
  const add = (
    kind: 'professional_network' | 'email' | 'twitter',
    code: number,
    value: unknown,
  ) => {
    const text = textOf(value);
    if (text === '') return;
    const normalised = normaliseIdentifier(kind, text, context);
    // Alternative readings of a cell are for look-ups; a record is stored only under the first.
    if ('values' in normalised) found.add(kind, code, normalised.values[0]);
  };
  add('professional_network', codes.professional_network, record.professional_network);
  add('email', codes.work_email, record.workEmail);
  add('email', codes.email, record.email);
  for (const value of [record.phone, record.mobile]) {
    const text = textOf(value);
    if (text === '') continue;
    const normalised = normaliseIdentifier('phone', text, context);
    // A cell may contain several numbers, and each of them belongs to the person.
    const numbers = 'values' in normalised ? normalised.values : [];
    for (const number of numbers) found.add('phone', codes.phone, number);
  }
  add('twitter', codes.twitter, record.twitter);
  for (const handle of formerHandles(record)) add('twitter', codes.former_handle, handle);
  return found;
}

/** `_meta.twitterFormer`, one handle or several. */
function formerHandles(record: JsonRecord): readonly unknown[] {
  const former = asObject(record._meta)?.twitterFormer;
  return Array.isArray(former) ? former : [former];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const text = coerceText(value);
  return typeof text === 'string' ? text : '';
}
