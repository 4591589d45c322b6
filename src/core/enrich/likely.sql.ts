/** The look-ups of likely matches: each is one statement for any number of rows, with one text as input and output. */
import type { Sql } from '../db/client.ts';
import { aliasOfOneSql, companyNamesSql } from '../graph/company-names.ts';
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
 * Reads what people are compared by, without those who opted out. One record each, cells between unit separators: id,
 * name, surname, position, present company's id and name, another present one, a past one and its name, locality,
 * city, country id, domain.
 */
export async function readPersonCards(sql: Sql, ids: readonly number[]): Promise<string> {
  const [row] = await sql<{ cards: string | null }[]>`
    select string_agg(concat_ws(E'\x1f', p.id, p.name, p.surname, p.position, p.company_id,
      coalesce(employer.name, ''), coalesce(p.current_company_id, 0), coalesce(p.past_company_id, 0), p.past_company,
      p.locality, coalesce(city.name, ''), p.country_id, coalesce(p.domain, '')), E'\x1e') as cards
    from string_to_table(${ids.join('\n')}, E'\n') k (id)
    join persons p on p.id = k.id::bigint
    left join companies employer on employer.id = p.company_id
    left join cities city on city.id = p.city_id
    where not exists (select from suppressed_persons s where s.person_id = p.id)`;
  return must(row, 'one row').cards ?? '';
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
