/** The identifiers that sources had of people before later imports changed them: what an undone import would bring back. */
import type { Sql } from '../../db/client.ts';
import { personCodes, personIdentifierCodes } from '../identifier-kinds.ts';
import { personIdentifiers } from '../import/person-row.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { sureKeysOf } from './sure-keys.ts';
import { readEarlierRecords } from './undo.sql.ts';

const EMAIL = 'email:';

/** An identifier; `code` is a kind of `person_identifiers`. */
export interface EarlierIdentifier {
  code: number;
  value: string;
}

/** Returns the identifiers in the earlier versions of the records of these people. Phones without a country code are left out. */
export async function listEarlierIdentifiers(
  sql: Sql,
  ids: readonly number[],
): Promise<EarlierIdentifier[]> {
  const records = await readEarlierRecords(sql, ids);
  return records.flatMap(({ source, key, record: text }) => {
    const record = JSON.parse(text) as JsonRecord;
    const found = personIdentifiers(0, record, undefined);
    const emails = sureKeysOf(source, { entity: 'person', key, record })
      .filter((value) => value.startsWith(EMAIL))
      .map((value) => ({ code: personIdentifierCodes.email, value: value.slice(EMAIL.length) }));
    const others = personCodes.flatMap(({ code }) =>
      found.valuesOf(code).map((value) => ({ code, value })),
    );
    return [...emails, ...others];
  });
}
