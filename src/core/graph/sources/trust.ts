/** The one table of trust: which source a value is taken from when several have it. */
import { fold } from '../../lib/fold.ts';
import { asObject, isAbsent } from '../import/coerce.ts';
import type { JsonRecord } from '../import/read-records.ts';
import { industryOfCodes } from '../vocabulary/terms.ts';
import { OWN_SOURCE } from './partition.ts';

/**
 * Trust by source, the higher first; of equal trust the later date wins. A team's own files come first because it
 * can correct them, then registers, then what the team's own systems say, and datasets of others last.
 */
const trustOf: Readonly<Record<string, number>> = {
  [OWN_SOURCE]: 100,
  'gb-companies': 90,
  sirene: 90,
  brreg: 90,
  ariregister: 90,
  'gb-officers': 85,
  'gb-psc': 80,
  gleif: 75,
  hubspot: 70,
  salesforce: 70,
  pipedrive: 70,
  apollo: 60,
  linkedin: 55,
  'google-contacts': 50,
  outlook: 50,
  vcard: 50,
  pdl: 30,
};

/** Of a source that is not in the table: a mapping of the team's own. */
const TRUST_OF_OTHERS = 65;

/** One record of one source, as it is stored. */
export interface StoredRecord {
  source: string;
  key: string;
  /** Day of the data, `2026-10-01`. */
  asOf: string;
  importId: number;
  record: JsonRecord;
}

/** The origin of one value. */
export interface ValueOrigin {
  source: string;
  key: string;
  asOf: string;
  importId: number;
}

export interface MergedRecord {
  record: JsonRecord;
  /** By field; a list has the origins of all its items. */
  origins: Record<string, ValueOrigin[]>;
}

/** Lists that hold the values of all sources; the other lists are taken whole from one. */
const unitedLists = new Set(['aliases', 'formerNames', 'domains', '_company']);

/** Returns the records in the order in which their values win. */
function byTrust<T extends StoredRecord>(records: readonly T[]): T[] {
  return [...records].sort(
    (a, b) =>
      (trustOf[b.source] ?? TRUST_OF_OTHERS) - (trustOf[a.source] ?? TRUST_OF_OTHERS) ||
      (a.asOf < b.asOf ? 1 : a.asOf > b.asOf ? -1 : 0) ||
      compareText(a.source, b.source) ||
      compareText(a.key, b.key),
  );
}

/**
 * Merges the records of one person or company: each field is taken from the most trusted record that has it, a person's
 * given and family name from the same one. The names and domains that lose are kept as further ones of a company, so that it is
 * still found by them.
 */
export function mergeByTrust(
  records: readonly StoredRecord[],
  entity: 'company' | 'person',
): MergedRecord {
  const [only] = records;
  if (only !== undefined && records.length === 1) return alone(only);
  const [first, ...others] = byTrust(records);
  if (first === undefined) return { record: {}, origins: {} };
  const placed = placedRecord([first, ...others]);
  const named = entity === 'person' ? namedRecord([first, ...others]) : undefined;
  const merged: JsonRecord = {};
  const origins: Record<string, ValueOrigin[]> = {};
  for (const stored of [first, ...others]) {
    const origin = originOf(stored);
    for (const [field, value] of Object.entries(withIndustry(stored.record))) {
      // City and country are of one place.
      if ((field === '_city' || field === '_country') && stored !== placed) continue;
      // A source may have the whole name of a person in one of both.
      if (named !== undefined && (field === 'name' || field === 'surname') && stored !== named) {
        continue;
      }
      if (!hasValue(value)) continue;
      const isUnited = unitedLists.has(field) && Array.isArray(merged[field]);
      if (merged[field] !== undefined && !isUnited) continue;
      merged[field] = isUnited ? unite(merged[field] as unknown[], value as unknown[]) : value;
      origins[field] ??= [];
      origins[field].push(origin);
    }
  }
  if (entity === 'company') keepLosers(merged, origins, others);
  return { record: merged, origins };
}

/** Most records are alone: all values are theirs, and their origins are seldom asked for. */
function alone(stored: StoredRecord): MergedRecord {
  const record = withIndustry(stored.record);
  return {
    record,
    get origins() {
      const fields = Object.keys(record).filter((field) => hasValue(record[field]));
      return Object.fromEntries(fields.map((field) => [field, [originOf(stored)]]));
    },
  };
}

function hasValue(value: unknown): boolean {
  return !isAbsent(value) && !(Array.isArray(value) && value.length === 0);
}

/** Returns true for a value with which a stored record says that it has none: 0, an empty text, the city with the id 0. */
export function isUnknown(value: unknown): boolean {
  if (isAbsent(value) || value === 0) return true;
  return Array.isArray(value) ? value.length === 0 : asObject(value)?.id === 0;
}

function placedRecord(records: readonly StoredRecord[]): StoredRecord | undefined {
  return (
    records.find(({ record }) => !isAbsent(record._city)) ??
    records.find(({ record }) => !isAbsent(record._country))
  );
}

/** Returns the record of which a person has the name: the first that divides it. */
function namedRecord(records: readonly StoredRecord[]): StoredRecord | undefined {
  return (
    records.find(({ record }) => !isAbsent(record.name) && !isAbsent(record.surname)) ??
    records.find(({ record }) => !isAbsent(record.name) || !isAbsent(record.surname))
  );
}

/** Names the industry that a register gives by its codes, so that it is compared with those that other sources name. */
function withIndustry(record: JsonRecord): JsonRecord {
  if (isAbsent(record.sicCodes) || !isAbsent(record.industry)) return record;
  const industry = industryOfCodes(record.sicCodes, record.registryCountry);
  return industry === undefined ? record : { ...record, industry };
}

function keepLosers(
  merged: JsonRecord,
  origins: Record<string, ValueOrigin[]>,
  others: readonly StoredRecord[],
): void {
  for (const [field, list] of [
    ['name', 'aliases'],
    ['domain', 'domains'],
  ] as const) {
    for (const stored of others) {
      const value = stored.record[field];
      if (typeof value !== 'string') continue;
      const known = [merged[field], ...(Array.isArray(merged[list]) ? merged[list] : [])];
      if (known.some((other) => fold(String(other)) === fold(value))) continue;
      merged[list] = [...(Array.isArray(merged[list]) ? merged[list] : []), value];
      origins[list] = [...(origins[list] ?? []), originOf(stored)];
    }
  }
}

function unite(known: readonly unknown[], more: readonly unknown[]): unknown[] {
  const texts = new Set(known.map((value) => fold(String(value))));
  return [...known, ...more.filter((value) => !texts.has(fold(String(value))))];
}

function originOf({ source, key, asOf, importId }: StoredRecord): ValueOrigin {
  return { source, key, asOf, importId };
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
