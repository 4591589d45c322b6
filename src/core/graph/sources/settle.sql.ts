/** Statements that find which records are the same, and queue the people and companies to build. */
import type { Sql } from '../../db/client.ts';
import { must } from '../../lib/assert.ts';
import { companyIdentifierCodes, personIdentifierCodes } from '../identifier-kinds.ts';
import { entityCodes, factCodes, identifiedCodes } from '../source-entities.ts';
import { FIRST_ID } from './identify.sql.ts';
import { LEI_SOURCE } from './partition.ts';

/** A value that more records have is a common one, such as the page of a platform: it joins none of them. */
const HOLDERS_MAX = 50;

/** The kinds of `company_identifiers` and `person_identifiers` that are sure, with their names in `source_keys`. */
const sureCompanyKinds = [
  [companyIdentifierCodes.registry_number, 'registry:'],
  [companyIdentifierCodes.domain, 'domain:'],
  [companyIdentifierCodes.professional_network, 'profile:'],
] as const;
const surePersonKinds = [
  [personIdentifierCodes.professional_network, 'profile:'],
  [personIdentifierCodes.email, 'email:'],
  [personIdentifierCodes.work_email, 'email:'],
] as const;

const entities = {
  company: {
    code: entityCodes.company,
    kinds: sureCompanyKinds,
    identifiers: 'company_identifiers',
    id: 'company_id',
    records: 'company_records',
  },
  person: {
    code: entityCodes.person,
    kinds: surePersonKinds,
    identifiers: 'person_identifiers',
    id: 'person_id',
    records: 'person_records',
  },
} as const;

export interface StoredRow {
  id: number;
  record: string;
}

/**
 * Returns the stored records with ids of one's own that share a sure value with a touched record, or to which a touched person
 * refers, and are not among the records of sources yet. One that is to be built has none only because they have moved.
 */
export async function listToAdopt(tx: Sql, of: 'company' | 'person'): Promise<StoredRow[]> {
  const { code, kinds, identifiers, id, records } = entities[of];
  const codes = kinds.map(([kind]) => kind);
  const names = kinds.map(([, name]) => name);
  // A person refers to a company, which may have another value later.
  const shared = tx`
    select distinct k.value from touched t join source_keys k on k.number = t.number
    where t.entity = ${code} and not k.is_reference
      or ${of === 'company'} and t.entity = ${entityCodes.person} and k.is_reference`;
  const kindNames = tx`unnest(${codes}::smallint[], ${names}::text[]) n (kind, name)`;
  return tx<StoredRow[]>`
    with shared as materialized (${shared}),
    held as materialized (
      select i.${tx(id)} as id from shared s join ${kindNames} on starts_with(s.value, n.name)
      join ${tx(identifiers)} i on i.value = substr(s.value, length(n.name) + 1) and i.kind = n.kind)
    select r.id, r.record from ${tx(records)} r where exists (select from ${tx(identifiers)}) and r.id in (
      select h.id from held h
      where not exists (select from source_records o where o.id = h.id and o.entity = ${code})
        -- Left without records by a join, and not deleted yet.
        and not exists (select from records_to_build q where q.id = h.id and q.entity = ${code}))`;
}

/**
 * Returns those of these records with ids of one's own, just imported, that a source is a part of or that share a
 * sure value with a record of a source; of companies also those to which one refers, such as a contact by its domain.
 */
export async function listToFollow(
  tx: Sql,
  of: 'company' | 'person',
  ids: readonly number[],
): Promise<StoredRow[]> {
  const { code, kinds } = entities[of];
  const codes = kinds.map(([kind]) => kind);
  const names = kinds.map(([, name]) => name);
  const kindNames = tx`unnest(${codes}::smallint[], ${names}::text[]) n (kind, name)`;
  const isPart = tx`exists (select from source_records o where o.id = r.id and o.entity = ${code})`;
  const given = tx`any(${[...ids]}::bigint[])`;
  if (of === 'company') {
    return tx<StoredRow[]>`
      select r.id, r.record from company_records r where r.id = ${given} and (${isPart} or exists (
        select from company_identifiers i join ${kindNames} on n.kind = i.kind
        join source_keys k on k.value = n.name || i.value
        where i.company_id = r.id))`;
  }
  return tx<StoredRow[]>`
    select r.id, r.record from person_records r where r.id = ${given} and (${isPart} or exists (
      select from person_identifiers i join ${kindNames} on n.kind = i.kind
      join source_keys k on k.value = n.name || i.value and not k.is_reference
      where i.person_id = r.id))`;
}

