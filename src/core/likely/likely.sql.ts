/** The look-ups of likely matches: each is one statement for any number of rows. */
import type { Sql } from '../db/client.ts';
import { aliasOfOneSql, companyNamesSql } from '../graph/company-names.ts';
import { lookupCodes, lookupIdsFrom } from '../graph/lookup-ids.ts';
import { must } from '../lib/assert.ts';

/** Records that one key may name: a key of more is too common to find a record by. */
export const KEY_RECORDS_MAX = 64;

/** Numbers of the graph by which names are weighed: see `name_statistics`. */
export interface NameStatistics {
  version: string;
  people: number;
  companies: number;
}

/** Returns the version of the graph's frequencies, with the numbers of records. */
export async function readNameStatistics(sql: Sql): Promise<NameStatistics> {
  const [row] = await sql<NameStatistics[]>`
    select version::text, people, companies from name_statistics`;
  return must(row, 'one row');
}

/** Returns all frequencies as lines `<key> <records>`, and the country of each id as lines `<id>=<code or name>`. */
export async function readNameCounts(sql: Sql): Promise<{ counts: string; countries: string }> {
  const [row] = await sql<{ counts: string | null; countries: string | null }[]>`
    select (select string_agg(key || ' ' || records, E'\n') from name_counts) as counts,
      (select string_agg(id || '=' || coalesce(iso2, name), E'\n') from countries) as countries`;
  const { counts, countries } = must(row, 'one row');
  return { counts: counts ?? '', countries: countries ?? '' };
}

/** Returns how many people or companies have the word of each key; a key of few is missing. */
export async function selectNameCounts(
  sql: Sql,
  keys: readonly number[],
): Promise<{ key: number; records: number }[]> {
  return sql<{ key: number; records: number }[]>`
    select key, records from name_counts where key = any(${[...keys]}::bigint[])`;
}

/**
 * Finds the people with these keys, one key a line. Returns lines `<line> <id>,<id>...`; at most one more than
 * `KEY_RECORDS_MAX` ids for a key, and none for a key without people.
 */
export async function findPeopleByKeys(sql: Sql, keys: readonly number[]): Promise<string> {
  const [row] = await sql<{ found: string | null }[]>`
    select string_agg(k.line || ' ' || i.ids, E'\n') as found
    from string_to_table(${keys.join('\n')}, E'\n') with ordinality k (key, line)
    cross join lateral (
      select string_agg(person_id::text, ',') as ids from (
        select person_id from person_name_keys where key = k.key::bigint
        limit ${KEY_RECORDS_MAX + 1}) one) i
    where i.ids is not null`;
  return must(row, 'one row').found ?? '';
}

/** As `findPeopleByKeys`, for companies. */
export async function findCompaniesByKeys(sql: Sql, keys: readonly number[]): Promise<string> {
  const [row] = await sql<{ found: string | null }[]>`
    select string_agg(k.line || ' ' || i.ids, E'\n') as found
    from string_to_table(${keys.join('\n')}, E'\n') with ordinality k (key, line)
    cross join lateral (
      select string_agg(company_id::text, ',') as ids from (
        select company_id from company_name_keys where key = k.key::bigint
        limit ${KEY_RECORDS_MAX + 1}) one) i
    where i.ids is not null`;
  return must(row, 'one row').found ?? '';
}

/**
 * Reads what people are compared by, without those who opted out. Two record separators between people, one between
 * groups of cells: id; name, surname, position; present company's id, another present one's, a past one's and its name;
 * locality, city, country id, domain. Ascending ids are read with half the work, and names of employers and offices by
 * statements of their own with less than by joins.
 */
export async function readPersonCards(sql: Sql, ids: readonly number[]): Promise<string> {
  const [row] = await sql<{ cards: string | null }[]>`
    select string_agg(p.id || E'\x1e' || p.name || E'\x1f' || p.surname || E'\x1f' || p.position || E'\x1e'
      || p.company_id || E'\x1f' || coalesce(p.current_company_id, 0) || E'\x1f' || coalesce(p.past_company_id, 0)
      || E'\x1f' || p.past_company || E'\x1e' || p.locality || E'\x1f' || coalesce(city.name, '') || E'\x1f'
      || p.country_id || E'\x1f' || coalesce(p.domain, ''), E'\x1e\x1e') as cards
    from string_to_table(${ids.join('\n')}, E'\n') k (id)
    join persons p on p.id = k.id::bigint
    left join cities city on city.id = p.city_id
    where not exists (select from suppressed_persons s where s.person_id = p.id)`;
  return must(row, 'one row').cards ?? '';
}

