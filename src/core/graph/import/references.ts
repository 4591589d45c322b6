/**
 * Names for the reference tables that records contain. A stated name (an object such as `cities`) replaces the
 * stored one; a derived name (`position` next to `positionId`, the parts of `locality`) only fills a gap. Neither
 * removes a stored name.
 */
import { fold } from '../../lib/fold.ts';
import { isDerivedId } from '../vocabulary/derived-ids.ts';
import { asObject, coerceKeyText, coerceReferenceId, coerceTimestamp, isAbsent } from './coerce.ts';
import type { JsonRecord } from './read-records.ts';

export const referenceTables = [
  'countries',
  'regions',
  'cities',
  'industries',
  'positions',
] as const;
export type ReferenceTable = (typeof referenceTables)[number];

export interface ReferenceRow {
  id: number;
  name?: string;
  iso2?: string;
  countryId?: number;
  regionId?: number;
  createdAt?: string;
}

export interface ReferenceNote {
  table: ReferenceTable;
  isDerived: boolean;
  row: ReferenceRow;
}

/** Stated and derived rows of one table, one per id. */
export interface ReferenceRows {
  stated: Map<number, ReferenceRow>;
  derived: Map<number, ReferenceRow>;
}

/** The reference rows of one batch: the last stated value and the first derived value count. */
export class ReferenceBatch {
  readonly #tables = new Map<ReferenceTable, ReferenceRows>();

  add(notes: readonly ReferenceNote[]): void {
    for (const { table, isDerived, row } of notes) {
      const rows = this.rowsOf(table);
      const known = isDerived ? rows.derived : rows.stated;
      const before = known.get(row.id);
      if (before === undefined) known.set(row.id, row);
      else if (isDerivedId(row.id)) known.set(row.id, isBetterSpelt(row, before) ? row : before);
      else if (addsNothing(row, before, isDerived)) continue;
      else known.set(row.id, isDerived ? { ...row, ...before } : { ...before, ...row });
    }
  }

  /** Returns true when another value of this batch has the derived id. */
  isTaken({ table, row }: ReferenceNote): boolean {
    const before = this.rowsOf(table).derived.get(row.id);
    if (before === undefined || table === 'countries') return false;
    return before.countryId !== row.countryId || fold(before.name ?? '') !== fold(row.name ?? '');
  }

  rowsOf(table: ReferenceTable): ReferenceRows {
    const found = this.#tables.get(table) ?? { stated: new Map(), derived: new Map() };
    this.#tables.set(table, found);
    return found;
  }
}

/** Of two spellings the one that sorts last counts, which has the accents; so the order of files does not matter. */
function isBetterSpelt(row: ReferenceRow, before: ReferenceRow): boolean {
  return (row.name ?? '') > (before.name ?? '');
}

const furtherFields = ['name', 'iso2', 'countryId', 'regionId', 'createdAt'] as const;

/** Returns true when the row adds nothing: a batch repeats the same few cities. */
function addsNothing(row: ReferenceRow, known: ReferenceRow, isDerived: boolean): boolean {
  return furtherFields.every(
    (field) =>
      row[field] === undefined ||
      (isDerived ? known[field] !== undefined : known[field] === row[field]),
  );
}

/** Returns the reference rows in a person or company; `problem` names a malformed object. */
export function referencesOf(record: JsonRecord): { notes: ReferenceNote[]; problem?: string } {
  const notes: ReferenceNote[] = [];
  for (const table of referenceTables) {
    if (isAbsent(record[table])) continue;
    const stated = readReference(table, record[table]);
    if (stated === null) return { notes, problem: table };
    notes.push(...stated);
  }
  notes.push(...namedBeside(record), ...placesOf(record));
  return { notes };
}

/**
 * Reads `{id, name, ...}` with its nested objects; null when it is not such an object. The object with the id 0,
 * which a record of the API has for an unknown city, is nothing.
 */
function readReference(table: ReferenceTable, value: unknown): ReferenceNote[] | null {
  const object = asObject(value);
  const id = coerceReferenceId(object?.id);
  if (object === null || typeof id !== 'number') return null;
  if (id === 0) return [];
  const row: ReferenceRow = { id, ...nameOf(object.name) };
  const note: ReferenceNote = { table, isDerived: false, row };
  if (table !== 'cities') return [note];
  const countryId = idOf(object.countryId);
  const regionId = idOf(object.regionId);
  const createdAt = coerceTimestamp(object.createdAt);
  if (countryId > 0) row.countryId = countryId;
  if (regionId > 0) row.regionId = regionId;
  if (typeof createdAt === 'string') row.createdAt = createdAt;
  const countries = isAbsent(object.countries) ? [] : readReference('countries', object.countries);
  const regions = isAbsent(object.regions) ? [] : readReference('regions', object.regions);
  return countries === null || regions === null ? null : [note, ...countries, ...regions];
}

function namedBeside(record: JsonRecord): ReferenceNote[] {
  return [
    ...derived('positions', record.positionId, record.position),
    ...derived('industries', record.industryId, record.industry),
  ];
}

/** Reads the places of `<city>, <region>, <country>`; any other form is ambiguous. */
function placesOf(record: JsonRecord): ReferenceNote[] {
  const { locality, countryId, regionId } = record;
  if (typeof locality !== 'string' || (isAbsent(countryId) && isAbsent(regionId))) return [];
  const [, region, country, ...more] = locality.split(', ');
  if (country === undefined || more.length > 0) return [];
  const within = idOf(countryId);
  const regions = derived('regions', regionId, region);
  return [
    ...derived('countries', countryId, country),
    ...(within > 0
      ? regions.map((note) => ({ ...note, row: { ...note.row, countryId: within } }))
      : regions),
  ];
}

function derived(table: ReferenceTable, id: unknown, name: unknown): ReferenceNote[] {
  const known = idOf(id);
  const named = nameOf(name);
  return known === 0 || named.name === undefined
    ? []
    : [{ table, isDerived: true, row: { id: known, ...named } }];
}

function nameOf(value: unknown): { name?: string } {
  const name = isAbsent(value) ? '' : coerceKeyText(value);
  return typeof name === 'string' && name.trim() !== '' ? { name } : {};
}

function idOf(value: unknown): number {
  const id = isAbsent(value) ? 0 : coerceReferenceId(value);
  return typeof id === 'number' ? id : 0;
}