/** Returns true when any source was imported. */
export async function hasSources(sql: Sql): Promise<boolean> {
  const [row] = await sql<
    { found: boolean }[]
  >`select exists (select from source_records) as found`;
  return row?.found ?? false;
}

/** An empty list of touched records, for changes that no file made. */
export async function createTouched(tx: Sql): Promise<void> {
  await tx`
    create temp table if not exists touched (number bigint, entity smallint, id bigint) on commit drop`;
  await tx`
    create temp table if not exists values_before (value text collate "C", is_reference boolean) on commit drop`;
}

/**
 * Lists in `contested` the touched records that share a value or an id with another one, and the holders of values
 * that touched records had before.
 */
export async function listContested(tx: Sql): Promise<void> {
  await tx`analyze source_keys`;
  await tx`
    create temp table contested on commit drop as
    select distinct r.number, r.entity from (
      select t.number from touched t
      where t.entity in ${tx(identifiedCodes)} and exists (
        select from source_keys k join source_keys o
          on o.value = k.value and not o.is_reference and o.number <> k.number
        where k.number = t.number and not k.is_reference)
      union
      select t.number from touched t
      where t.entity in ${tx(identifiedCodes)} and exists (
        select from source_records o where o.id = t.id and o.entity = t.entity and o.number <> t.number)
      union
      select k.number from values_before v join source_keys k on k.value = v.value and not k.is_reference
      where not v.is_reference) found
    join source_records r using (number)
    where r.entity in ${tx(identifiedCodes)}`;
}

/** Returns some contested records, which are then no longer listed. */
export async function takeContested(
  tx: Sql,
  limit: number,
): Promise<{ number: number; entity: number }[]> {
  return tx<{ number: number; entity: number }[]>`
    delete from contested where ctid in (select ctid from contested order by number limit ${limit})
    returning number, entity`;
}

/** Lists these records no longer: they are decided. */
export async function leaveContested(tx: Sql, numbers: readonly number[]): Promise<void> {
  await tx`delete from contested where number = any(${[...numbers]}::bigint[])`;
}

export interface MemberRow {
  number: number;
  source: string;
  id: number;
  record: string | null;
  keys: string[];
  apart: number;
}

/** Returns these records with all that are connected with them by a value or an id. */
export async function readConnected(
  tx: Sql,
  entity: number,
  numbers: readonly number[],
): Promise<MemberRow[]> {
  return tx<MemberRow[]>`
    with recursive connected (number) as (
      select unnest(${[...numbers]}::bigint[])
      union
      select other.number from connected c
      cross join lateral (
        select o.number
        from source_keys k
        cross join lateral (
          select h.number from source_keys h where h.value = k.value and not h.is_reference
          limit ${HOLDERS_MAX + 1}) o
        where k.number = c.number and not k.is_reference
        union all
        select o.number from source_records r join source_records o on o.id = r.id and o.entity = r.entity
        where r.number = c.number) other)
    select r.number, r.source, r.id, r.record, r.apart,
      coalesce(array(select k.value from source_keys k where k.number = r.number and not k.is_reference
        order by k.value), '{}') as keys
    from connected join source_records r using (number)
    where r.entity = ${entity}
    order by r.number`;
}

