/** Statements about one person across all tables: to show, erase, and prove that nothing is left. */
import type { Sql } from '../../core/db/client.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
import type { StatedIdentifier } from '../../core/graph/sources/stated-identifiers.ts';
import { must } from '../../core/lib/assert.ts';

/**
 * Ids of the people who hold a value under one of the kinds, or did when they left the graph, or of whom a source says this
 * key.
 */
export async function findHolders(
  sql: Sql,
  value: string,
  codes: readonly number[],
  sourceKey: string | null,
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select person_id as id from person_identifiers
    where value = ${value} and kind = any(${[...codes]}::smallint[])
    union
    select person_id from further_identifiers
    where value = ${value} and kind = any(${[...codes]}::smallint[])
    union
    select people_who_left(
      array[sha256(convert_to(${value}::text, 'UTF8'))], ${[...codes]}::smallint[])
    union
    select r.id from source_keys k join source_records r using (number)
    where k.value = ${sourceKey}::text and not k.is_reference and r.entity = ${entityCodes.person}
      and r.record is not null
    order by id`;
  return rows.map((row) => row.id);
}

/**
 * Returns true for an id that the graph gave, or took from a file, and still knows: also of someone who was erased, or was
 * merged.
 */
export async function isKnown(sql: Sql, id: number): Promise<boolean> {
  const person: ReturnType<Sql> = sql`entity = ${entityCodes.person}`;
  const known = await sql`
    select from persons where id = ${id}
    union all select from source_records where ${person} and id = ${id}
    union all select from merged_ids where ${person} and ${id} in (id, into_id)
    union all select from former_identifiers where person_id = ${id}
    union all select from suppressed_persons where person_id = ${id} limit 1`;
  return known.length > 0;
}

/** Ids of people whose records became a part of these people's. */
export async function listJoined(sql: Sql, ids: readonly number[]): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from merged_ids
    where entity = ${entityCodes.person} and into_id = any(${[...ids]}::bigint[]) order by id`;
  return rows.map((row) => row.id);
}

export interface StoredIdentifier {
  code: number;
  value: string;
  /** True when another person holds the value, under any kind. */
  isShared: boolean;
}

/**
 * The look-up values of a person, by all ids that imports have joined: those of people who are not built yet differ. `stated` are
 * those in the records of their sources.
 */
export async function listIdentifiers(
  sql: Sql,
  ids: readonly number[],
  stated: readonly StatedIdentifier[],
): Promise<StoredIdentifier[]> {
  const own: ReturnType<Sql> = sql`${[...ids]}::bigint[]`;
  return sql<StoredIdentifier[]>`
    with stated (kind, value) as (
      select * from unnest(${stated.map(({ code }) => code)}::smallint[], ${stated.map(({ value }) => value)}::text[]))
    select i.kind as code, i.value, (
      exists (
        select from person_identifiers o where o.value = i.value and o.person_id <> all(${own}))
      or exists (
        select from further_identifiers o where o.value = i.value and o.person_id <> all(${own}))
      or exists (
        select from source_keys k join source_records r using (number)
        where k.value in ('email:' || i.value, 'profile:' || i.value) and not k.is_reference
          and r.entity = ${entityCodes.person} and r.record is not null and r.id <> all(${own}))
      -- Of those who are not built yet only the addresses are among the keys.
      or exists (
        select from records_to_build q join source_records r on r.id = q.id and r.entity = q.entity
        where q.entity = ${entityCodes.person} and r.record is not null and r.id <> all(${own})
          and strpos(r.record, to_json(i.value)::text) > 0)
      ) as is_shared
    from (
      select kind, value from person_identifiers where person_id = any(${own})
      union
      select kind, value from further_identifiers where person_id = any(${own})
      union
      select kind, value from stated s where not exists (
        select from person_identifiers p where p.person_id = any(${own}) and p.value = s.value)) i
    order by i.kind, i.value`;
}

