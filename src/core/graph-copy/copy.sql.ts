/** Statements of a local copy of the graph. They run on the live graph. */
import type { Sql } from '../db/client.ts';
import { compactJson, directorsOf, periodsOf } from '../enrich/records.sql.ts';
import type { GraphState } from '../graph/graph-state.ts';
import { isInState } from '../graph/in-state.sql.ts';
import { must } from '../lib/assert.ts';
import { encodeFacts } from './company-facts.ts';
import type { Entity } from './manifest.ts';

/** Returns the state of the graph in the snapshot of this statement. */
export async function readGraphState(sql: Sql): Promise<GraphState> {
  const [state] = await sql<GraphState[]>`
    select number, token from graph_changes order by number desc limit 1`;
  return must(state, 'the state of the graph');
}

/** Returns true when the live graph still has this state. */
export async function hasState(sql: Sql, state: GraphState): Promise<boolean> {
  const rows = await sql`select where ${isInState(sql, state)}`;
  return rows.length > 0;
}

/** The changes between two states. */
export interface ChangesSince extends Record<Entity, ChangedOfKind> {
  state: GraphState;
  /** False when the graph has no such state: another database or history, or a change that is no longer listed. */
  isKnown: boolean;
  /** True when a change touched more than is listed. */
  isWhole: boolean;
  /** True when more records changed than were asked for: none of them are returned. */
  isTooMany: boolean;
  /** True when a person withdrew after the state `wipedTo`: see `listWithdrawn`. */
  hasWithdrawn: boolean;
}

/** The records of one kind that changed; a company does when its directors do. */
interface ChangedOfKind {
  ids: number[];
  /** The identifiers of these records now, lines `<code> <id> <value>`; null for none. */
  identifiers: string | null;
}

/** Codes of `changed_records.entity`. */
const COMPANIES = 1;
const PEOPLE = 2;

/** Condition: the person `id` has gone (erased, or merged into another) or opted out. */
function hasWithdrawn(sql: Sql, id: ReturnType<Sql>): ReturnType<Sql> {
  return sql`(not exists (select from persons p where p.id = ${id})
    or exists (select from suppressed_persons s where s.person_id = ${id}))`;
}

/** Condition: a person who changed after the state `number`, and so many minutes ago if given, has gone or opted out. */
export function hasWithdrawnSince(
  sql: Sql,
  number: ReturnType<Sql>,
  minutes: number | null = null,
): ReturnType<Sql> {
  // A time to come is that of a clock that was set back.
  const isOld = sql`exists (select from graph_changes g where g.number = c.number
    and (g.changed_at < now() - make_interval(mins => ${minutes}) or g.changed_at > now() + interval '1 minute'))`;
  return sql`exists (select from changed_records c
    where c.number > ${number} and c.entity = ${PEOPLE} and ${hasWithdrawn(sql, sql`c.id`)}
      and ${minutes === null ? sql`true` : isOld})`;
}

/** Returns what changed since a state, with at most `idsMax` records. */
export async function readChangesSince(
  sql: Sql,
  { number, token }: GraphState,
  { idsMax, wipedTo }: { idsMax: number; wipedTo: number },
): Promise<ChangesSince> {
  type Row = Pick<ChangesSince, 'isKnown' | 'isWhole' | 'isTooMany' | 'hasWithdrawn'> &
    GraphState & {
      people: number[];
      companies: number[];
      heldByPeople: string | null;
      heldByCompanies: string | null;
    };
  const [row] = await sql<Row[]>`
    with touched as materialized (
      select distinct entity, id from changed_records
      where number > ${number} and entity in (${COMPANIES}, ${PEOPLE}) limit ${idsMax + 1}),
    few as materialized (
      select entity, id from touched where (select count(*) from touched) <= ${idsMax})
    select state.number, state.token,
      exists (select from graph_changes where number = ${number} and token = ${token}::uuid) as is_known,
      exists (select from graph_changes where number > ${number} and is_whole) as is_whole,
      (select count(*) from touched) > ${idsMax} as is_too_many,
      ${hasWithdrawnSince(sql, sql`${wipedTo}`)} as has_withdrawn,
      array(select id from few where entity = ${PEOPLE}) as people,
      array(select id from few where entity = ${COMPANIES}) as companies,
      (select string_agg(i.kind || ' ' || i.person_id || ' ' || i.value, E'\n')
        from few join person_identifiers i on i.person_id = few.id and entity = ${PEOPLE}) as held_by_people,
      (select string_agg(i.kind || ' ' || i.company_id || ' ' || i.value, E'\n')
        from few join company_identifiers i on i.company_id = few.id and entity = ${COMPANIES}) as held_by_companies
    from (select number, token from graph_changes order by number desc limit 1) state`;
  const { people, companies, heldByPeople, heldByCompanies, ...changes } = must(
    row,
    'the state of the graph',
  );
  const { number: now, token: history, ...rest } = changes;
  return {
    ...rest,
    state: { number: now, token: history },
    people: { ids: people, identifiers: heldByPeople },
    companies: { ids: companies, identifiers: heldByCompanies },
  };
}

