/**
 * The phones and handles that sources have of a person whose record has those of a more trusted one: no look-up finds the
 * person by them, an opt-out does. All email addresses and profiles of a person are in `source_keys`.
 */
import type { FurtherIdentifier } from '../further-identifiers.sql.ts';
import { personCodes } from '../identifier-kinds.ts';
import { type ImportContext, regionOf } from '../import/batch.ts';
import { isAbsent } from '../import/coerce.ts';
import { derivedIdsOf, deriveReferences } from '../import/derive-references.ts';
import { personIdentifiers } from '../import/person-row.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { personKeyOf } from '../person-key.ts';
import type { StoredRecord } from './trust.ts';

const codes = personCodes.filter(({ kind }) => personKeyOf({ kind, value: '' }) === null);
/** `_meta` of `_meta.twitterFormer`. */
const fields = codes.flatMap(({ fields: read = [] }) =>
  read.map((name) => name.replace(/\..*/, '')),
);

/** Returns the identifiers in the records of a person that the record merged from them lacks. */
export function furtherIdentifiers(
  id: number,
  records: readonly StoredRecord[],
  merged: JsonRecord,
  context: ImportContext,
): FurtherIdentifier[] {
  const others = records.filter(({ record }) =>
    fields.some((field) => !isAbsent(record[field]) && record[field] !== merged[field]),
  );
  if (others.length === 0) return [];
  const region = regionIn(merged, context);
  const known = personIdentifiers(id, merged, region);
  return others.flatMap(({ record }) => {
    const found = personIdentifiers(id, record, regionIn(record, context) ?? region);
    return codes.flatMap(({ code: kind }) => {
      const values = found.valuesOf(kind).filter((value) => !known.valuesOf(kind).includes(value));
      return values.map((value) => ({ id, kind, value }));
    });
  });
}

/** As the import finds it. */
function regionIn(record: JsonRecord, context: ImportContext): string | undefined {
  const { given, notes } = deriveReferences(record);
  return regionOf({ ...given, ...derivedIdsOf(given, notes) }, context);
}