/**
 * Returns the hashes for opt-outs by the former identifiers of these people that no one else has or had: of the value alone under
 * the kinds `bare`. Reads all identifiers of people who are known by a hash.
 */
export async function listFormerHashes(
  sql: Sql,
  ids: readonly number[],
  bare: readonly number[],
): Promise<Buffer[]> {
  const own: ReturnType<Sql> = sql`${[...ids]}::bigint[]`;
  const ofOthers: ReturnType<Sql> = sql`
    select f.hash from former f join person_identifiers i
      on sha256(convert_to(i.value, 'UTF8')) = f.hash and i.person_id <> all(${own})
    union
    select f.hash from former f join further_identifiers i
      on sha256(convert_to(i.value, 'UTF8')) = f.hash and i.person_id <> all(${own})
    union
    select f.hash from former f
    join source_keys k on sha256(convert_to(substr(k.value, strpos(k.value, ':') + 1), 'UTF8')) = f.hash
      and (k.value like 'email:%' or k.value like 'profile:%')
    join source_records r on r.number = k.number and r.record is not null and r.id <> all(${own})
    union
    select f.hash from former f
    join former_identifiers o on o.value_sha256 = f.hash and o.person_id <> all(${own})`;
  const rows = await sql<{ hash: Buffer }[]>`
    with former as materialized (
      select distinct value_sha256 as hash,
        case when kind = any(${[...bare]}::smallint[]) then value_sha256 else identifier_sha256 end as recorded
      from former_identifiers where person_id = any(${own}))
    select distinct recorded as hash from former where recorded is not null and hash not in (${ofOthers})`;
  return rows.map(({ hash }) => hash);
}

export interface StoredPerson {
  record: Record<string, unknown> | null;
  suppressedAt: Date | null;
  officers: Record<string, unknown>[];
  idempotentAnswers: number;
}

/** A person's data in tables: record, opt-out, officers by link or by name and year of birth. */
export async function readPerson(sql: Sql, id: number): Promise<StoredPerson | undefined> {
  const [person] = await sql<StoredPerson[]>`
    select
      (select to_jsonb(p) from persons p where p.id = ${id}) as record,
      (select created_at from suppressed_persons where person_id = ${id}) as suppressed_at,
      coalesce((
        select jsonb_agg(to_jsonb(o) - 'id' order by o.company_id, o.id) from officers o
        where o.person_id = ${id} or o.id in (
          select named.id from persons p join officers named
            on fold(regexp_replace(named.name, '^([^,]+), *(.+)$', '\\2 \\1'))
                = fold(p.name || ' ' || p.surname)
              and named.birth_year = p.birth_year
          where p.id = ${id} and named.person_id is null and named.birth_year <> 0)),
        '[]') as officers,
      (select count(*)::int from idempotency_keys
        where live and (body -> 'people')::jsonb @> to_jsonb(${id}::bigint)) as idempotent_answers`;
  return person;
}

/** Tables that refer to a person by id, with the number of such rows. Opt-outs are not counted: they stay. */
export async function countRowsOfPeople(
  sql: Sql,
  ids: readonly number[],
): Promise<{ where: string; rows: number }[]> {
  return sql<{ where: string; rows: number }[]>`
    with person as (select unnest(${[...ids]}::bigint[]) as id)
    select * from (
      select 'graph.persons' as where, count(*)::int as rows from persons join person using (id)
      union all select 'graph.person_records', count(*)::int from person_records join person using (id)
      union all select 'graph.person_briefs', count(*)::int from person_briefs join person using (id)
      union all select 'graph.person_identifiers', count(*)::int
        from person_identifiers i join person on person.id = i.person_id
      union all select 'graph.further_identifiers', count(*)::int
        from further_identifiers f join person on person.id = f.person_id
      union all select 'graph.source_records', count(*)::int
        from source_records r join person on person.id = r.id and r.entity = ${entityCodes.person} and r.record is not null
      union all select 'graph.former_identifiers', count(*)::int
        from former_identifiers f join person on person.id = f.person_id
      union all select 'graph.officers', count(*)::int
        from officers o join person on person.id = o.person_id
      union all select 'public.idempotency_keys', count(*)::int
        from idempotency_keys k join person on k.live and (k.body -> 'people')::jsonb @> to_jsonb(person.id)
        where (k.body -> 'answer')::text <> '{}') found
    where rows > 0`;
}

