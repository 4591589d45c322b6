import { personFields } from '../fields.ts';
import { columnsOfFields } from './columns.ts';
import { identifierFieldsOf, identifiersOf } from './identifiers-of.ts';
import type { JsonRecord } from './read-records.ts';
import type { IdentifierSet } from './record-row.ts';

export const personColumns = columnsOfFields(personFields);

/** Field names of an import row; others are ignored and counted. */
export const personKnownFields: ReadonlySet<string> = new Set([
  ...personFields.map((field) => field.name),
  ...identifierFieldsOf('person'),
  'industry',
  '_meta',
]);

/** Returns the identifiers of a person. `region` is the record's country, for phones. */
export function personIdentifiers(
  id: number,
  record: JsonRecord,
  region: string | undefined,
): IdentifierSet {
  return identifiersOf(id, record, {
    subject: 'person',
    ...(region === undefined ? {} : { region }),
  });
}
