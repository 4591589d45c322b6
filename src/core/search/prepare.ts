/**
 * Resolves the names of a filter to ids of the graph before it becomes SQL. They are looked up first and not
 * inside the statement, so that the planner sees how many people they match.
 */

import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';
import { findPresentIds } from '../graph/merged-ids.ts';
import { countryCode } from '../identifiers/country.ts';
import { must } from '../lib/assert.ts';
import { fold } from '../lib/fold.ts';
import type { Condition, Filter, Place } from './parse.ts';
import type { Range } from './parse-ranges.ts';
import type { PlaceIds, PreparedFilter } from './prepared-filter.ts';
import {
  findCityIds,
  findDerivedPositions,
  findObjectIds,
  findPlacedCities,
  hasDoNotContact,
  selectCountries,
} from './search.sql.ts';

/**
 * Prepares a filter for `compileFilter`, in the graph that `sql` sees: reads the ids of names, and whether the
 * account has a do-not-contact list. Ages are those of the UTC year of `now`.
 */
export async function prepareFilter(
  sql: Sql,
  filter: Filter,
  owner: Owner,
  now: Date = new Date(),
): Promise<PreparedFilter> {
  const objectIds = new Map<number, number[]>();
  const places = new Map<number, PlaceIds>();
  const found = filter.conditions.map(async (condition, index) => {
    if (condition.node === 'place') places.set(index, await resolvePlaces(sql, condition.places));
    else if (isOfCompanies(condition)) {
      const present = await findPresentIds(sql, 'company', idsIn(condition.ranges));
      objectIds.set(index, [...new Set(present.values())]);
    } else if (condition.inside !== undefined) objectIds.set(index, await idsOf(sql, condition));
    else if (condition.node === 'text' && condition.field === 'positionName') {
      objectIds.set(index, await findDerivedPositions(sql, condition.texts));
    }
  });
  const [listed] = await Promise.all([hasDoNotContact(sql, owner), ...found]);
  const year = now.getUTCFullYear();
  return { filter, owner, year, objectIds, places, hasDoNotContact: listed };
}

/** True for a condition on the id of a company, which changes when an import joins it with another one. */
function isOfCompanies(condition: Condition): condition is Condition & { node: 'integer' } {
  const { inside, field, node } = condition;
  const isId = inside === undefined ? field === 'companyId' : inside.path.join('.') === 'id';
  return node === 'integer' && isId && (inside === undefined || inside.object === 'company');
}

function idsIn(ranges: readonly Range[]): number[] {
  return ranges.flatMap(({ min, max }) => (min === max ? [min] : []));
}

async function idsOf(sql: Sql, condition: Condition): Promise<number[]> {
  const { object, path } = condition.inside ?? { object: '', path: [] };
  if (object === 'cities') return findCityIds(sql, path.join('.'), condition);
  if (condition.node !== 'text' || condition.texts.length === 0) return [];
  return findObjectIds(sql, object, condition.texts);
}

/**
 * Returns the cities inside given countries, the countries given as a whole, and the places, as written, that are
 * neither.
 */
export async function resolvePlaces(
  sql: Sql,
  places: readonly Place[],
): Promise<PlaceIds & { unknown: string[] }> {
  const countryIdsOf = indexCountries(await selectCountries(sql));
  const named: { place: Place; city: string; countryId: number }[] = [];
  const countryIds = new Set<number>();
  const known = new Set<Place>();
  for (const place of places) {
    for (const countryId of countryIdsOf(place.country)) {
      if (place.city !== null) named.push({ place, city: place.city, countryId });
      else known.add(place);
      if (place.city === null) countryIds.add(countryId);
    }
  }
  const cities = named.length === 0 ? [] : await findPlacedCities(sql, named);
  for (const { at } of cities) known.add(must(named[at], 'place of a city').place);
  return {
    cityIds: [...new Set(cities.map(({ id }) => id))],
    countryIds: [...countryIds],
    unknown: places
      .filter((place) => !known.has(place))
      .map(({ city, country }) => `${city ?? ''}:${country}`),
  };
}

/**
 * Finds countries by name in any spelling, or by ISO code. The code of a country that only records name comes from
 * its name, here and not in the import: the same file must always give the same graph, and the runtime knows more
 * names with every version.
 */
function indexCountries(
  countries: Awaited<ReturnType<typeof selectCountries>>,
): (country: string) => Set<number> {
  const ids = new Map<string, number[]>();
  const add = (key: string, id: number) => ids.set(key, [...(ids.get(key) ?? []), id]);
  for (const { id, name, iso2 } of countries) {
    const code = iso2 ?? countryCode(name);
    if (code !== null) add(`code ${code}`, id);
    if (name !== '') add(`name ${fold(name).trim()}`, id);
  }
  return (country) => {
    const code = countryCode(country);
    const byCode = code === null ? [] : (ids.get(`code ${code}`) ?? []);
    return new Set([...byCode, ...(ids.get(`name ${fold(country).trim()}`) ?? [])]);
  };
}