/** Returns the number of people and companies as the planner estimates it: 0 before their tables are analysed. */
export async function estimateRecords(sql: Sql): Promise<number> {
  const [row] = await sql<{ records: number }[]>`
    select sum(greatest(reltuples, 0))::bigint as records from pg_class
    where oid in ('person_records'::regclass, 'company_records'::regclass)`;
  return row?.records ?? 0;
}

/** Ids of records of each kind, ascending. */
export type RecordIds = Record<Entity, number[]>;

/** Returns all records that changed since a state; null when that is not known, or more changed than is listed. */
export async function listChanged(
  tx: Sql,
  { number, token }: GraphState,
): Promise<RecordIds | null> {
  const [row] = await tx<(RecordIds & { isListed: boolean })[]>`
    select array(select distinct id from changed_records where number > ${number} and entity = ${PEOPLE} order by id) as people,
      array(select distinct id from changed_records where number > ${number} and entity = ${COMPANIES} order by id) as companies,
      exists (select from graph_changes where number = ${number} and token = ${token}::uuid)
        and not exists (select from graph_changes where number > ${number} and is_whole) as is_listed`;
  const { isListed, ...changed } = must(row, 'one row');
  return isListed ? changed : null;
}

/** Returns the people who changed after a state and have since left or opted out; and the state for which this is true. */
export async function listWithdrawn(
  sql: Sql,
  number: number,
): Promise<{ people: number[]; reached: number }> {
  const [row] = await sql<{ people: number[]; reached: number }[]>`
    select (select max(number) from graph_changes) as reached,
      array(
        select distinct c.id from changed_records c
        where c.number > ${number} and c.entity = ${PEOPLE} and ${hasWithdrawn(sql, sql`c.id`)} order by 1) as people`;
  return must(row, 'one row');
}

/** Returns the companies that changed after a state. Files of that state may name a director who has withdrawn since. */
export async function listChangedCompanies(sql: Sql, number: number): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select distinct id from changed_records where number > ${number} and entity = ${COMPANIES} order by id`;
  return rows.map(({ id }) => id);
}

/** Makes the transaction one snapshot, which only reads and may take its time. The first statement of it. */
export async function beginBuild(tx: Sql): Promise<void> {
  await tx`set transaction isolation level repeatable read read only`;
  await beginFetch(tx);
}

/** Lets the transaction take its time: it holds the lock of a folder, and no snapshot. */
export async function beginFetch(tx: Sql): Promise<void> {
  await tx`set local idle_in_transaction_session_timeout = 0`;
  await tx`set local statement_timeout = 0`;
}

/** Returns false when another process builds the copy of this place. The lock ends with the transaction. */
export async function lockBuild(tx: Sql, place: string): Promise<boolean> {
  const [row] = await tx<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('graph copy ' || ${place}, 0)) as is_free`;
  return row?.isFree ?? false;
}

/** Counts the identifiers of people and of companies: of all, or of these. */
export async function countIdentifiers(
  tx: Sql,
  ids: RecordIds | null,
): Promise<Record<Entity, number>> {
  const [row] = await tx<Record<Entity, number>[]>`
    select
      (select count(*) from person_identifiers
        where ${isMeant(tx, tx`person_id`, ids?.people ?? null)}) as people,
      (select count(*) from company_identifiers
        where ${isMeant(tx, tx`company_id`, ids?.companies ?? null)}) as companies`;
  return must(row, 'one row');
}

/** Records after an id, up to another one or to the last. */
interface IdRange {
  after: number;
  to: number | null;
}

/** Condition: the column is one of these ids; true for null. */
function isMeant(
  sql: Sql,
  column: ReturnType<Sql>,
  ids: readonly number[] | IdRange | null,
): ReturnType<Sql> {
  if (ids === null) return sql`true`;
  if (!('after' in ids)) return sql`${column} = any(${[...ids]}::bigint[])`;
  const { after, to } = ids;
  return sql`(${column} > ${after}::bigint and ${to === null ? sql`true` : sql`${column} <= ${to}::bigint`})`;
}

/** A page has fewer records, or fewer identifiers, than this, or one record. */
const PAGE_ROWS = 2_000;
const PAGE_IDENTIFIERS = 4 * PAGE_ROWS;

