/** Statements that resolve a filter's names in the graph, and read the pages of a search. */

import type { Owner } from '../accounts/owner.ts';
import { ownedPeople } from '../credits/owned.sql.ts';
import type { Sql } from '../db/client.ts';
import { lookupCodes, lookupIdsFrom } from '../graph/lookup-ids.ts';
import { entityCodes } from '../graph/source-entities.ts';
import { DERIVED_ID_MIN } from '../graph/vocabulary/derived-ids.ts';
import { must } from '../lib/assert.ts';
import { personSearch } from '../operations.ts';
import { compileSearch, presenceMask } from './compile.sql.ts';
import { anyOf, integerIn, timeIn } from './compile-ranges.sql.ts';
import { ofFilter } from './of-filter.ts';
import { orderSql } from './page-order.sql.ts';
import type { Condition } from './parse.ts';
import type { PageOrder, Place } from './parse-page.ts';
import type { PreparedFilter } from './prepared-filter.ts';

const namedTables: Readonly<Record<string, string>> = {
  industries: 'industries',
  positions: 'positions',
  countries: 'countries',
  regions: 'regions',
  company: 'companies',
};

/** Returns the ids of an object's table whose rows have one of these names. */
export async function findObjectIds(sql: Sql, object: string, names: string[]): Promise<number[]> {
  const table = namedTables[object];
  // A list that a person carries has no ids of its own.
  if (table === undefined) return [];
  const rows = await sql<{ id: number }[]>`
    select id from ${sql(table)}
    where btrim(fold(name)) = any(fold_all(${names}::text[])) order by id`;
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of the derived positions that a lookup shows with one of these names: few of their people have the name as
 * their own words. Of a source's own positions nearly all have it, and one title alone is read in the order of an index.
 */
export async function findDerivedPositions(sql: Sql, names: readonly string[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct v.id from unnest(${[...names]}::text[]) asked (name)
    join lookup_values v on v.kind = ${lookupCodes.jobTitles} and v.folded = fold_words(asked.name)
      and btrim(fold(v.name)) = btrim(fold(asked.name))
    where v.name <> '' and v.id >= ${DERIVED_ID_MIN} and v.id < ${lookupIdsFrom.region}::bigint order by v.id`;
  return rows.map(({ id }) => id);
}

/** Returns the ids of the cities whose value at this path matches the condition. */
export async function findCityIds(
  sql: Sql,
  member: string,
  condition: Condition,
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select c.id from cities c
    left join countries n on n.id = c.country_id and n.name <> ''
    left join regions g on g.id = c.region_id and g.name <> ''
    where ${cityTest(sql, member, condition)} order by c.id`;
  return rows.map(({ id }) => id);
}

const cityMembers: Readonly<Record<string, string>> = {
  name: 'c.name',
  countryId: 'c.country_id',
  'countries.id': 'n.id',
  'countries.name': 'n.name',
  regionId: 'c.region_id',
  'regions.id': 'g.id',
  'regions.name': 'g.name',
  createdAt: 'c.created_at',
};

function cityTest(sql: Sql, member: string, condition: Condition) {
  // The id itself is compared in the statement over people.
  const name = cityMembers[member];
  if (name === undefined) return sql`false`;
  const column = sql(name);
  switch (condition.node) {
    case 'text':
      return sql`btrim(fold(${column})) = any(fold_all(${condition.texts}::text[]))`;
    case 'integer':
      return anyOf(sql, integerIn(sql, name, { ranges: condition.ranges, isBig: false }));
    case 'time':
      return anyOf(sql, timeIn(sql, name, condition.spans));
    default:
      return sql`false`;
  }
}

/** Returns all countries; a country that only records name has no code. */
export async function selectCountries(
  sql: Sql,
): Promise<{ id: number; name: string; iso2: string | null }[]> {
  return sql<{ id: number; name: string; iso2: string | null }[]>`
    select id, name, iso2 from countries where name <> '' or iso2 is not null order by id`;
}

/** Returns cities by name inside a country, each with the zero-based position in the list that it was found for. */
export async function findPlacedCities(
  sql: Sql,
  cities: readonly { city: string; countryId: number }[],
): Promise<{ at: number; id: number }[]> {
  return sql<{ at: number; id: number }[]>`
    select t.place - 1 as at, c.id
    from unnest(${cities.map(({ city }) => city)}::text[],
      ${cities.map(({ countryId }) => countryId)}::int[]) with ordinality t (name, country_id, place)
    join cities c on c.country_id = t.country_id and btrim(fold(c.name)) = btrim(fold(t.name))
    where c.name <> '' order by c.id`;
}

/** Returns those of the ids, in their order, whose value has no name and that fewer than `peopleMin` people have. */
export async function findUnknownIds(
  sql: Sql,
  {
    kind,
    idsFrom,
    ids,
    peopleMin,
  }: {
    kind: number;
    /** `lookup_values` has these values under their ids plus this. */
    idsFrom: number;
    ids: readonly number[];
    peopleMin: number;
  },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select asked.id from unnest(${[...ids]}::bigint[]) with ordinality asked (id, place)
    where not exists (
      select from lookup_values v
      where v.kind = ${kind} and v.id = asked.id + ${idsFrom}::bigint
        and (v.name <> '' or v.people >= ${peopleMin}))
    order by asked.place`;
  return rows.map(({ id }) => id);
}

/** Returns those of the names, in their order, that no row of the table has; of positions, that no lookup shows. */
export async function findUnknownNames(
  sql: Sql,
  table: 'positions' | 'industries' | 'cities' | 'regions' | 'countries',
  names: readonly string[],
): Promise<string[]> {
  // A derived position is a title in people's own words.
  const isTold =
    table === 'positions'
      ? sql`(t.id < ${DERIVED_ID_MIN} or exists (
          select from lookup_values v where v.kind = 1 and v.id = t.id and v.name <> ''))`
      : sql`true`;
  const rows = await sql<{ name: string }[]>`
    select asked.name from unnest(${[...names]}::text[]) with ordinality asked (name, place)
    where not exists (
      select from ${sql(table)} t where t.name <> '' and btrim(fold(t.name)) = btrim(fold(asked.name))
        and ${isTold})
    order by asked.place`;
  return rows.map(({ name }) => name);
}

/** Returns those of the titles, in their order, that no position has and too few people for a lookup. */
export async function findUnknownTitles(sql: Sql, titles: readonly string[]): Promise<string[]> {
  // By the index over words; a value may differ from the title in punctuation.
  const rows = await sql<{ title: string }[]>`
    select asked.title from unnest(${[...titles]}::text[]) with ordinality asked (title, place)
    where not exists (
      select from lookup_values v
      where v.kind = 1 and v.name <> '' and v.folded = fold_words(asked.title)
        and btrim(fold(v.name)) = btrim(fold(asked.title)))
    order by asked.place`;
  return rows.map(({ title }) => title);
}

/** Returns true when the account has any do-not-contact entry. */
export async function hasDoNotContact(
  sql: Sql,
  { accountId, live }: { accountId: string; live: boolean },
): Promise<boolean> {
  const [row] = await sql<{ listed: boolean }[]>`
    select exists (
      select from do_not_contact where account_id = ${accountId} and live = ${live}) as listed`;
  return row?.listed ?? false;
}

/** Progress of the lists of excluded people; both numbers only grow. */
export interface Exclusions {
  /** Number of the last suppression in the graph. */
  suppression: number;
  /** Number of changes of the account's do-not-contact list. */
  contactsVersion: number;
}

/** Reads the progress of the lists on the server that `sql` connects to. */
export async function readExclusions(sql: Sql, { accountId, live }: Owner): Promise<Exclusions> {
  const [row] = await sql<Exclusions[]>`
    select (select coalesce(max(number), 0) from suppressions) as suppression,
      coalesce((select version from do_not_contact_versions
        where account_id = ${accountId} and live = ${live}), 0) as contacts_version`;
  return must(row, 'exclusions');
}

/** A person of a page: the id and the stored record (see `core/graph/record.ts`). */
export interface PersonRow {
  id: number;
  record: string;
}

/** A person of a page in an order. */
export type PlacedPerson = PersonRow & Place;

/**
 * Returns the next people of a filter in an order, after a place; the first ones for null. The first page has no
 * condition of a place, because it would keep the planner from adding bitmaps.
 */
export async function selectPage(
  sql: Sql,
  prepared: PreparedFilter,
  { order, after, limit }: { order: PageOrder; after: Place | null; limit: number },
): Promise<PlacedPerson[]> {
  const pages = orderSql(sql, order);
  return ofFilter(sql, prepared)<PlacedPerson[]>`
    select r.id, r.record, found.place::text as key
    from (
      select s.id, ${pages.column} as place from person_search s
      where ${compileSearch(sql, prepared, true)} ${after === null ? sql`` : pages.after(after)}
      order by ${pages.order} limit ${limit}) found
    join person_records r on r.id = found.id
    order by ${pages.orderOfFound}`;
}

/** Returns the place of the last of the next `skipped` people (1 or more); undefined when there are fewer. */
export async function selectPlaceAt(
  sql: Sql,
  prepared: PreparedFilter,
  { order, after, skipped }: { order: PageOrder; after: Place | null; skipped: number },
): Promise<Place | undefined> {
  const pages = orderSql(sql, order);
  const [place] = await ofFilter(sql, prepared)<Place[]>`
    select s.id, ${pages.column}::text as key from person_search s
    where ${compileSearch(sql, prepared)} ${after === null ? sql`` : pages.after(after)}
    order by ${pages.order} offset ${skipped - 1}::bigint limit 1`;
  return place;
}

/** Returns the number of people that match a filter. */
export async function countPeople(sql: Sql, prepared: PreparedFilter): Promise<number> {
  const [row] = await ofFilter(sql, prepared)<{ people: number }[]>`
    select count(*) as people from person_search s where ${compileSearch(sql, prepared)}`;
  return row?.people ?? 0;
}

/** Number of bits of `person_search.present` that represent a field. */
const PRESENCE_BITS = 62;

/** Returns the number of people that match a filter, and how many of them have each bit of `present`. */
export async function countPresence(
  sql: Sql,
  prepared: PreparedFilter,
): Promise<{ total: number; present: number[] }> {
  const counts = Array.from(
    { length: PRESENCE_BITS },
    (_, bit) => sql`count(*) filter (where s.present & ${presenceMask(bit)}::bigint <> 0)`,
  ).reduce((left, right) => sql`${left}, ${right}`);
  const [row] = await ofFilter(sql, prepared)<{ total: number; present: number[] }[]>`
    select count(*) as total, array[${counts}]::bigint[] as present
    from person_search s where ${compileSearch(sql, prepared)}`;
  return row ?? { total: 0, present: [] };
}

/** A group of people who share one value, or title, company size and country. */
export interface GroupRow {
  kind: 'country' | 'industry' | 'size' | 'row';
  title: string | null;
  industry: string | null;
  country: string | null;
  /** Place in `sizesFrom`, from 1; 0 when unknown. */
  size: number;
  people: number;
  /** How many of them have each bit. */
  present: number[];
}

/** Maximum groups of each kind. */
const GROUPS_MAX = 10;

/**
 * Returns the largest groups of each kind among the people of a filter, with at least `peopleMin` people each.
 * `sizesFrom` are the lower ends of the company sizes.
 */
export async function selectGroups(
  sql: Sql,
  prepared: PreparedFilter,
  { sizesFrom, bits, peopleMin }: { sizesFrom: number[]; bits: number[]; peopleMin: number },
): Promise<GroupRow[]> {
  const counts = bits
    .map((bit) => sql`count(*) filter (where present & ${presenceMask(bit)}::bigint <> 0)`)
    .reduce((left, right) => sql`${left}, ${right}`);
  return ofFilter(sql, prepared)<GroupRow[]>`
    with found as (
      select s.position_id, s.industry_id, s.present,
        coalesce(nullif(s.country_id, 0), city.country_id, 0) as country_id,
        coalesce(width_bucket(s.staff_min, ${sizesFrom}::int[]), 0) as size
      from person_search s left join cities city on city.id = s.city_id
      where ${compileSearch(sql, prepared)}),
    grouped as (
      select position_id, industry_id, country_id, size, count(*) as people, array[${counts}]::bigint[] as present,
        case grouping(position_id, industry_id, country_id, size)
          when 13 then 'country' when 11 then 'industry' when 14 then 'size' else 'row' end as kind
      from found
      group by grouping sets ((country_id), (industry_id), (size), (position_id, country_id, size))
      having count(*) >= ${peopleMin}),
    largest as (
      select *, row_number() over (
        partition by kind order by people desc, position_id, industry_id, country_id, size) as place
      from grouped)
    select g.kind, nullif(p.name, '') as title, nullif(i.name, '') as industry, nullif(n.name, '') as country,
      coalesce(g.size, 0) as size, g.people, g.present
    from largest g left join positions p on p.id = g.position_id
      left join industries i on i.id = g.industry_id left join countries n on n.id = g.country_id
    where place <= ${GROUPS_MAX} order by kind, place`;
}

/** Returns how many of the people that match a filter the account owns, so that a search does not charge for them. */
export async function countOwned(sql: Sql, prepared: PreparedFilter): Promise<number> {
  const { accountId } = prepared.owner;
  const [row] = await ofFilter(sql, prepared)<{ people: number }[]>`
    select count(*) as people from person_search s
      join (${ownedPeople(sql, accountId, personSearch.name)}) o on o.person_id = s.id
    where ${compileSearch(sql, prepared)}`;
  return row?.people ?? 0;
}

/** Start of a page of a search: the people after `last` begin at `position`. */
export interface PageHint {
  position: number;
  last: Place;
}

/** Returns the nearest known position before this one. */
export async function findHint(
  sql: Sql,
  { owner, sha256, position }: { owner: Owner; sha256: Buffer; position: number },
): Promise<PageHint | undefined> {
  const [hint] = await sql<{ position: number; lastId: number; lastKey: string | null }[]>`
    select position, last_id, last_key from page_hints
    where account_id = ${owner.accountId} and live = ${owner.live} and filter_sha256 = ${sha256}
      and position <= ${position}::bigint and expires_at > now()
    order by position desc limit 1`;
  return hint && { position: hint.position, last: { id: hint.lastId, key: hint.lastKey } };
}

/**
 * Saves a position for a quarter of an hour; none after a person who opted out since the page was read, whose name it may have.
 */
export async function saveHint(
  sql: Sql,
  { owner, sha256, hint }: { owner: Owner; sha256: Buffer; hint: PageHint },
): Promise<void> {
  await sql`
    insert into page_hints (
      account_id, live, filter_sha256, position, last_id, last_key, expires_at)
    select ${owner.accountId}, ${owner.live}, ${sha256}, ${hint.position}::bigint, ${hint.last.id}::bigint,
      ${hint.last.key}, now() + interval '15 minutes'
    where not (${owner.live} and exists (select from suppressed_persons where person_id = ${hint.last.id}))
    on conflict (account_id, live, filter_sha256, position) do update set
      last_id = excluded.last_id, last_key = excluded.last_key, expires_at = excluded.expires_at`;
}

/** Deletes the positions after these people. */
export async function deleteHintsAt(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`delete from page_hints where live and last_id = any(${[...ids]}::bigint[])`;
}

/** Deletes expired positions. */
export async function deleteOldHints(sql: Sql): Promise<void> {
  await sql`delete from page_hints where expires_at < now()`;
}

/**
 * Returns the stored records of these people, in the order of `ids`, without opted-out people. One whose record an import
 * has joined with another since is that one.
 */
export async function selectRecords(sql: Sql, ids: readonly number[]): Promise<PersonRow[]> {
  return sql<PersonRow[]>`
    select r.id, r.record
    from (
      select coalesce(m.into_id, given.id) as id, min(given.place) as place
      from unnest(${[...ids]}::bigint[]) with ordinality given (id, place)
        left join merged_ids m on m.entity = ${entityCodes.person} and m.id = given.id
      group by 1) kept
    join person_records r using (id)
    where not exists (select from suppressed_persons gone where gone.person_id = r.id)
    order by kept.place`;
}