/** Returns the companies of which people are officers, as lines `<person> <company>`. */
export async function readOffices(sql: Sql, people: readonly number[]): Promise<string> {
  const [row] = await sql<{ offices: string | null }[]>`
    select string_agg(person_id || ' ' || company_id, E'\n' order by id) as offices
    from officers where person_id = any(${[...people]}::bigint[])`;
  return must(row, 'one row').offices ?? '';
}

/** Returns the names of these companies: id and name by a unit separator, a record separator between companies. */
export async function readCompanyNames(sql: Sql, ids: readonly number[]): Promise<string> {
  const [row] = await sql<{ names: string | null }[]>`
    select string_agg(id || E'\x1f' || name, E'\x1e') as names
    from companies where id = any(${[...ids]}::bigint[])`;
  return must(row, 'one row').names ?? '';
}

/**
 * Reads what companies are compared by. One record each, cells between unit separators: id, locality, city, country id,
 * domain, country of the register, then all names.
 */
export async function readCompanyCards(sql: Sql, ids: readonly number[]): Promise<string> {
  const [row] = await sql.unsafe<{ cards: string | null }[]>(
    `select string_agg(concat_ws(E'\\x1f', r.id, coalesce(r.locality, ''), coalesce(city.name, ''),
       coalesce(r.country_id, 0), coalesce(r.domain, ''), coalesce(r.registry_country, ''),
       ${companyNamesSql}), E'\\x1e') as cards
     from string_to_table($1, E'\\n') k (id)
     join companies r on r.id = k.id::bigint
     left join cities city on city.id = r.city_id
     ${aliasOfOneSql}`,
    [ids.join('\n')],
  );
  return must(row, 'one row').cards ?? '';
}

/** Values of a person that describe a group; null where fewer than the asked number of people have the value. */
export interface PersonTraits {
  id: number;
  title: string | null;
  industry: string | null;
  country: string | null;
}

/** Returns the values of these people that at least `peopleMin` people have. */
export async function selectPersonTraits(
  sql: Sql,
  ids: readonly number[],
  peopleMin: number,
): Promise<PersonTraits[]> {
  return sql<PersonTraits[]>`
    select p.id,
      case when ${peopleMin} = (select count(*) from (
        select from person_search o where o.position_name = s.position_name limit ${peopleMin}) alike)
        then coalesce(nullif(p.position, ''), job.name) end as title,
      case when industry.people >= ${peopleMin} then industry.name end as industry,
      case when country.people >= ${peopleMin} then country.name end as country
    from persons p join person_search s on s.id = p.id
      left join positions job on job.id = p.position_id
      left join cities city on city.id = p.city_id
      left join lookup_values industry on industry.kind = ${lookupCodes.industries} and industry.id = p.industry_id
      left join lookup_values country on country.kind = ${lookupCodes.locations}
        and country.id = coalesce(nullif(p.country_id, 0), city.country_id) + ${lookupIdsFrom.country}::bigint
    where p.id = any(${[...ids]}::bigint[])`;
}

/** Values that tell companies of one name apart. */
export interface CompanyTraits {
  id: number;
  name: string | null;
  city: string | null;
  country: string | null;
  industry: string | null;
}

/** Returns the values that tell these companies apart. */
export async function selectCompanyTraits(
  sql: Sql,
  ids: readonly number[],
): Promise<CompanyTraits[]> {
  return sql<CompanyTraits[]>`
    select c.id, nullif(c.name, '') as name, nullif(coalesce(nullif(city.name, ''), split_part(c.locality, ',', 1)), '') as city,
      country.name as country, industry.name as industry
    from companies c left join cities city on city.id = c.city_id
      left join countries country on country.id = c.country_id
      left join industries industry on industry.id = c.industry_id
    where c.id = any(${[...ids]}::bigint[])`;
}
