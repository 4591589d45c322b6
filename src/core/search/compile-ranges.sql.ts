/**
 * Alternatives of one column as SQL of constant size. A few ranges are comparisons, which an index serves range by
 * range; more are one multirange, which is searched by bisection for each row.
 */
import type { Helper, PendingQuery, Row } from 'postgres';
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { Range, Span } from './parse-ranges.ts';

/** A part of a statement. Never await it by itself: that would run it. */
export type Fragment = PendingQuery<Row[]>;
export type Identifier = Helper<string>;

/** Maximum number of ranges compared one by one: the planner combines the index scans of this many. */
const COMPARED_RANGES_MAX = 10;
const INT4_MAX = 2_147_483_647;

/** True for rows that match any of these conditions; false without one. */
export function anyOf(sql: Sql, alternatives: readonly Fragment[]): Fragment {
  const [first, ...others] = alternatives;
  if (first === undefined) return sql`false`;
  return sql`(${others.reduce((left, right) => sql`${left} or ${right}`, first)})`;
}

/** True for rows whose column is one of these ids; an equality for one id. No condition for no ids. */
export function idIn(
  sql: Sql,
  column: Identifier,
  { ids, isBig }: { ids: readonly number[]; isBig: boolean },
): Fragment[] {
  const [id] = ids;
  if (id === undefined) return [];
  if (ids.length === 1) {
    return [isBig ? sql`${column} = ${id}::bigint` : sql`${column} = ${id}::int`];
  }
  const listed = [...ids];
  return [
    isBig ? sql`${column} = any(${listed}::bigint[])` : sql`${column} = any(${listed}::int[])`,
  ];
}

/**
 * True for rows whose column is in any of these ranges; single numbers are one list. An unknown number is stored as
 * 0 and is in no range. `isBig` for a bigint column.
 */
export function integerIn(
  sql: Sql,
  name: string,
  { ranges, isBig }: { ranges: readonly Range[]; isBig: boolean },
): Fragment[] {
  // An int column holds nothing above its maximum; compared as bigint it would not use the index.
  const largest = isBig ? Number.MAX_SAFE_INTEGER : INT4_MAX;
  const possible = ranges
    .map(({ min, max }) => ({
      min: Math.max(1, min),
      max: max !== null && max <= largest ? max : null,
    }))
    .filter(({ min, max }) => min <= (max ?? largest));
  const column = sql(name);
  const isSingle = ({ min, max }: Range) => min === max;
  const ids = possible.filter(isSingle).map(({ min }) => min);
  const wide = possible.filter((range) => !isSingle(range));
  const between = ({ min, max }: Range) =>
    max === null ? sql`${column} >= ${min}` : sql`${column} between ${min} and ${max}`;
  const inRanges =
    wide.length <= COMPARED_RANGES_MAX
      ? wide.map(between)
      : [
          sql`(${between(hullOf(wide))} and ${column}::bigint <@ ${multirange(wide)}::int8multirange)`,
        ];
  return [...idIn(sql, column, { ids, isBig }), ...inRanges];
}

/** True for rows whose range of two columns overlaps any of these. Rows without a range do not match. */
export function rangeOverlaps(
  sql: Sql,
  columns: { min: string; max: string },
  ranges: readonly Range[],
): Fragment[] {
  const [low, high] = [sql(columns.min), sql(columns.max)];
  const overlaps = ({ min, max }: Range) => {
    const reaches = sql`${high} >= ${Math.min(min, INT4_MAX)}`;
    return max === null ? reaches : sql`(${reaches} and ${low} <= ${Math.min(max, INT4_MAX)})`;
  };
  if (ranges.length <= COMPARED_RANGES_MAX) return ranges.map(overlaps);
  // A record may hold `9-5`.
  const stored = sql`int8range(least(${low}, ${high}), greatest(${low}, ${high}), '[]')`;
  return [
    sql`(${overlaps(hullOf(ranges))} and ${stored} && ${multirange(ranges)}::int8multirange)`,
  ];
}

/** True for rows whose column is in any of these time spans. */
export function timeIn(sql: Sql, name: string, spans: readonly Span[]): Fragment[] {
  const column = sql(name);
  const within = ({ from, until }: Span) => {
    const begun = sql`${column} >= ${from}::text::timestamp`;
    return until === null ? begun : sql`(${begun} and ${column} < ${until}::text::timestamp)`;
  };
  if (spans.length <= COMPARED_RANGES_MAX) return spans.map(within);
  const listed = `{${spans.map(({ from, until }) => `[${from},${until ?? ''})`).join(',')}}`;
  return [sql`${column}::timestamp <@ ${listed}::text::tsmultirange`];
}

/** Returns the smallest range that contains all of them. There must be at least one. */
function hullOf(ranges: readonly Range[]): Range {
  return ranges.reduce(
    (hull, { min, max }) => ({
      min: Math.min(hull.min, min),
      max: hull.max === null || max === null ? null : Math.max(hull.max, max),
    }),
    must(ranges[0], 'a range'),
  );
}

/** Formats a multirange for Postgres; ranges may overlap and be in any order. */
function multirange(ranges: readonly Range[]): string {
  return `{${ranges.map(({ min, max }) => `[${min},${max ?? ''}]`).join(',')}}`;
}
