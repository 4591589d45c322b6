/** The identifiers of people in the records that sources have of them, or had before later imports changed or ended these. */
import type { Sql } from '../../db/client.ts';
import { isOptedOut } from '../../suppression/suppress.ts';
import { personCodes, personIdentifierCodes } from '../identifier-kinds.ts';
import { personIdentifiers } from '../import/person-row.ts';
import type { JsonRecord } from '../import/read-records.ts';
import {
  listMentions,
  listStatedRecords,
  listStatesOf,
  type StatedRecord,
} from './stated-identifiers.sql.ts';
import { sureKeysOf } from './sure-keys.ts';

const EMAIL = 'email:';

/** An identifier; `code` is a kind of `person_identifiers`. */
export interface StatedIdentifier {
  code: number;
  value: string;
}

/**
 * Returns the identifiers in all records of these people: what an import brought may not be built yet, and undoing it restores
 * what it changed. Phones without a country code are left out.
 */
export async function listStatedIdentifiers(
  sql: Sql,
  ids: readonly number[],
): Promise<StatedIdentifier[]> {
  return withoutEnds(await listStatedRecords(sql, ids)).flatMap(identifiersIn);
}

/** Returns true when these records, by their numbers, have, or had, an identifier that opted out. */
export async function haveOptedOut(sql: Sql, numbers: readonly number[]): Promise<boolean> {
  const stated = withoutEnds(await listStatesOf(sql, numbers)).flatMap(identifiersIn);
  for (const { code, value } of stated) {
    const kind = personCodes.find((one) => one.code === code)?.kind;
    if (kind !== undefined && (await isOptedOut(sql, { kind, value }))) return true;
  }
  return false;
}

/** Returns the ids of people who are not in the graph and for whom a source has, or had, this value as one of these kinds. */
export async function findStatedPeople(
  sql: Sql,
  value: string,
  codes: readonly number[],
): Promise<number[]> {
  const mentions = withoutEnds(await listMentions(sql, value));
  const named = mentions.filter((record) =>
    identifiersIn(record).some((one) => one.value === value && codes.includes(one.code)),
  );
  return [...new Set(named.map(({ id }) => id))];
}

/** These states without the ends of records that stated something before. */
function withoutEnds(states: readonly StatedRecord[]): StatedRecord[] {
  const nameOf = ({ source, key }: StatedRecord) => `${source} ${key}`;
  const stated = new Set(states.filter(({ record }) => record !== null).map(nameOf));
  return states.filter((state) => state.record !== null || !stated.has(nameOf(state)));
}

function identifiersIn({ source, key, record: text }: StatedRecord): StatedIdentifier[] {
  const record = text === null ? addressIn(key) : (JSON.parse(text) as JsonRecord);
  const found = personIdentifiers(0, record, undefined);
  const fields = personCodes.flatMap(({ code }) =>
    found.valuesOf(code).map((value) => ({ code, value })),
  );
  const known = new Set(fields.map(({ value }) => value));
  const emails = sureKeysOf(source, { entity: 'person', key, record })
    .filter((sure) => sure.startsWith(EMAIL))
    .map((sure) => ({ code: personIdentifierCodes.email, value: sure.slice(EMAIL.length) }));
  return [...emails.filter(({ value }) => !known.has(value)), ...fields];
}

/** The address that is the key of a record, alone or before the name of its holder: all that is left of one that was undone. */
function addressIn(key: string): JsonRecord {
  const [address = ''] = key.split(' ');
  if (address.includes('@')) return { email: address };
  if (address.includes('/in/')) return { professional_network: address };
  return address.startsWith('+') ? { phone: address } : {};
}
