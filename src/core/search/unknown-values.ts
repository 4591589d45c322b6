/**
 * Finds the values of a filter that the lookups do not know: places, industries and job titles that are misspelt, or
 * that fewer than ten people have. Such a filter is not wrong, but it rarely finds what its author expects. Only
 * values that the lookups tell for free are judged, never those that identify people.
 */
import { z } from 'zod';
import type { Sql } from '../db/client.ts';
import { lookupIdsFrom } from '../graph/lookup-ids.ts';
import { FEW } from './free-responses.ts';
import type { Condition, Filter } from './parse.ts';
import { resolvePlaces } from './prepare.ts';
import { findUnknownIds, findUnknownNames, findUnknownTitles } from './search.sql.ts';

export const unknownValuesSchema = z
  .array(z.strictObject({ parameter: z.string(), value: z.string() }))
  .meta({
    description:
      'Places, industries and job titles of the filter that no lookup knows: misspelt, or had by fewer than ten people. At most 100.',
  });
export type UnknownValues = z.output<typeof unknownValuesSchema>;

const UNKNOWN_MAX = 100;

/** A lookup by its kind, with the first id of the values meant. */
interface Vocabulary {
  kind: 1 | 2 | 3;
  idsFrom: number;
}
const positions: Vocabulary = { kind: 1, idsFrom: 0 };
const cities: Vocabulary = { kind: 2, idsFrom: 0 };
const regions: Vocabulary = { kind: 2, idsFrom: lookupIdsFrom.region };
const countries: Vocabulary = { kind: 2, idsFrom: lookupIdsFrom.country };
const industries: Vocabulary = { kind: 3, idsFrom: 0 };

/** The vocabulary of ids, by the field or path that is compared. */
const idVocabularies: Readonly<Record<string, Vocabulary>> = {
  positionId: positions,
  'positions.id': positions,
  industryId: industries,
  'industries.id': industries,
  cityId: cities,
  'cities.id': cities,
  regionId: regions,
  'regions.id': regions,
  'cities.regionId': regions,
  'cities.regions.id': regions,
  countryId: countries,
  'countries.id': countries,
  'cities.countryId': countries,
  'cities.countries.id': countries,
};

/** The table of names, by the path that is compared. */
const nameTables: Readonly<
  Record<string, 'positions' | 'industries' | 'cities' | 'regions' | 'countries'>
> = {
  'positions.name': 'positions',
  'industries.name': 'industries',
  'cities.name': 'cities',
  'regions.name': 'regions',
  'cities.regions.name': 'regions',
  'countries.name': 'countries',
  'cities.countries.name': 'countries',
};
/** Fields that hold job titles in people's own words. */
const titleFields: ReadonlySet<string> = new Set(['position', 'positionName']);

/** Returns at most 100 values, in the order of the filter; single ids, not ranges of them. */
export async function findUnknownValues(sql: Sql, filter: Filter): Promise<UnknownValues> {
  const found = await Promise.all(
    filter.conditions.map(async (condition) => {
      const values = await unknownValuesOf(sql, condition);
      return values.map((value) => ({ parameter: condition.parameter, value }));
    }),
  );
  return found.flat().slice(0, UNKNOWN_MAX);
}

async function unknownValuesOf(sql: Sql, condition: Condition): Promise<readonly string[]> {
  const { inside } = condition;
  const path = inside === undefined ? condition.field : [inside.object, ...inside.path].join('.');
  if (condition.node === 'place') return (await resolvePlaces(sql, condition.places)).unknown;
  if (condition.node === 'text' && condition.texts.length > 0) {
    if (titleFields.has(path)) return findUnknownTitles(sql, condition.texts);
    const table = nameTables[path];
    return table === undefined ? [] : findUnknownNames(sql, table, condition.texts);
  }
  const vocabulary = idVocabularies[path];
  if (condition.node !== 'integer' || vocabulary === undefined) return [];
  const ids = condition.ranges.flatMap(({ min, max }) => (min === max ? [min] : []));
  if (ids.length === 0) return [];
  const unknown = await findUnknownIds(sql, { ...vocabulary, ids, peopleMin: FEW });
  return unknown.map(String);
}
