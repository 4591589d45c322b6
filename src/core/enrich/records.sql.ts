/**
 * The look-ups of enrichment: each is one statement for any number of rows, with one text as input and one as
 * output, because a value per row and column costs the driver more than the search costs the server. Lists are
 * sent as lines: splitting one text is 2.5 times cheaper than parsing an array.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { CANDIDATES_MAX } from './candidates-max.ts';

/** Between two records of a result. */
export const RECORD_SEPARATOR = 0x1e;
/** Between a person's record and the company's, when both are read. */
export const GROUP_SEPARATOR = 0x1d;
/** Marks the record of a person who opted out. */
export const SUPPRESSED_MARK = 0x02;

type RawRow = [Buffer | null];

/**
 * Finds the holders of these values. Input: canonical values, one a line. Output: lines `<line> <code> <id>`, at
 * most `CANDIDATES_MAX` for each value, kinds of higher trust (lower codes) first, then lower ids, as in the index: the current
 * owner is never cut off by many records of lower trust.
 */
export async function lookUpPersons(sql: Sql, values: string): Promise<Buffer> {
  const [row] = (await sql`
    select string_agg(k.line || ' ' || i.kind || ' ' || i.person_id, E'\n')
    from string_to_table(${values}, E'\n') with ordinality k (value, line)
    cross join lateral (
      select kind, person_id from person_identifiers where value = k.value
      order by kind, person_id limit ${CANDIDATES_MAX}) i
    `.raw()) as unknown as RawRow[];
  return must(row, 'one row')[0] ?? Buffer.alloc(0);
}

/**
 * As `lookUpPersons`, with a second text: the stored records of those people who hold one of the values alone, in any order,
 * as `readPersonRecordsInOrder` returns them. One statement instead of two costs a single call a tenth less of the database.
 */
export async function lookUpPersonRecords(
  sql: Sql,
  values: string,
): Promise<{ hits: Buffer; records: Buffer }> {
  const [row] = (await sql`
    select string_agg(held.hits, E'\n'), string_agg(
      case when s.person_id is not null then r.id || E'\x1f\x02' else r.record end, E'\x1e')
    from string_to_table(${values}, E'\n') with ordinality k (value, line)
    cross join lateral (
      select string_agg(k.line || ' ' || i.kind || ' ' || i.person_id, E'\n') as hits,
        case when min(i.person_id) = max(i.person_id) then min(i.person_id) end as only_id
      from (
        select kind, person_id from person_identifiers where value = k.value
        order by kind, person_id limit ${CANDIDATES_MAX}) i) held
    left join person_records r on r.id = held.only_id
    -- The limit has each looked up by its key, whatever number of values is expected.
    left join lateral (
      select person_id from suppressed_persons where person_id = r.id limit 1) s on true
    `.raw()) as unknown as [Buffer | null, Buffer | null][];
  const [hits, records] = must(row, 'one row');
  return { hits: hits ?? Buffer.alloc(0), records: records ?? Buffer.alloc(0) };
}

/** As `lookUpPersons`, for companies. */
export async function lookUpCompanies(sql: Sql, values: string): Promise<Buffer> {
  const [row] = (await sql`
    select string_agg(k.line || ' ' || i.kind || ' ' || i.company_id, E'\n')
    from string_to_table(${values}, E'\n') with ordinality k (value, line)
    cross join lateral (
      select kind, company_id from company_identifiers where value = k.value
      order by kind, company_id limit ${CANDIDATES_MAX}) i
    `.raw()) as unknown as RawRow[];
  return must(row, 'one row')[0] ?? Buffer.alloc(0);
}

/**
 * Ids per text: about 100 kB each. The server allocates each larger text from the system and frees it again;
 * 355,000 brief records in texts of 460 kB took 1.63 s of its CPU, in texts of 90 kB 1.30 s, and as many full ones
 * 2.24 s and 1.68 s.
 */