/** Returns those of these values that too many records have. */
export async function listCommonValues(tx: Sql, values: readonly string[]): Promise<string[]> {
  const rows = await tx<{ value: string }[]>`
    select value from unnest(${[...values]}::text[]) given (value)
    where (select count(*) from (
      select from source_keys k where k.value = given.value and not k.is_reference
      limit ${HOLDERS_MAX + 1}) held) > ${HOLDERS_MAX}`;
  return rows.map((row) => row.value);
}

/** Returns those first ids of these records that others, which live, have now. */
export async function listFirstIdsOfOthers(
  tx: Sql,
  entity: number,
  records: readonly { number: number }[],
): Promise<number[]> {
  const numbers = records.map(({ number }) => number);
  const rows = await tx<{ id: number }[]>`
    select distinct o.id from unnest(${numbers}::bigint[]) given (number)
    join source_records o on o.id = ${FIRST_ID}::bigint + given.number and o.entity = ${entity}
    where o.record is not null
      and not exists (select from unnest(${numbers}::bigint[]) own (number) where own.number = o.number)`;
  return rows.map(({ id }) => id);
}

/** Takes a number that no record has or will have. */
export async function takeNumber(tx: Sql): Promise<number> {
  const [row] = await tx<{ number: number }[]>`
    select nextval('source_records_number_seq') as number`;
  return must(row, 'number').number;
}

/** Records that change their id. */
export interface Move {
  number: number;
  from: number;
  to: number;
}

/**
 * Gives records their new ids, and records which ids were merged into others: those of stored people and companies that no record
 * has any more. They follow the records that had them first. One that has records again counts as merged until it is built, as
 * the other one has its values until then. Both ids are queued to be built, the new one with the ids that it parts from, but for
 * `innocent` records: neither are these of a person who opted out with the others, nor is the id that was merged.
 */
export async function moveRecords(
  tx: Sql,
  {
    entity,
    importId,
    innocent,
    moves,
  }: { entity: number; importId: number; innocent: readonly number[]; moves: readonly Move[] },
): Promise<void> {
  const rows = tx`
    unnest(${moves.map((move) => move.number)}::bigint[], ${moves.map((move) => move.from)}::bigint[],
      ${moves.map((move) => move.to)}::bigint[]) m (number, before, after)`;
  const isInnocent = tx`(m.number = any(${[...innocent]}::bigint[]))`;
  await tx`update source_records r set id = m.after from ${rows} where r.number = m.number`;
  // Records that refer to a moved one are built again, like those that refer to a changed one, and so are those that refer to
  // what it leaves.
  await tx`
    insert into touched select m.number, ${entity}::smallint, m.after from ${rows}
    union all select m.number, ${entity}::smallint, m.before from ${rows}`;
  await tx`
    insert into records_to_build as q (entity, id, origins)
    select ${entity}::smallint, id, array_agg(distinct origin) filter (where origin is not null)
    from (
      select m.before, null::bigint from ${rows}
      union all select m.after, case when not ${isInnocent} then m.before end from ${rows}) moved (id, origin)
    group by id
    on conflict (entity, id) do update set origins = (
      select array_agg(distinct origin) from unnest(q.origins || excluded.origins) o (origin))`;
  await tx`
    delete from merged_ids i using (select distinct after from ${rows}) m
    where i.entity = ${entity} and i.id = m.after and not exists (
      select from source_records r where r.id = i.into_id and r.entity = ${entity} and r.record is not null)`;
  await tx`
    insert into merged_ids as i (entity, id, into_id, import_id)
    select ${entity}::smallint, m.before, min(m.after), ${importId} from ${rows}
    where m.before <> m.after
      and not exists (select from source_records r where r.id = m.before and r.entity = ${entity} and r.record is not null)
      and (exists (select from merged_ids k where k.entity = ${entity} and k.id = m.before)
        or case when ${entity}::int = 1 then exists (select from companies c where c.id = m.before)
          else exists (select from persons p where p.id = m.before) end)
    group by m.before
    on conflict (entity, id) do update set into_id = excluded.into_id, import_id = excluded.import_id`;
  await tx`
    update merged_ids i set into_id = m.after from ${rows}
    where i.entity = ${entity} and i.into_id = m.before and m.before <> m.after
      and not exists (select from source_records r where r.id = m.before and r.entity = ${entity} and r.record is not null)`;
  // Also one whose others stay: a merged id stands for the record that had it first.
  await tx`
    update merged_ids i set into_id = m.after from ${rows}
    where i.entity = ${entity} and i.id = ${FIRST_ID}::bigint + m.number and i.into_id = m.before
      and m.after not in (m.before, i.id) and not ${isInnocent}`;
}

