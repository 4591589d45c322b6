/**
 * Statements around the generated rows: the words as temporary tables, the reference tables, and dropping indexes
 * while the big tables are filled. All run inside the one transaction of a generation.
 */
import type { Sql } from '../../src/core/db/client.ts';
import { runConstant } from '../../src/core/graph/graph.sql.ts';
import { wordTables } from './vocabulary/word-tables.ts';
import {
  brandBeginnings,
  brandEndings,
  brandMiddles,
  industries,
  privateMailDomains,
  sectors,
  sharedMailboxes,
} from './vocabulary/work.ts';

/** Number of rows that a generation wrote. */
export interface GraphCounts {
  persons: number;
  personIdentifiers: number;
  companies: number;
  companyIdentifiers: number;
  officers: number;
  financialPeriods: number;
}

/** Returns true when all tables that a generation fills are empty. */
export async function isGraphEmpty(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ isEmpty: boolean }[]>`
    select not (
      exists (select from persons) or exists (select from companies)
      or exists (select from countries) or exists (select from regions)
      or exists (select from cities) or exists (select from industries)
      or exists (select from positions) or exists (select from officers)
      or exists (select from financial_periods)
      or exists (select from person_identifiers) or exists (select from company_identifiers)
    ) as is_empty`;
  return row?.isEmpty ?? false;
}

/**
 * Settings for this transaction: memory for sorts and index builds, and plans for many rows. The planner cannot
 * foresee how many rows a hash of an id selects; with nested loops its plans were ten times slower.
 */
export async function prepareForBulk(tx: Sql): Promise<void> {
  await tx`
    select set_config('work_mem', '96MB', true), set_config('maintenance_work_mem', '256MB', true),
      set_config('enable_nestloop', 'off', true), set_config('plan_cache_mode',
        'force_custom_plan', true),
      set_config('statement_timeout', '0', true)`;
}

/**
 * `pg_temp.draw(id, salt, n)` returns 0 to n - 1 and `pg_temp.spread(id, offset, n)` a number that no two ids
 * below n share. Both depend only on their arguments, on every machine and version: same seed, same graph.
 * 2654435761 is a prime, so multiplying by it permutes the numbers below any other n.
 */
export async function createDrawFunctions(tx: Sql): Promise<void> {
  await tx`
    create or replace function pg_temp.draw(id bigint, salt bigint, n bigint) returns bigint
      language sql immutable parallel safe
      as $$ select (hashint8extended(id, salt) & 9223372036854775807) % n $$`;
  await tx`
    create or replace function pg_temp.spread(id bigint, shift bigint, n bigint) returns bigint
      language sql immutable parallel safe
      as $$ select (id * 2654435761 + shift * 7919) % n $$`;
}

/** The vocabulary as temporary tables `words_*`, dropped with the transaction. */
export async function createWordTables(tx: Sql): Promise<void> {
  const words = wordTables();
  await tx`create temp table words_countries on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.countries)}) as r(id int, iso2 text, name text,
      currency text, languages text,
      first_city_id int, cities int, streets int, forms int, fixed_prefixes int,
      fixed_digits int, mobile_prefixes int, mobile_digits int)`;
  await tx`create temp table words_country_slots on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.countrySlots)}) as r(slot int,
      country_id int)`;
  await tx`create temp table words_cities on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.cities)}) as r(id int, country_id int,
      place int,
      region_id int, name text, locality text, geo text)`;
  await tx`create temp table words_culture_slots on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.cultureSlots)}) as r(country_id int, slot int,
      culture int, males int, females int, families int)`;
  await tx`create temp table words_names on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.names)}) as r(culture int, kind text,
      place int,
      native text, latin text)`;
  await tx`create unique index on words_names (culture, kind, place)`;
  await tx`create temp table words_phones on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.phones)}) as r(country_id int, kind text,
      place int, prefix text)`;
  await tx`create temp table words_streets on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.streets)}) as r(country_id int, place int,
      text text)`;
  await tx`create temp table words_postcodes on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.postcodes)}) as r(country_id int, place int,
      text text)`;
  await tx`create temp table words_forms on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.forms)}) as r(country_id int, place int,
      form text, canonical text)`;
  await tx`create temp table words_positions on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.positions)}) as r(id int, profession int,
      level int, title text, years_min int, salary_min int)`;
  await tx`create temp table words_level_slots on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.levelSlots)}) as r(slot int, level int)`;
  await tx`create temp table words_skills on commit drop as
    select * from jsonb_to_recordset(${tx.json(words.skills)}) as r(profession int, place int,
      text text)`;
  await createWordLists(tx);
  await fillReferenceTables(tx, words.regions);
  await tx`analyze words_countries, words_country_slots, words_cities,
    words_culture_slots, words_names, words_phones, words_streets, words_postcodes, words_forms,
    words_positions, words_level_slots, words_skills, words_lists, countries, regions, cities,
    industries, positions`;
}