const sliceIds = { brief: 200, record: 100, recordWithCompany: 60 } as const;

/** Encodes ids as one parameter: one per line, slices separated by semicolons. */
function inSlices(ids: readonly number[], slice: keyof typeof sliceIds): string {
  const slices: string[] = [];
  for (let from = 0; from < ids.length; from += sliceIds[slice]) {
    slices.push(ids.slice(from, from + sliceIds[slice]).join('\n'));
  }
  return slices.join(';');
}

/** A query: the stored records of all people; the brief ones lack long cells. */
function storedPeople(sql: Sql, brief: boolean): ReturnType<Sql> {
  return brief
    ? sql`select id, brief as record from person_briefs`
    : sql`select id, record from person_records`;
}

function texts(rows: unknown): Buffer[] {
  return (rows as RawRow[]).map(([text]) => text ?? Buffer.alloc(0));
}

/**
 * Returns the stored records of these people, in the order of the ids, as texts between record separators: empty
 * for a deleted person, the mark for one who opted out. `brief` reads records without long cells.
 */
export async function readPersonRecords(
  sql: Sql,
  ids: readonly number[],
  brief: boolean,
): Promise<Buffer[]> {
  return texts(
    await sql`
      select found.records
      from string_to_table(${inSlices(ids, brief ? 'brief' : 'record')}, ';') with ordinality slice (ids, place)
      cross join lateral (
        select string_agg(
          case when s.person_id is not null then E'\x02' else coalesce(r.record, '') end,
          E'\x1e' order by k.line) as records
        from string_to_table(slice.ids, E'\n') with ordinality k (id, line)
        left join (${storedPeople(sql, brief)}) r on r.id = k.id::bigint
        left join suppressed_persons s on s.person_id = k.id::bigint) found
      order by slice.place`.raw(),
  );
}

/**
 * Returns the stored records of these people, whose ids ascend, as texts between record separators; each begins
 * with the id. A deleted person has none; one who opted out has the id and the mark. From Postgres 17 on one index
 * scan finds all ids of a slice: 5,000 people took 30 ms, and 53 ms when each was looked up (medians on a busy
 * machine).
 */
export async function readPersonRecordsInOrder(
  sql: Sql,
  ids: readonly number[],
  brief: boolean,
): Promise<Buffer[]> {
  return texts(
    await sql`
      select found.records
      from string_to_table(${inSlices(ids, brief ? 'brief' : 'record')}, ';') with ordinality slice (ids, place)
      cross join lateral (
        select string_agg(
          case when s.person_id is not null then r.id || E'\x1f\x02' else r.record end,
          E'\x1e' order by r.id) as records
        from (${storedPeople(sql, brief)}) r
        left join suppressed_persons s on s.person_id = r.id
        where r.id = any(string_to_array(slice.ids, E'\n')::bigint[])) found
      where found.records is not null
      order by slice.place`.raw(),
  );
}

/** As `readPersonRecords`, each record followed by a group separator and the employer's record. */
export async function readPersonRecordsWithCompany(
  sql: Sql,
  ids: readonly number[],
): Promise<Buffer[]> {
  return texts(
    await sql`
      select found.records
      from string_to_table(${inSlices(ids, 'recordWithCompany')}, ';') with ordinality slice (ids, place)
      cross join lateral (
        select string_agg(
          case
            when s.person_id is not null then E'\x02'
            when r.id is null then ''
            else r.record || E'\x1d' || coalesce(c.record, '')
          end, E'\x1e' order by k.line) as records
        from string_to_table(slice.ids, E'\n') with ordinality k (id, line)
        left join person_records r on r.id = k.id::bigint
        left join company_records c on c.id = r.company_id
        left join suppressed_persons s on s.person_id = k.id::bigint) found
      order by slice.place`.raw(),
  );
}