/** Returns how many new and changed records share their id with a record of another source. */
export async function countMerged(tx: Sql): Promise<number> {
  const [row] = await tx<{ merged: number }[]>`
    select count(*)::int as merged from changes c join source_records r using (number)
    where c.is_counted and c.kind in ('new', 'changed') and r.entity in ${tx(identifiedCodes)} and r.record is not null
      and exists (
        select from source_records o
        where o.id = r.id and o.entity = r.entity and o.source <> r.source and o.record is not null)`;
  return row?.merged ?? 0;
}

/**
 * Finds the companies of officers and periods that are touched or that refer to a company of which a record is touched, and
 * queues everything that the touched records are a part of or that refers to them. A number that several legal entities of GLEIF
 * have, such as the funds of an umbrella, is of the company that another source has with it.
 */
export async function queueTouched(tx: Sql): Promise<void> {
  await tx`
    create temp table referring on commit drop as
    select distinct r.number, r.entity, r.id from (
      select number from touched where entity in ${tx(factCodes)}
      union
      select f.number from (
        -- A company changes for who refers to it by another of its records, too.
        select k.value from (select distinct id from touched where entity = ${entityCodes.company}) t
        join source_records r on r.id = t.id and r.entity = ${entityCodes.company}
        join source_keys k on k.number = r.number and not k.is_reference
        union
        select value from values_before where not is_reference) v
      join source_keys f on f.value = v.value and f.is_reference) found
    join source_records r using (number)`;
  await tx`
    with refs as materialized (
      select r.number, k.value from referring r
      join source_keys k on k.number = r.number and k.is_reference where r.entity in ${tx(factCodes)}),
    -- Once for each value: many rows may refer to one that many companies have.
    holders as materialized (
      select v.value, min(o.id) filter (where o.source <> ${LEI_SOURCE}) as other, min(o.id) as first, max(o.id) as last
      from (select distinct value from refs) v
      join source_keys held on held.value = v.value and not held.is_reference
      join source_records o on o.number = held.number and o.entity = ${entityCodes.company} and o.record is not null
      group by v.value),
    sourced as (
      select f.number, coalesce(min(h.other), case when min(h.first) = max(h.last) then min(h.first) end) as id
      from refs f join holders h using (value) group by f.number),
    resolved as (
      select r.number, r.id as before, c.id as sourced, (
        select min(i.company_id) from source_keys ref
        join company_identifiers i on i.value = substr(ref.value, 10)
          and i.kind = ${companyIdentifierCodes.registry_number} and i.company_id < ${FIRST_ID}::bigint
        where ref.number = r.number and ref.is_reference and starts_with(ref.value, 'registry:')) as own
      from referring r left join sourced c using (number) where r.entity in ${tx(factCodes)}),
    moved as (
      update source_records s set id = coalesce(r.sourced, r.own) from resolved r
      where s.number = r.number and s.id is distinct from coalesce(r.sourced, r.own))
    insert into records_to_build (entity, id)
    select ${entityCodes.company}::smallint, id from (
      select before from resolved union select coalesce(sourced, own) from resolved) c (id)
    where id is not null on conflict do nothing`;
  await tx`
    insert into records_to_build (entity, id)
    select entity, id from touched where entity in ${tx(identifiedCodes)} and id is not null
    union
    select entity, id from referring where entity = ${entityCodes.person}
    order by 1, 2
    on conflict do nothing`;
}
