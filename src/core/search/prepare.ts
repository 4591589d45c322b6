/**
 * Resolves the names of a filter to ids of the graph before it becomes SQL. They are looked up first and not
 * inside the statement, so that the planner sees how many people they match.
 */

import type { Owner } from '../accounts/owner.ts';
import type { Sql } from '../db/client.ts';
import { countryCode } from '../identifiers/country.ts';
import { fold } from '../lib/fold.ts';
import type { Condition, Filter, Place } from './parse.ts';
import type { PlaceIds, PreparedFilter } from './prepared-filter.ts';
import {
  findCityIds,
  findObjectIds,
  findPlacedCityIds,
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
  const countryIdsOf = indexCountries(await selectCountries(sql));
  const cities: { city: string; countryId: number }[] = [];
  const countryIds = new Set<number>();
  for (const { city, country } of places) {
    for (const id of countryIdsOf(country)) {
      if (city === null) countryIds.add(id);
      else cities.push({ city, countryId: id });
    }
  }
  const cityIds = cities.length === 0 ? [] : await findPlacedCityIds(sql, cities);
  return { cityIds, countryIds: [...countryIds] };
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
