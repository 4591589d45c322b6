/**
 * Resolves the names of a filter to ids of the graph before it becomes SQL. They are looked up first and not
 * inside the statement, so that the planner sees how many people they match.
 */

import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';
import { countryCode } from '../identifiers/country.ts';
import type { Condition, Filter, Place } from './parse.ts';
import type { PlaceIds, PreparedFilter } from './prepared-filter.ts';
import {
  findCityIds,
  findCountryIds,
  findObjectIds,
  findPlacedCityIds,
  hasDoNotContact,
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
    if (condition.node === 'place') places.set(index, await placeIds(sql, condition.places));
    else if (condition.inside !== undefined) objectIds.set(index, await idsOf(sql, condition));
  });
  const [listed] = await Promise.all([hasDoNotContact(sql, owner), ...found]);
  const year = now.getUTCFullYear();
  return { filter, owner, year, objectIds, places, hasDoNotContact: listed };
}

async function idsOf(sql: Sql, condition: Condition): Promise<number[]> {
  const { object, path } = condition.inside ?? { object: '', path: [] };
  if (object === 'cities') return findCityIds(sql, path.join('.'), condition);
  if (condition.node !== 'text' || condition.texts.length === 0) return [];
  return findObjectIds(sql, object, condition.texts);
}

/** Returns the cities inside given countries, and the countries given as a whole. */
async function placeIds(sql: Sql, places: readonly Place[]): Promise<PlaceIds> {
  const countries = places.map(({ country }) => country);
  const codes = countries.map((country) => countryCode(country) ?? '');
  const found = await findCountryIds(sql, countries, codes);
  const cities: { city: string; countryId: number }[] = [];
  const countryIds = new Set<number>();
  for (const { place, id } of found) {
    const city = places[place - 1]?.city ?? null;
    if (city === null) countryIds.add(id);
    else cities.push({ city, countryId: id });
  }
  const cityIds = cities.length === 0 ? [] : await findPlacedCityIds(sql, cities);
  return { cityIds, countryIds: [...countryIds] };
}