/** Plain lists of words: (list, place from 0, text). */
async function createWordLists(tx: Sql): Promise<void> {
  const lists: Record<string, readonly string[]> = {
    beginning: brandBeginnings,
    middle: brandMiddles,
    ending: brandEndings,
    sector: sectors,
    mailbox: sharedMailboxes,
    private_mail: privateMailDomains,
  };
  const rows = Object.entries(lists).flatMap(([list, words]) =>
    words.map((text, place) => ({ list, place, text })),
  );
  await tx`create temp table words_lists on commit drop as
    select * from jsonb_to_recordset(${tx.json(rows)}) as r(list text, place int, text text)`;
}

async function fillReferenceTables(
  tx: Sql,
  regions: { id: number; name: string; country_id: number }[],
): Promise<void> {
  await tx`insert into countries (id, name, iso2) select id, name, iso2 from words_countries`;
  await tx`insert into regions (id, name, country_id)
    select * from jsonb_to_recordset(${tx.json(regions)}) as r(id int, name text, country_id int)`;
  await tx`insert into cities (id, name, country_id, region_id)
    select id, name, country_id, region_id from words_cities`;
  await tx`insert into industries (id, name)
    select place, name from unnest(${[...industries]}::text[]) with ordinality as r(name, place)`;
  await tx`insert into positions (id, name) select id, title from words_positions`;
}

/**
 * Drops the indexes of the tables to fill, except the primary keys of `persons` and `companies`, whose ids come in
 * order. Returns the statements that restore them.
 */
export async function dropFilledIndexes(tx: Sql): Promise<string[]> {
  const found = await tx<{ drop: string; restore: string }[]>`
    select
      case when c.oid is null then format('drop index %s', i.indexrelid::regclass)
        else format('alter table %s drop constraint %I', i.indrelid::regclass, c.conname)
      end as drop,
      case when c.oid is null then pg_get_indexdef(i.indexrelid)
        else format('alter table %s add constraint %I %s', i.indrelid::regclass, c.conname,
          pg_get_constraintdef(c.oid))
      end as restore
    from pg_index i
    left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u', 'x')
    where (i.indrelid in ('persons'::regclass, 'companies'::regclass, 'person_search'::regclass)
        and not i.indisprimary)
      or i.indrelid in ('person_identifiers'::regclass, 'company_identifiers'::regclass,
        'person_name_keys'::regclass, 'company_name_keys'::regclass)
    order by i.indrelid::regclass::text collate "C", i.indexrelid::regclass::text collate "C"`;
  for (const { drop } of found) await runConstant(tx, drop);
  return found.map((index) => index.restore);
}

/** Runs one statement that `dropFilledIndexes` returned. */
export async function restoreIndex(tx: Sql, statement: string): Promise<void> {
  await runConstant(tx, statement);
}

/** Updates the planner's statistics of every table that a generation fills, without long texts. */
export async function analyzeGraph(sql: Sql): Promise<void> {
  await Promise.all([
    sql`analyze persons, person_search`,
    sql`analyze person_identifiers, company_identifiers, person_name_keys, company_name_keys, keyed_persons, keyed_companies, person_records (id, company_id), person_briefs (id),
      company_records (id), companies, officers, financial_periods, countries, regions, cities,
      industries, positions, lookup_values, lookup_titles, lookup_words, lookup_vocabulary`,
  ]);
}

/** Counts the generated rows. */
export async function countGraph(sql: Sql): Promise<GraphCounts> {
  const [row] = await sql<GraphCounts[]>`
    select (select count(*) from persons) as persons,
      (select count(*) from person_identifiers) as person_identifiers,
      (select count(*) from companies) as companies,
      (select count(*) from company_identifiers) as company_identifiers,
      (select count(*) from officers) as officers,
      (select count(*) from financial_periods) as financial_periods`;
  return row as GraphCounts;
}