/**
 * A record of the graph: id, identifiers (lines `<code> <value>`), text, further text and employer, as `record-block.ts`
 * describes them, null for none.
 */
export type RecordToCopy = [
  id: Buffer,
  held: Buffer | null,
  text: Buffer | null,
  further: Buffer | null,
  employer: Buffer | null,
];

/**
 * Yields pages of the records of a kind that have identifiers or a text, in the order of their ids: of all, or of these,
 * which ascend. Call in a transaction.
 */
export async function* readRecordsToCopy(
  tx: Sql,
  entity: Entity,
  ids: readonly number[] | null,
): AsyncGenerator<RecordToCopy[]> {
  if (entity === 'people') {
    yield* pagesOf<RecordToCopy>(tx, entity, peopleToCopy, ids);
    return;
  }
  for await (const page of pagesOf<CompanyRow>(tx, entity, companiesToCopy, ids)) {
    yield page.map(([id, held, record, directors, periods]) => {
      const json = directors === null ? null : Buffer.from(compactJson(directors.toString()));
      return [id, held, record, encodeFacts({ directors: json, periods }), null];
    });
  }
}

/** A query: of a person who opted out there are identifiers alone. */
function peopleToCopy(sql: Sql, ids: readonly number[] | IdRange): ReturnType<Sql> {
  return sql`
    select coalesce(r.id, i.person_id), i.held,
      case when s.person_id is null then b.brief end, case when s.person_id is null then r.record end,
      case when s.person_id is null then nullif(r.company_id, 0) end
    from (
      select id, record, company_id from person_records where ${isMeant(sql, sql`id`, ids)}) r
    full join (
      select person_id, string_agg(kind || ' ' || value, E'\n') as held
      from person_identifiers where ${isMeant(sql, sql`person_id`, ids)}
      group by person_id) i on i.person_id = r.id
    left join (
      select id, brief from person_briefs where ${isMeant(sql, sql`id`, ids)}) b on b.id = r.id
    left join suppressed_persons s on s.person_id = r.id
    order by 1`;
}

/** A row of `companiesToCopy`. */
type CompanyRow = [
  id: Buffer,
  held: Buffer | null,
  record: Buffer | null,
  directors: Buffer | null,
  periods: Buffer | null,
];

function companiesToCopy(sql: Sql, ids: readonly number[] | IdRange): ReturnType<Sql> {
  const isOfThese = isMeant(sql, sql`company_id`, ids);
  return sql`
    select coalesce(r.id, i.company_id), i.held, r.record, d.directors, f.periods
    from (select id, record from company_records where ${isMeant(sql, sql`id`, ids)}) r
    full join (
      select company_id, string_agg(kind || ' ' || value, E'\n') as held
      from company_identifiers where ${isOfThese} group by company_id) i on i.company_id = r.id
    left join (${directorsOf(sql, isOfThese)}) d on d.company_id = r.id
    left join (${periodsOf(sql, isOfThese)}) f on f.company_id = r.id
    order by 1`;
}

/** A query: the id with which the page after an id ends; null for the last page. */
function endOfPage(sql: Sql, entity: Entity, after: number): ReturnType<Sql> {
  const [records, identifiers, owner] =
    entity === 'people'
      ? [sql`person_records`, sql`person_identifiers`, sql`person_id`]
      : [sql`company_records`, sql`company_identifiers`, sql`company_id`];
  return sql`
    select least(
      (select id from ${records}
        where id > ${after}::bigint order by id offset ${PAGE_ROWS - 1} limit 1),
      (select ${owner} from ${identifiers}
        where ${owner} > ${after}::bigint order by ${owner} offset ${PAGE_IDENTIFIERS - 1} limit 1)) as to`;
}

/**
 * Yields the rows of a query in pages, as sent: of all records, or of these. Each page is a query of its own. One of all
 * records would sort them, and write the whole graph to temporary files before the first.
 */
async function* pagesOf<Row>(
  tx: Sql,
  entity: Entity,
  query: (sql: Sql, ids: readonly number[] | IdRange) => ReturnType<Sql>,
  ids: readonly number[] | null,
): AsyncGenerator<Row[]> {
  const read = async (meant: readonly number[] | IdRange) =>
    (await tx`${query(tx, meant)}`.raw()) as unknown as Row[];
  for (let from = 0; ids !== null && from < ids.length; from += PAGE_ROWS) {
    yield await read(ids.slice(from, from + PAGE_ROWS));
  }
  if (ids !== null) return;
  let after = Number.MIN_SAFE_INTEGER;
  for (let to: number | null = after; to !== null; after = to ?? after) {
    [{ to }] = (await tx`${endOfPage(tx, entity, after)}`) as unknown as [{ to: number | null }];
    yield await read({ after, to });
  }
}
