/** Statements about opt-outs. Those that write run under the lock of the graph's writers. */
import type { Sql } from '../db/client.ts';
import { personCodes } from '../graph/identifier-kinds.ts';
import { entityCodes } from '../graph/source-entities.ts';

/** A hash of an identifier, and the kinds of stored identifiers that it covers. */
export interface OptOut {
  hash: Buffer;
  value: string;
  codes: readonly number[];
  /** The value under which sources have it: a person's record keeps one address of each kind. Null for none. */
  sourceKey: string | null;
}

/** Query of `person_id`: people of whom a source says this, a condition on the key `k.value`. */
function peopleOfSources(sql: Sql, condition: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    select r.id as person_id from source_keys k join source_records r using (number)
    where not k.is_reference and r.entity = ${entityCodes.person} and r.record is not null
      and r.id is not null and ${condition}`;
}

/**
 * Records an opt-out and suppresses all holders of the identifier, in one statement, also those who left the graph: results
 * may name them. Returns how many people that were.
 */
export async function insertSuppression(
  sql: Sql,
  { hash, value, codes, sourceKey }: OptOut,
): Promise<number> {
  const [row] = await sql<{ persons: number }[]>`
    with hash as (
      insert into suppressed_identifiers (value_sha256) values (${hash})
      on conflict do nothing),
    holder as (
      select distinct person_id from person_identifiers
      where value = ${value} and kind = any(${[...codes]}::smallint[])
      union select person_id from further_identifiers
      where value = ${value} and kind = any(${[...codes]}::smallint[])
      union ${peopleOfSources(sql, sql`k.value = ${sourceKey}::text`)}
      union select people_who_left(
        array[sha256(convert_to(${value}::text, 'UTF8'))], ${[...codes]}::smallint[]))
    select (select count(*)::int from holder) as persons,
      suppress_people(${withJoined(sql, sql`select person_id from holder`)})`;
  return row?.persons ?? 0;
}

/**
 * Array: these people, a query of `person_id`, and those whose records became a part of theirs: results that were made
 * before name these.
 */
function withJoined(sql: Sql, people: ReturnType<Sql>): ReturnType<Sql> {
  return sql`array(
    select person_id from (${people}) p (person_id)
    union
    select m.id from (${people}) p (person_id) join merged_ids m on m.into_id = p.person_id
    where m.entity = ${entityCodes.person})`;
}

/** A condition: the hash of this text is that of an opt-out. */
function isRecorded(sql: Sql, text: ReturnType<Sql>): ReturnType<Sql> {
  return sql`sha256(convert_to(${text}, 'UTF8')) in (select value_sha256 from suppressed_identifiers)`;
}

/**
 * Suppresses those of these people, who were built, of whom a source says an opted-out identifier, although their record has
 * another one.
 */
export async function suppressNamed(sql: Sql, ids: readonly number[]): Promise<void> {
  const isNamed: ReturnType<Sql> = sql`r.id = any(${[...ids]}::bigint[])
    and exists (select from suppressed_identifiers)
    and (k.value like 'email:%' or k.value like 'profile:%')
    and (${isRecorded(sql, sql`regexp_replace(k.value, '^profile:', 'professional_network:')`)}
      or k.value like 'email:%' and ${isRecorded(sql, sql`substr(k.value, 7)`)})
    and not exists (select from suppressed_persons s where s.person_id = r.id)`;
  const kinds = sql`unnest(${personCodes.map(({ code }) => code)}::smallint[],
    ${personCodes.map(({ kind }) => kind)}::text[]) k (code, name)`;
  await sql`
    select suppress_people(array_agg(distinct person_id)) from (
      ${peopleOfSources(sql, isNamed)}
      union
      select f.person_id from further_identifiers f join ${kinds} on k.code = f.kind
      where f.person_id = any(${[...ids]}::bigint[])
        and (${isRecorded(sql, sql`k.name || ':' || f.value`)}
          or k.name in ('email', 'phone') and ${isRecorded(sql, sql`f.value`)})
        and not exists (select from suppressed_persons s where s.person_id = f.person_id)) p
    having count(*) > 0`;
}

/**
 * Suppresses people whose records are joined with those of a person who opted out, before or after it: they are the same.
 * `ids` are the people who were built.
 */
export async function suppressJoined(sql: Sql, ids: readonly number[]): Promise<void> {
  const joined = sql`entity = ${entityCodes.person}`;
  await sql`
    with root as (
      select into_id as id from merged_ids where ${joined} and id = any(${[...ids]}::bigint[])
      union select into_id from merged_ids where ${joined} and into_id = any(${[...ids]}::bigint[])),
    member as (
      select id as root, id from root
      union all select m.into_id, m.id from merged_ids m join root on root.id = m.into_id where ${joined}),
    hidden as (select root from member join suppressed_persons s on s.person_id = member.id)
    select suppress_people(array_agg(id)) from member
    where root in (select root from hidden)
      and not exists (select from suppressed_persons s where s.person_id = member.id)
    having count(*) > 0`;
}

/** Suppresses again those of these people who opted out and are still stored: more officers may be known as theirs by now. */
export async function suppressAgain(sql: Sql, ids: readonly number[]): Promise<void> {
  await sql`
    select suppress_people(array_agg(s.person_id)) from suppressed_persons s join persons p on p.id = s.person_id
    where s.person_id = any(${[...ids]}::bigint[])
    having count(*) > 0`;
}

/**
 * Records hashes of bare values and suppresses all holders of one of them under one of the kinds. Reads every
 * stored identifier once. Returns how many people that were.
 */
export async function insertHashes(
  sql: Sql,
  hashes: readonly Buffer[],
  codes: readonly number[],
): Promise<number> {
  const [row] = await sql<{ persons: number }[]>`
    with given as (select distinct decode(unnest(${toHex(hashes)}::text[]), 'hex') as hash),
    noted as (
      insert into suppressed_identifiers (value_sha256) select hash from given
      on conflict do nothing),
    holder as (
      select distinct i.person_id from person_identifiers i
      join given on given.hash = sha256(convert_to(i.value, 'UTF8'))
      where i.kind = any(${[...codes]}::smallint[])
      union
      select f.person_id from further_identifiers f
      join given on given.hash = sha256(convert_to(f.value, 'UTF8'))
      where f.kind = any(${[...codes]}::smallint[])
      union ${peopleOfSources(
        sql,
        sql`starts_with(k.value, 'email:')
          and sha256(convert_to(substr(k.value, 7), 'UTF8')) in (select hash from given)`,
      )}
      union select people_who_left(array(select hash from given), ${[...codes]}::smallint[]))
    select (select count(*)::int from holder) as persons,
      suppress_people(${withJoined(sql, sql`select person_id from holder`)})`;
  return row?.persons ?? 0;
}

function toHex(hashes: readonly Buffer[]): string[] {
  return hashes.map((hash) => hash.toString('hex'));
}

/** Records hashes and suppresses these people, whatever identifiers they hold. */
export async function insertSuppressedPeople(
  sql: Sql,
  ids: readonly number[],
  hashes: readonly Buffer[],
): Promise<void> {
  await sql`
    insert into suppressed_identifiers (value_sha256)
    select distinct decode(unnest(${toHex(hashes)}::text[]), 'hex') on conflict do nothing`;
  await sql`select suppress_people(${withJoined(sql, sql`select unnest(${[...ids]}::bigint[])`)})`;
}

/** Returns those of these people who opted out. */
export async function findSuppressed(sql: Sql, personIds: readonly number[]): Promise<number[]> {
  const rows = await sql<{ personId: number }[]>`
    select person_id from suppressed_persons
    where person_id = any(${[...personIds]}::bigint[])`;
  return rows.map((row) => row.personId);
}

/** Returns the number of the last suppression; 0 before the first. */
export async function readLastSuppression(sql: Sql): Promise<number> {
  const [row] = await sql<{ number: number }[]>`
    select coalesce(max(number), 0) as number from suppressions`;
  return row?.number ?? 0;
}

/** A record that may no longer be shown. */
export interface Suppression {
  id: number;
  number: number;
}

/** Returns the people suppressed after a number. */
export async function listSuppressedPeople(sql: Sql, after: number): Promise<Suppression[]> {
  return sql<Suppression[]>`
    select person_id as id, number from suppressed_persons where number > ${after}`;
}

/**
 * Returns the companies of which an officer was suppressed after a number, and the people who were, as negative
 * ids.
 */
export async function listSuppressedOfficers(sql: Sql, after: number): Promise<Suppression[]> {
  return sql<Suppression[]>`
    select company_id as id, max(number) as number from suppressed_officers
    where number > ${after} group by company_id
    union all select -person_id, number from suppressed_persons where number > ${after}`;
}

/** A director as shown in a result. */
export interface ShownDirector {
  companyId: number;
  name: string;
  personId: number | null;
}

/** Returns for each of these directors whether they opted out. */
export async function findHiddenDirectors(
  sql: Sql,
  directors: readonly ShownDirector[],
): Promise<boolean[]> {
  const rows = await sql<{ hidden: boolean }[]>`
    select exists (select from suppressed_persons s where s.person_id = d.person_id)
      or exists (select from suppressed_officers o where o.company_id = d.company_id
        and o.name_sha256 = officer_name_sha256(d.company_id, d.name)) as hidden
    from unnest(${directors.map((d) => d.companyId)}::bigint[],
      ${directors.map((d) => d.name)}::text[], ${directors.map((d) => d.personId)}::bigint[])
      with ordinality d (company_id, name, person_id, place)
    order by d.place`;
  return rows.map((row) => row.hidden);
}

/** Returns those of these hashes that are recorded. */
export async function findRecordedHashes(sql: Sql, hashes: readonly Buffer[]): Promise<Buffer[]> {
  const rows = await sql<{ valueSha256: Buffer }[]>`
    select value_sha256 from suppressed_identifiers
    where value_sha256 in (select decode(unnest(${toHex(hashes)}::text[]), 'hex'))`;
  return rows.map((row) => row.valueSha256);
}

/** A person who opted out. One opt-out may cover several people, who then have its number. */
export interface OptedOutPerson {
  personId: number;
  number: number;
  optedOutAt: Date;
}

/**
 * Returns people who opted out, in the order in which their opt-outs were committed: writers of the graph wait for
 * each other, so no later one is added before the place `after`.
 */
export async function listOptedOut(
  sql: Sql,
  after: Pick<OptedOutPerson, 'number' | 'personId'>,
  limit: number,
): Promise<OptedOutPerson[]> {
  return sql<OptedOutPerson[]>`
    select person_id, number, created_at as opted_out_at from suppressed_persons
    where number >= ${after.number}
      and (number, person_id) > (${after.number}::bigint, ${after.personId}::bigint)
    order by number, person_id limit ${limit}`;
}
