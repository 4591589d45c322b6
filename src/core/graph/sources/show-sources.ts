/** The origin of every value of a person or company. */
import type { Sql } from '../../db/client.ts';
import { notFound } from '../../lib/errors.ts';
import { companyFields, personFields } from '../fields.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { recordToJson } from '../record.ts';
import { entityCodes } from '../source-entities.ts';
import { readLiveRecords } from './build.sql.ts';
import { OWN_SOURCE } from './partition.ts';
import { readStored, resolveMergedId } from './show-sources.sql.ts';
import { isUnknown, mergeByTrust, type ValueOrigin } from './trust.ts';

export interface ShownSources {
  /** The id that the record has now: another one when the given one was merged into it. */
  id: number;
  record: JsonRecord;
  /** `record` is the number by which a record is split off; null for a record that is in no source. */
  sources: {
    record: number | null;
    source: string;
    key: string;
    as_of: string;
    import_id: number | null;
  }[];
  /** By field: the origins of its value, the first of which decides it. */
  values: Record<
    string,
    { source: string; key: string; as_of: string; import_id: number | null }[]
  >;
}

/**
 * Returns a record as the API returns it, with the sources that it is made of and the origin of each value. An id that
 * was merged leads to the one that stayed. Throws `AppError` 404 when there is none.
 */
export async function showSources(
  sql: Sql,
  of: 'company' | 'person',
  asked: number,
): Promise<ShownSources> {
  const id = await resolveMergedId(sql, entityCodes[of], asked);
  const stored = await readStored(sql, of, id);
  if (stored === undefined) throw notFound(`${of === 'company' ? 'Company' : 'Person'} ${asked}`);
  const record: JsonRecord = JSON.parse(
    recordToJson(of === 'company' ? companyFields : personFields, stored),
  );
  const rows = await readLiveRecords(sql, entityCodes[of], [id]);
  if (rows.length === 0) {
    const whenUpdated = String(record.whenUpdated).slice(0, 10);
    const origin = { source: OWN_SOURCE, key: String(id), as_of: whenUpdated, import_id: null };
    const shown = Object.entries(record).filter(([, value]) => !isUnknown(value));
    return {
      id,
      record,
      sources: [{ record: null, ...origin }],
      values: Object.fromEntries(shown.map(([field]) => [field, [origin]])),
    };
  }
  const parsed = rows.map((row) => ({ ...row, record: JSON.parse(row.record) as JsonRecord }));
  const { origins } = mergeByTrust(parsed, of);
  const origin = ({ source, key, asOf, importId }: ValueOrigin) => ({
    source,
    key: source === OWN_SOURCE ? key.slice(key.indexOf(':') + 1) : key,
    as_of: asOf,
    import_id: source === OWN_SOURCE ? null : importId,
  });
  for (const [field, texts] of Object.entries(derivedFrom)) {
    const from = texts.map((text) => origins[text]).find((found) => found !== undefined);
    if (from !== undefined && origins[field] === undefined && !isUnknown(record[field])) {
      origins[field] = from;
    }
  }
  return {
    id,
    record,
    sources: parsed.map((one) => ({ record: one.number, ...origin(one) })),
    values: Object.fromEntries(
      Object.entries(origins)
        .filter(([field]) => !field.startsWith('_'))
        .map(([field, list]) => [field, list.map(origin)]),
    ),
  };
}

/** The texts from which an id is derived, by its field; a person has the industry of the company. */
const derivedFrom: Readonly<Record<string, readonly string[]>> = {
  positionId: ['position'],
  positions: ['position'],
  industryId: ['industry', '_company'],
  industries: ['industry', '_company'],
  cityId: ['_city'],
  cities: ['_city'],
  countryId: ['_country'],
  countries: ['_country'],
  companyId: ['_company'],
  company: ['_company'],
};

/** Returns the id that a person has now: another one when the given one was merged into it. */
export function presentPersonId(sql: Sql, id: number): Promise<number> {
  return resolveMergedId(sql, entityCodes.person, id);
}

/** Returns what each source says about a person, under its key. */
export async function listSourceRecords(sql: Sql, personId: number) {
  const rows = await readLiveRecords(sql, entityCodes.person, [personId]);
  return rows.map(({ source, key, asOf, record }) => {
    return { source, key, as_of: asOf, record: JSON.parse(record) as JsonRecord };
  });
}