/** A moment after a deletion: the number of the live graph's last change, and the time on the database's clock. */
export interface AfterDeletion {
  number: number;
  at: Date;
}

/** Returns the present moment. */
export async function readLastChange(sql: Sql): Promise<AfterDeletion> {
  const [row] = await sql<AfterDeletion[]>`
    select max(number) as number, clock_timestamp() as at from graph_changes`;
  return must(row, 'the state of the graph');
}

/** Living workers beat every five seconds. */
const SEEN_SECONDS_MAX = 15;

/**
 * Returns the hosts whose local copy may have people who were deleted up to this moment: those with a process that lived then
 * and builds a copy, has one that has not followed the graph so far, or has not reported since. A build of which it has not
 * reported may read the graph as it was before.
 */
export async function listHostsBehind(sql: Sql, { number, at }: AfterDeletion): Promise<string[]> {
  const rows = await sql<{ host: string }[]>`
    select distinct host from processes
    where (kind = 'worker' or local_copy is not null)
      and seen_at > ${at}::timestamptz - make_interval(secs => ${SEEN_SECONDS_MAX})
      and (coalesce((local_copy ->> 'graph_number')::bigint < ${number}, true)
        or (local_copy ->> 'building')::boolean or (local_copy ->> 'reached')::bigint < ${number})
    order by host`;
  return rows.map(({ host }) => host);
}

/**
 * Transactions that write one of the tables, or are about to: a statement locks its tables before it reads what is committed. The
 * lock stays until the end of its transaction.
 */
export async function listWriters(
  sql: Sql,
  tables: readonly string[],
): Promise<{ writer: string; table: string }[]> {
  return sql<{ writer: string; table: string }[]>`
    select distinct l.virtualtransaction as writer, t.name as table
    from pg_locks l join unnest(${[...tables]}::text[]) t (name) on t.name::regclass = l.relation
    where l.locktype = 'relation' and l.mode = 'RowExclusiveLock'
      and l.database = (select oid from pg_database where datname = current_database())`;
}

/** Every table of the project's schemas. */
export async function listTables(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select schemaname || '.' || tablename as name from pg_tables
    where schemaname <> 'information_schema' and schemaname not like 'pg\\_%' order by 1`;
  return rows.map((row) => row.name);
}

/** Rows of a page: each may have long texts. */
const PAGE_ROWS = 1_000;

/** Yields pages of the rows of a table whose text holds one of the patterns of LIKE, as texts in lower case. */
export async function* searchTable(
  sql: Sql,
  table: string,
  patterns: readonly string[],
): AsyncGenerator<string[]> {
  const pages = sql<{ text: string }[]>`
    select lower(t::text) as text from ${sql(table)} t
    where lower(t::text) like any(${[...patterns]}::text[])`.cursor(PAGE_ROWS);
  for await (const rows of pages) yield rows.map(({ text }) => text);
}

/**
 * Yields pages of what stored responses say of people or companies, where it holds one of the patterns of LIKE, as texts in lower
 * case.
 */
export async function* searchResponses(
  sql: Sql,
  patterns: readonly string[],
): AsyncGenerator<string[]> {
  const pages = sql<{ text: string }[]>`
    select lower(body ->> 'answer') as text from idempotency_keys
    where lower(body ->> 'answer') like any(${[...patterns]}::text[])`.cursor(PAGE_ROWS);
  for await (const rows of pages) yield rows.map(({ text }) => text);
}
