/**
 * Gives records the ids that their files do not: of a title by its family, of an industry by its name or the codes of
 * a register, of a city by its country and name, of a country by its ISO code. An id that a file gives always counts.
 */
import { countryCode, countryName } from '../../identifiers/country.ts';
import { remember } from '../../lib/remember.ts';
import { countryIdOf, countryOfId, derivedId, isDerivedId } from '../vocabulary/derived-ids.ts';
import type { Term } from '../vocabulary/spelling.ts';
import { cityTerm, industryOfCodes, industryTerm } from '../vocabulary/terms.ts';
import { familyOf } from '../vocabulary/title-family.ts';
import { asObject, fitsIndex, isAbsent } from './coerce.ts';
import type { JsonRecord } from './read-records.ts';
import type { ReferenceNote, ReferenceTable } from './references.ts';

/** The field of the id, by table. */
export const derivedFields = {
  positions: 'positionId',
  industries: 'industryId',
  cities: 'cityId',
  countries: 'countryId',
} as const satisfies Partial<Record<ReferenceTable, string>>;
type DerivedTable = keyof typeof derivedFields;
const tables = Object.keys(derivedFields) as DerivedTable[];

export interface DerivedReferences {
  /** The record without derived ids: a record that was exported comes back with them. */
  given: JsonRecord;
  /** Rows with derived ids for what the record names. */
  notes: ReferenceNote[];
  /** Fields whose id no file may bring, and that is not the one of the record's own text: they are left out. */
  lost: string[];
}

/** Returns the references that a record names without an id. */
export function deriveReferences(record: JsonRecord): DerivedReferences {
  const given = withoutDerivedIds(record);
  const { country, city } = placeOf(given);
  const industry = isAbsent(given.industry)
    ? industryOfCodes(given.sicCodes, given.registryCountry)
    : given.industry;
  const notes: ReferenceNote[] = [];
  const isMissing = (text: unknown, table: DerivedTable): text is string =>
    typeof text === 'string' && text !== '' && !hasId(given, table);
  if (isMissing(given.position, 'positions')) notes.push(...notesOfTitle(given.position));
  if (isMissing(industry, 'industries')) notes.push(...notesOfIndustry(industry));
  if (country !== null && isMissing(city, 'cities'))
    notes.push(...notesOfCity(`${country}${city}`));
  if (isMissing(country, 'countries')) notes.push(...notesOfCountry(country));
  return { given, notes, lost: given === record ? [] : lostFields(record, notes) };
}

/** Returns the fields with a derived id that is not the one of the record's own text. */
function lostFields(record: JsonRecord, notes: readonly ReferenceNote[]): string[] {
  const lost = tables.filter((table) => {
    const id = idOf(record, table);
    return isDerivedId(id) && notes.every((note) => note.table !== table || note.row.id !== id);
  });
  return lost.map((table) => derivedFields[table]);
}

/** Returns the ids of these rows, by field, for what the record has no id. */
export function derivedIdsOf(given: JsonRecord, notes: readonly ReferenceNote[]): JsonRecord {
  const ids: JsonRecord = {};
  for (const { table, row } of notes) {
    if (isDerivedTable(table) && !hasId(given, table)) ids[derivedFields[table]] = row.id;
  }
  return ids;
}

function isDerivedTable(table: ReferenceTable): table is DerivedTable {
  return table in derivedFields;
}

function hasId(record: JsonRecord, table: DerivedTable): boolean {
  return idOf(record, table) !== 0;
}

/** The id of the field or of the object beside it. NaN for one that is no number, which the import rejects. */
function idOf(record: JsonRecord, table: DerivedTable): number {
  const value = record[derivedFields[table]];
  if (!isAbsent(value)) return Number(value);
  return isAbsent(record[table]) ? 0 : Number(asObject(record[table])?.id ?? 0);
}

/** Replaces derived ids by the texts that they are derived from. */
export function withoutDerivedIds(record: JsonRecord): JsonRecord {
  const derived = tables.filter((table) => isDerivedId(idOf(record, table)));
  if (derived.length === 0) return record;
  const given = { ...record };
  for (const table of derived) {
    const object = asObject(given[table]);
    delete given[derivedFields[table]];
    delete given[table];
    if (table === 'positions') given.position ||= object?.name;
    if (table === 'industries') given.industry = object?.name ?? given.industry;
    if (table === 'cities') {
      given._city = object?.name;
      given._country = countryOfId(Number(object?.countryId)) ?? given._country;
    }
    if (table === 'countries') given._country = countryOfId(idOf(record, table));
  }
  return given;
}

function titleNotes(text: string): ReferenceNote[] {
  return termNotes('positions', familyOf(text));
}

function industryNotes(text: string): ReferenceNote[] {
  return termNotes('industries', industryTerm(text));
}

function termNotes(table: 'positions' | 'industries', term: Term | null): ReferenceNote[] {
  if (term === null || !fitsIndex(term.name)) return [];
  return [{ table, isDerived: true, row: { id: derivedId(table, term.key), name: term.name } }];
}

/** A city, `GB LONDON`, is always in the derived country, so that its row does not depend on which file named it first. */
function cityNotes(text: string): ReferenceNote[] {
  const country = text.slice(0, CODE_LETTERS);
  const term = cityTerm(text.slice(CODE_LETTERS));
  if (term === null) return [];
  const id = derivedId('cities', `${country} ${term.key}`);
  const row = { id, name: term.name, countryId: countryIdOf(country) };
  return [{ table: 'cities', isDerived: true, row }, ...countryNotes(country)];
}

function countryNotes(code: string): ReferenceNote[] {
  const row = { id: countryIdOf(code), name: countryName(code), iso2: code };
  return [{ table: 'countries', isDerived: true, row }];
}

const CODE_LETTERS = 2;
/** A file repeats the same values. */
const VALUES_MAX = 10_000;
const notesOfTitle = remember(titleNotes, VALUES_MAX);
const notesOfIndustry = remember(industryNotes, VALUES_MAX);
const notesOfCity = remember(cityNotes, VALUES_MAX);
const notesOfCountry = remember(countryNotes, VALUES_MAX);

/** The place that a source names, or that of a locality `<city>, <region>, <country>`. */
function placeOf({ _city, _country, locality }: JsonRecord): {
  country: string | null;
  city: string;
} {
  if (!isAbsent(_country) || !isAbsent(_city)) {
    return { country: countryCode(String(_country ?? '')), city: String(_city ?? '') };
  }
  if (typeof locality !== 'string') return { country: null, city: '' };
  const [city = '', , country = '', ...more] = locality.split(', ');
  // Two letters may be a state: GA is Georgia and Gabon.
  if (country.length < COUNTRY_LETTERS_MIN || more.length > 0) return { country: null, city: '' };
  return { country: countryCode(country), city };
}

const COUNTRY_LETTERS_MIN = 3;
