/** Statements that build people, companies and their facts from the records of sources. */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { recordFormerIdentifiers } from '../former-identifiers.sql.ts';
import { deletePersonRows, runConstant } from '../graph.sql.ts';
import { companyIdentifierCodes } from '../identifier-kinds.ts';
import { storedName } from '../import/company-facts.sql.ts';
import { deleteCompanyKeys } from '../name-keys.sql.ts';
import { entityCodes } from '../source-entities.ts';
import { LEI_SOURCE } from './partition.ts';

/** Returns the first queued ids after this one, in their order. */
export async function listQueued(
  sql: Sql,
  entity: number,
  { after, limit }: { after: number; limit: number },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from records_to_build where entity = ${entity} and id > ${after} order by id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** Returns true while a company is queued. */
export async function isCompanyQueued(sql: Sql): Promise<boolean> {
  return (await listQueued(sql, entityCodes.company, { after: 0, limit: 1 })).length > 0;
}

/** Ids that were queued. */
export interface Taken {
  /** In their order. */
  ids: number[];
  /**
   * People among them, not hidden yet, to whom records came that were a part of a person who opted out, also by way of one who is
   * queued too.
   */
  hidden: number[];
}

/** Takes all ids from the first to the last of these out of the queue. */
export async function takeQueued(tx: Sql, entity: number, ids: readonly number[]): Promise<Taken> {
  // A range, not a join: nothing is known about the size of the queue, and a nested loop over it takes hours.
  const rows = await tx<{ id: number; isHidden: boolean }[]>`
    delete from records_to_build q
    where entity = ${entity} and id between ${ids[0] ?? 0} and ${ids.at(-1) ?? 0}
    returning id, num_nonnulls(origins, parted_from) > 0 and entity = ${entityCodes.person}
      and exists (
        with recursive origin (id) as (
          select unnest(q.origins || q.parted_from)
          union select unnest(o.origins || o.parted_from)
          from origin join records_to_build o on o.entity = q.entity and o.id = origin.id)
        select from origin join suppressed_persons s on s.person_id = origin.id)
      and not exists (select from suppressed_persons s where s.person_id = q.id) as is_hidden`;
  const sorted = rows.sort((a, b) => a.id - b.id);
  const hidden = sorted.filter(({ isHidden }) => isHidden);
  return { ids: sorted.map(({ id }) => id), hidden: hidden.map(({ id }) => id) };
}

/** Ends the merges of those of these people or companies that have records again, which are built in this transaction. */
export async function endMerges(tx: Sql, entity: number, ids: readonly number[]): Promise<void> {
  await tx`
    delete from merged_ids m where entity = ${entity} and id = any(${[...ids]}::bigint[]) and exists (
      select from source_records r where r.id = m.id and r.entity = ${entity} and r.record is not null)`;
}

/** Returns the number of queued people and companies. */
export async function countQueued(sql: Sql): Promise<number> {
  const [row] = await sql<
    { queued: number }[]
  >`select count(*)::int as queued from records_to_build`;
  return row?.queued ?? 0;
}

export interface LiveRecord {
  id: number;
  number: number;
  source: string;
  key: string;
  asOf: string;
  importId: number;
  record: string;
  /** Changes with each change of the row. */
  version: string;
}

/** Returns the records of which these people or companies are made, by id and number. */
export async function readLiveRecords(
  sql: Sql,
  entity: number,
  ids: readonly number[],
): Promise<LiveRecord[]> {
  return sql<LiveRecord[]>`
    select r.id, r.number, r.source, r.key, r.as_of::text as as_of, r.import_id, r.record, r.xmin::text as version
    from unnest(${[...ids]}::bigint[]) given (id)
    join source_records r on r.id = given.id and r.entity = ${entity}
    where r.record is not null
    order by r.id, r.number`;
}

/** Returns the versions of these records, as `readVersions` does. */
export function versionsOf(live: readonly LiveRecord[]): string {
  const counts = new Map<string, number>();
  for (const { version } of live) counts.set(version, (counts.get(version) ?? 0) + 1);
  return [...counts]
    .map(([version, count]) => `${version} ${count}`)
    .sort()
    .join();
}

/**
 * Returns how many of the present records of these people or companies have which version, `<version> <count>,...`. It
 * changes with them: a record that changes, joins others or returns gets a version that none had.
 */
export async function readVersions(
  tx: Sql,
  entity: number,
  ids: readonly number[],
): Promise<string> {
  const [row] = await tx<{ versions: string }[]>`
    select coalesce(string_agg(version, ',' order by version collate "C"), '') as versions from (
      select concat_ws(' ', r.xmin, count(*)) as version
      from unnest(${[...ids]}::bigint[]) given (id)
      join source_records r on r.id = given.id and r.entity = ${entity}
      where r.record is not null
      group by r.xmin) counted`;
  return must(row, 'one row').versions;
}

/** A company that a record refers to. */
export interface LinkedCompany {
  id: number;
  /** Its industry as a record has it. */
  industry: { id: number; name: string } | null;
}

/**
 * Returns the one company that each of these references leads to; a value that several have leads to none. Legal entities of
 * GLEIF count when no other source has a company with it: the funds of an umbrella have its number.
 */
export async function resolveCompanyReferences(
  tx: Sql,
  references: readonly string[],
): Promise<Map<string, LinkedCompany>> {
  const rows = await tx<
    { value: string; id: number; industryId: number | null; industry: string }[]
  >`
    select found.*, i.id as industry_id, i.name as industry from (
    select given.value, coalesce(min(c.id) filter (where not c.is_entity), min(c.id)) as id
    from unnest(${[...references]}::text[]) given (value)
    cross join lateral (
      select r.id, r.source = ${LEI_SOURCE} as is_entity from source_keys k join source_records r using (number)
      where k.value = given.value and not k.is_reference and r.entity = ${entityCodes.company} and r.record is not null
      union
      select i.company_id, false from company_identifiers i
      where starts_with(given.value, 'domain:') and i.value = substr(given.value, 8)
        and i.kind = ${companyIdentifierCodes.domain}
      union
      select i.company_id, (
        select coalesce(bool_and(r.source = ${LEI_SOURCE}), false)
        from source_records r join source_keys k using (number)
        where r.id = i.company_id and r.entity = ${entityCodes.company} and r.record is not null
          and k.value = given.value and not k.is_reference)
      from company_identifiers i
      where starts_with(given.value, 'registry:') and i.value = substr(given.value, 10)
        and i.kind = ${companyIdentifierCodes.registry_number}) c
    group by given.value
    having count(distinct c.id) = 1 or count(distinct c.id) filter (where not c.is_entity) = 1) found
    left join companies o on o.id = found.id
    left join industries i on i.id = o.industry_id`;
  return new Map(
    rows.map(({ value, id, industryId, industry: name }) => {
      return [value, { id, industry: industryId === null ? null : { id: industryId, name } }];
    }),
  );
}

/** Deletes those of these people that no record has any more. An id that only a file of one's own has stays. */
export async function deleteEndedPersons(tx: Sql, ids: readonly number[]): Promise<number> {
  const rows = await tx<{ id: number }[]>`
    select given.id from unnest(${[...ids]}::bigint[]) given (id)
    join persons p on p.id = given.id
    where not exists (
      select from source_records r where r.id = given.id and r.entity = ${entityCodes.person} and r.record is not null)`;
  const ended = rows.map(({ id }) => id);
  await recordFormerIdentifiers(tx, ended);
  return deletePersonRows(tx, ended);
}

/**
 * Deletes those of these companies, of which nothing was built, that a record of a source had, with the facts that sources have
 * of them; the records of their people, which have its name, are to be rendered again. Returns how many. A company that only a
 * file of one's own has stays.
 */
export async function deleteEndedCompanies(tx: Sql, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  await tx`create temp table ended_companies (id bigint primary key) on commit drop`;
  const ended = await tx<{ id: number }[]>`
    insert into ended_companies
    select given.id from unnest(${[...ids]}::bigint[]) given (id)
    join companies c on c.id = given.id
    where (exists (select from source_records r where r.id = given.id and r.entity = ${entityCodes.company})
        or exists (select from merged_ids m where m.id = given.id and m.entity = ${entityCodes.company}))
    returning id`;
  if (ended.length === 0) return 0;
  await tx`delete from company_identifiers i using ended_companies e where i.company_id = e.id`;
  await deleteCompanyKeys(
    tx,
    ended.map(({ id }) => id),
  );
  await moveOwnFacts(tx);
  // What a file of one's own says of a company that has left belongs to the company that returns under this id.
  const isTaken = (fact: ReturnType<Sql>): ReturnType<Sql> => tx`(${fact} or exists (
    select from merged_ids m where m.id = e.id and m.entity = ${entityCodes.company}))`;
  await tx`
    delete from officers o using ended_companies e where o.company_id = e.id and ${isTaken(tx`o.is_sourced`)}`;
  await tx`
    delete from financial_periods f using ended_companies e where f.company_id = e.id and ${isTaken(tx`f.is_sourced`)}`;
  await tx`delete from company_records r using ended_companies e where r.id = e.id`;
  await tx`delete from companies c using ended_companies e where c.id = e.id`;
  await tx`
    insert into stage_persons_to_render
    select p.id from persons p join ended_companies e on e.id = p.company_id where p.company_id <> 0`;
  return ended.length;
}

/** Gives what files of one's own say of ended companies to those that they became a part of. */
async function moveOwnFacts(tx: Sql): Promise<void> {
  const ended = tx`ended_companies e
    join merged_ids m on m.id = e.id and m.entity = ${entityCodes.company} join companies c on c.id = m.into_id`;
  await tx`
    insert into officers (company_id, name, role, appointed_on, resigned_on, birth_year, birth_month, person_id)
    select c.id, o.name, o.role, o.appointed_on, o.resigned_on, o.birth_year, o.birth_month, o.person_id
    from ${ended} join officers o on o.company_id = e.id and not o.is_sourced
    on conflict do nothing`;
  await tx`
    insert into financial_periods (company_id, period_end, currency, revenue, gross_profit, operating_profit,
      profit, total_assets, net_assets, cash, employees)
    select c.id, f.period_end, f.currency, f.revenue, f.gross_profit, f.operating_profit, f.profit, f.total_assets,
      f.net_assets, f.cash, f.employees
    from ${ended} join financial_periods f on f.company_id = e.id and not f.is_sourced
    on conflict do nothing`;
}

/** Makes the sourced officers and financial periods of these companies those of the records. */
export async function buildFacts(tx: Sql, companyIds: readonly number[]): Promise<void> {
  await buildOfficers(tx, companyIds);
  await buildPeriods(tx, companyIds);
}

/**
 * Replaces the sourced officers; those that were imported with a company's id or number stay as they are, and are also those of
 * the person that a source names. A person who opted out keeps the name that is stored instead.
 */
async function buildOfficers(tx: Sql, companyIds: readonly number[]): Promise<void> {
  await runConstant(
    tx,
    `create temp table built_officers on commit drop as
    select distinct on (company_id, stored_name, role, appointed_on) *
    from (select given.*, ${storedName('$1::bigint[]')} as stored_name from (
      select r.id as company_id, j ->> 'name' as name, coalesce(j ->> 'role', '') as role,
        (j ->> 'appointedOn')::date as appointed_on, (j ->> 'resignedOn')::date as resigned_on,
        (j ->> 'birthYear')::int as birth_year, (j ->> 'birthMonth')::int as birth_month,
        person.id as person_id, r.source, r.key
      from source_records r
      cross join lateral (select r.record::json as j) parsed
      left join source_records person on person.source = r.source and person.key = j ->> '_person'
        and person.entity = ${entityCodes.person} and person.record is not null
      where r.entity = ${entityCodes.officer} and r.record is not null and r.id = any($1::bigint[])) given
      where exists (select from companies c where c.id = given.company_id)) o
    order by company_id, stored_name, role, appointed_on, source, key`,
    [companyIds],
  );
  await tx`
    delete from officers o
    where o.company_id = any(${[...companyIds]}::bigint[]) and o.is_sourced
      and not exists (
        select from built_officers b
        where b.company_id = o.company_id and b.role = o.role
          and b.appointed_on is not distinct from o.appointed_on and b.stored_name = o.name)`;
  await tx`
    insert into officers as o
      (company_id, name, role, appointed_on, resigned_on, birth_year, birth_month, person_id, is_sourced)
    select company_id, name, role, appointed_on, resigned_on, birth_year, birth_month, person_id, true
    from built_officers b
    where not exists (
      select from officers known
      where known.company_id = b.company_id and known.name = b.name and known.role = b.role
        and known.appointed_on is not distinct from b.appointed_on
        and (known.resigned_on, known.birth_year, known.birth_month, known.person_id)
          is not distinct from (b.resigned_on, b.birth_year, b.birth_month, b.person_id))
    on conflict (company_id, name, role, appointed_on) do update
      set resigned_on = case when o.is_sourced then excluded.resigned_on else o.resigned_on end,
        birth_year = case when o.is_sourced then excluded.birth_year else o.birth_year end,
        birth_month = case when o.is_sourced then excluded.birth_month else o.birth_month end,
        person_id = coalesce(excluded.person_id, o.person_id)`;
  await tx`drop table built_officers`;
  // Officers of a file of one's own whose company was joined with one in which they are hidden.
  await tx`
    with shown as (
      delete from officers o
      where o.company_id in (select companies_hiding_officers(${[...companyIds]}::bigint[]))
        and o.name not like 'suppressed:%' and officer_hidden_by(o.company_id, o.name) is not null
      returning *)
    insert into officers (company_id, name, role, appointed_on, resigned_on, person_id, is_sourced)
    select company_id, name, role, appointed_on, resigned_on, person_id, is_sourced from shown
    on conflict do nothing`;
}

async function buildPeriods(tx: Sql, companyIds: readonly number[]): Promise<void> {
  await tx`
    create temp table built_periods on commit drop as
    select distinct on (r.id, (j ->> 'periodEnd')::date) r.id as company_id,
      (j ->> 'periodEnd')::date as period_end, coalesce(j ->> 'currency', '') as currency,
      (j ->> 'revenue')::bigint as revenue, (j ->> 'grossProfit')::bigint as gross_profit,
      (j ->> 'operatingProfit')::bigint as operating_profit, (j ->> 'profit')::bigint as profit,
      (j ->> 'totalAssets')::bigint as total_assets, (j ->> 'netAssets')::bigint as net_assets,
      (j ->> 'cash')::bigint as cash, (j ->> 'employees')::int as employees
    from source_records r cross join lateral (select r.record::json as j) parsed
    where r.entity = ${entityCodes.financial} and r.record is not null and r.id = any(${[...companyIds]}::bigint[])
      and exists (select from companies c where c.id = r.id)
    order by r.id, (j ->> 'periodEnd')::date, r.as_of desc, r.source, r.key`;
  await tx`
    delete from financial_periods f
    where f.company_id = any(${[...companyIds]}::bigint[]) and f.is_sourced and not exists (
      select from built_periods b where b.company_id = f.company_id and b.period_end = f.period_end)`;
  await tx`
    insert into financial_periods as f (company_id, period_end, currency, revenue, gross_profit,
      operating_profit, profit, total_assets, net_assets, cash, employees, is_sourced)
    select b.*, true from built_periods b
    on conflict (company_id, period_end) do update
      set currency = excluded.currency, revenue = excluded.revenue, gross_profit = excluded.gross_profit,
        operating_profit = excluded.operating_profit, profit = excluded.profit,
        total_assets = excluded.total_assets, net_assets = excluded.net_assets, cash = excluded.cash,
        employees = excluded.employees
      where f.is_sourced and (f.currency, f.revenue, f.gross_profit, f.operating_profit, f.profit, f.total_assets,
          f.net_assets, f.cash, f.employees)
        is distinct from (excluded.currency, excluded.revenue, excluded.gross_profit, excluded.operating_profit,
          excluded.profit, excluded.total_assets, excluded.net_assets, excluded.cash, excluded.employees)`;
  await tx`drop table built_periods`;
}