/** Returns the stored records of these companies, in the order of the ids, empty for a deleted one. */
export async function readCompanyRecords(sql: Sql, ids: readonly number[]): Promise<Buffer[]> {
  return texts(
    await sql`
      select found.records
      from string_to_table(${inSlices(ids, 'record')}, ';') with ordinality slice (ids, place)
      cross join lateral (
        select string_agg(coalesce(r.record, ''), E'\x1e' order by k.line) as records
        from string_to_table(slice.ids, E'\n') with ordinality k (id, line)
        left join company_records r on r.id = k.id::bigint) found
      order by slice.place`.raw(),
  );
}

/** Returns the directors of these companies, as JSON arrays, for each company that has any: see `directorsOf`. */
export async function readDirectors(
  sql: Sql,
  companyIds: number[],
): Promise<{ companyId: number; directors: string }[]> {
  const rows = await sql<{ companyId: number; directors: string }[]>`
    select company_id, directors from (${directorsOf(sql, sql`o.company_id = any(${companyIds})`)}) d`;
  return rows.map((row) => ({ ...row, directors: compactJson(row.directors) }));
}

/** Returns JSON as it is in every other cell. */
export function compactJson(json: string): string {
  return JSON.stringify(JSON.parse(json));
}

/**
 * A query: the directors of each company that has any, as a JSON array. An officer without a stored link is matched to a
 * person of the same folded name and birth year (and birth month, when both sides know it) when exactly one fits; people
 * who opted out keep role and dates and have no name. `meant` is a condition on the officers `o`. The trigger
 * `note_changed_directors` knows which changes of people change the result.
 */
export function directorsOf(sql: Sql, meant: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    select o.company_id, json_agg(json_build_object(
      'name', case when s.person_id is null and o.name not like 'suppressed:%' then o.name end,
      'role', o.role, 'appointed_on', o.appointed_on, 'resigned_on', o.resigned_on,
      'person_id', case when s.person_id is null then person.id end,
      'matched_by', case when s.person_id is null then person.matched_by end
    ) order by o.resigned_on is not null, o.appointed_on nulls last, o.id)::text as directors
    from officers o
    left join lateral (
      select p.id, 'link' as matched_by from persons p where p.id = o.person_id
      union all
      select min(p.id), 'name_and_birth' from persons p
      where o.person_id is null and o.birth_year <> 0 and p.birth_year = o.birth_year
        and p.birth_year <> 0
        -- Registers write "SURNAME, Given names".
        and fold(p.name || ' ' || p.surname)
          = fold(regexp_replace(o.name, '^([^,]+), *(.+)$', '\\2 \\1'))
        and (o.birth_month is null or p.birth_date is null
          or extract(month from p.birth_date) = o.birth_month)
      having count(*) = 1
    ) person on true
    -- A file of one's own may link an officer to a person who was erased since.
    left join suppressed_persons s on s.person_id = coalesce(person.id, o.person_id)
    where ${meant}
    group by o.company_id`;
}

/**
 * Returns the financial periods of these companies, latest first, as a JSON array for each company that has any.
 */
export async function readFinancials(
  sql: Sql,
  companyIds: number[],
): Promise<{ companyId: number; periods: string }[]> {
  return sql<{ companyId: number; periods: string }[]>`
    select company_id, periods from (${periodsOf(sql, sql`company_id = any(${companyIds})`)}) f`;
}

/** A query: the financial periods of each company that has any. `meant` is a condition on `financial_periods`. */
export function periodsOf(sql: Sql, meant: ReturnType<Sql>): ReturnType<Sql> {
  return sql`
    select company_id, json_agg(json_build_object(
      'period_end', period_end, 'currency', currency, 'revenue', revenue,
      'gross_profit', gross_profit, 'operating_profit', operating_profit, 'profit', profit,
      'total_assets', total_assets, 'net_assets', net_assets, 'cash', cash, 'employees', employees
    ) order by period_end desc)::text as periods
    from financial_periods where ${meant} group by company_id`;
}
