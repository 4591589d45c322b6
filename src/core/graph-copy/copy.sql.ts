/** Statements of a local copy of the graph. They run on the live graph. */
import type { Sql } from '../db/client.ts';
import { compactJson, directorsOf, periodsOf } from '../enrich/records.sql.ts';
import { must } from '../lib/assert.ts';
import { encodeFacts } from './company-facts.ts';
import type { Entity } from './manifest.ts';

/** A state of the graph: all changes up to this number, in the history that the token names. */
export interface GraphState {
  number: number;
  token: string;
}

/** Returns the state of the graph in the snapshot of this statement. */
export async function readGraphState(sql: Sql): Promise<GraphState> {
  const [state] = await sql<GraphState[]>`
    select number, token from graph_changes order by number desc limit 1`;
  return must(state, 'the state of the graph');
}

/** The changes between two states. */
export interface ChangesSince extends Record<Entity, ChangedOfKind> {
  state: GraphState;
  /** False when the graph has no such state: another database or history, or a change that is no longer listed. */
  isKnown: boolean;
  /** True when more changed than is listed. */
  isWhole: boolean;
  /** True when one of the people is gone: erased, or merged into another. */
  hasDeleted: boolean;
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

/** Returns what changed since a state, at most `idsMax` records: more are a whole change. */
export async function readChangesSince(
  sql: Sql,
  { number, token }: GraphState,
  idsMax: number,
): Promise<ChangesSince> {
  type Row = Pick<ChangesSince, 'isKnown' | 'isWhole' | 'hasDeleted'> &
    GraphState & {
      people: number[];
      companies: number[];
      heldByPeople: string | null;
      heldByCompanies: string | null;
    };
  const [row] = await sql<Row[]>`
    with touched as (
      select distinct entity, id from changed_records
      where number > ${number} and entity in (${COMPANIES}, ${PEOPLE}) limit ${idsMax + 1})
    select state.number, state.token,
      exists (select from graph_changes where number = ${number} and token = ${token}::uuid) as is_known,
      exists (select from graph_changes where number > ${number} and is_whole)
        or (select count(*) from touched) > ${idsMax} as is_whole,
      exists (select from touched
        where entity = ${PEOPLE} and not exists (select from persons where persons.id = touched.id)) as has_deleted,
      array(select id from touched where entity = ${PEOPLE}) as people,
      array(select id from touched where entity = ${COMPANIES}) as companies,
      (select string_agg(i.kind || ' ' || i.person_id || ' ' || i.value, E'\n')
        from touched join person_identifiers i on i.person_id = touched.id and entity = ${PEOPLE}) as held_by_people,
      (select string_agg(i.kind || ' ' || i.company_id || ' ' || i.value, E'\n')
        from touched join company_identifiers i on i.company_id = touched.id and entity = ${COMPANIES}) as held_by_companies
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

/** Makes the transaction one snapshot, which only reads and may take its time. The first statement of it. */
export async function beginBuild(tx: Sql): Promise<void> {
  await tx`set transaction isolation level repeatable read read only`;
  await tx`set local idle_in_transaction_session_timeout = 0`;
  await tx`set local statement_timeout = 0`;
}

/** Returns false when another process builds the copy of this place. The lock ends with the transaction. */
export async function lockBuild(tx: Sql, place: string): Promise<boolean> {
  const [row] = await tx<{ isFree: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('graph copy ' || ${place}, 0)) as is_free`;
  return row?.isFree ?? false;
}

/** Counts the identifiers of people and of companies. */
export async function countIdentifiers(tx: Sql): Promise<Record<Entity, number>> {
  const [row] = await tx<Record<Entity, number>[]>`
    select (select count(*) from person_identifiers) as people,
      (select count(*) from company_identifiers) as companies`;
  return must(row, 'one row');
}

/** As in the statement below, which takes no parameter there. */
const PAGE_ROWS = 2_000;

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

/** Yields pages of all records of a kind that have identifiers or a text, in the order of their ids. Call in a transaction. */
export async function* readRecordsToCopy(tx: Sql, entity: Entity): AsyncGenerator<RecordToCopy[]> {
  if (entity === 'people') {
    yield* pagesOf<RecordToCopy>(tx, peopleToCopy(tx));
    return;
  }
  for await (const page of pagesOf<CompanyRow>(tx, companiesToCopy(tx))) {
    yield page.map(([id, held, record, directors, periods]) => {
      const json = directors === null ? null : Buffer.from(compactJson(directors.toString()));
      return [id, held, record, encodeFacts({ directors: json, periods }), null];
    });
  }
}

/** A query: of a person who opted out there are identifiers alone. */
function peopleToCopy(sql: Sql): ReturnType<Sql> {
  return sql`
    select coalesce(r.id, i.person_id), i.held,
      case when s.person_id is null then b.brief end, case when s.person_id is null then r.record end,
      case when s.person_id is null then nullif(r.company_id, 0) end
    from person_records r
    full join (
      select person_id, string_agg(kind || ' ' || value, E'\n') as held
      from person_identifiers group by person_id) i on i.person_id = r.id
    left join person_briefs b on b.id = r.id
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

function companiesToCopy(sql: Sql): ReturnType<Sql> {
  return sql`
    select coalesce(r.id, i.company_id), i.held, r.record, d.directors, f.periods
    from company_records r
    full join (
      select company_id, string_agg(kind || ' ' || value, E'\n') as held
      from company_identifiers group by company_id) i on i.company_id = r.id
    left join (${directorsOf(sql, sql`true`)}) d on d.company_id = r.id
    left join (${periodsOf(sql, sql`true`)}) f on f.company_id = r.id
    order by 1`;
}

/** Yields the rows of a query without parameters in pages, as sent. */
async function* pagesOf<Row>(tx: Sql, query: ReturnType<Sql>): AsyncGenerator<Row[]> {
  await tx`select set_config('cursor_tuple_fraction', '1', true)`;
  await tx`declare copied no scroll cursor for ${query}`;
  let page: Row[];
  do {
    page = (await tx`fetch 2000 from copied`.raw()) as unknown as Row[];
    if (page.length > 0) yield page;
  } while (page.length === PAGE_ROWS);
  await tx`close copied`;
}
