/**
 * Statements of the autocomplete. Texts are folded (`fold_words`), so they hold no wildcard of LIKE.
 * Every answer is ordered by people, then by text and id.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';

/** `lookup_values.kind`; the codes of `core/graph/lookup-values`. */
export type LookupCode = 1 | 2 | 3;

export interface LookupValue {
  id: number;
  name: string;
  /** People who hold it. */
  count: number;
}

export interface FoldedQuery {
  code: LookupCode;
  /** Folded words between single spaces; not empty. */
  folded: string;
  limit: number;
}

/** Where the range of texts that begin with this one ends: the last character there is, and beyond. */
const afterAll = '\u{10ffff}';

/** The text as names are compared. */
export async function foldText(sql: Sql, text: string): Promise<string> {
  const [row] = await sql<{ folded: string }[]>`select fold_words(${text}) as folded`;
  return must(row, 'folded text').folded;
}

/** The values that most people hold. */
export async function listPopular(
  sql: Sql,
  code: LookupCode,
  limit: number,
): Promise<LookupValue[]> {
  return sql<LookupValue[]>`
    select id, name, people as count from lookup_values
    where kind = ${code} and name <> '' order by people desc, folded, id limit ${limit}`;
}

/** How many of the most frequent values are looked through before an index for the text is used. */
const POPULAR_ROWS = 2000;

/**
 * Among the most frequent values: those that begin with the text (`isPrefix`) and those in which its
 * words begin words, at most `limit` of each. A text that fits many values has all its answers here.
 */
export async function findAmongPopular(
  sql: Sql,
  { code, folded, limit }: FoldedQuery,
): Promise<(LookupValue & { isPrefix: boolean })[]> {
  return sql<(LookupValue & { isPrefix: boolean })[]>`
    with popular as (
      select id, folded, people from lookup_values
      where kind = ${code} and name <> '' order by people desc, folded, id limit ${POPULAR_ROWS}),
    found as (
      select id, starts_with(folded, ${folded}) as is_prefix, row_number() over (
        partition by starts_with(folded, ${folded}) order by people desc, folded, id) as place
      from popular where ' ' || folded like ${wordStarts(folded)})
    select v.id, v.name, v.people as count, f.is_prefix
    from found f cross join lateral (
      select * from lookup_values where kind = ${code} and id = f.id limit 1) v
    where f.place <= ${limit} order by f.is_prefix desc, v.people desc, v.folded, v.id`;
}

/** Values that begin with the text. */
export async function findByPrefix(
  sql: Sql,
  { code, folded, limit }: FoldedQuery,
): Promise<LookupValue[]> {
  return sql<LookupValue[]>`
    select id, name, people as count from lookup_values
    where kind = ${code} and name <> ''
      and folded >= ${folded} and folded < ${folded + afterAll}
    order by people desc, folded, id limit ${limit}`;
}

/** Values with a word that is asked for are read up to this many; who fits more was among the popular. */
const WORD_ROWS = 2000;
/** Stored words are cut to this many characters. */
const WORD_LENGTH_MAX = 60;

/**
 * Values in which the words of the text begin words, in their order, but that do not begin with the text
 * itself. Read by way of the rarest of its words. The lateral joins keep the planner, which cannot know
 * how rare a word is, from reading the whole table.
 */
export async function findByWords(
  sql: Sql,
  { code, folded, limit }: FoldedQuery,
): Promise<LookupValue[]> {
  const words = folded.split(' ').map((word) => word.slice(0, WORD_LENGTH_MAX));
  return sql<LookupValue[]>`
    with rarest as (
      select asked.word from unnest(${words}::text[]) as asked (word)
      order by (select count(*) from (
        select from lookup_words w where w.kind = ${code} and w.word >= asked.word collate "C"
          and w.word < (asked.word || ${afterAll}) collate "C" limit ${WORD_ROWS}) rows)
      limit 1),
    candidate as materialized (
      select distinct found.id from rarest cross join lateral (
        select w.id from lookup_words w where w.kind = ${code}
          and w.word >= rarest.word collate "C"
          and w.word < (rarest.word || ${afterAll}) collate "C"
        order by w.word, w.id limit ${WORD_ROWS}) found)
    select v.id, v.name, v.people as count
    from candidate c cross join lateral (
      select * from lookup_values where kind = ${code} and id = c.id limit 1) v
    where ' ' || v.folded like ${wordStarts(folded)} and not starts_with(v.folded, ${folded})
    order by v.people desc, v.folded, v.id limit ${limit}`;
}

/** True when some name has a word that begins with this one. */
export async function isKnownWord(sql: Sql, code: LookupCode, word: string): Promise<boolean> {
  const [row] = await sql<{ known: boolean }[]>`
    select exists (select from lookup_vocabulary
      where kind = ${code} and word >= ${word} and word < ${word + afterAll}) as known`;
  return row?.known ?? false;
}

/** Words of names that share enough trigrams with this one to be what it may have meant. */
export async function findSimilarWords(
  sql: Sql,
  code: LookupCode,
  word: string,
): Promise<string[]> {
  const rows = await sql<{ word: string }[]>`select word from similar_words(${code}, ${word})`;
  return rows.map((row) => row.word);
}

/** The pattern that ` text` fits when the words of the query begin words of it, in their order. */
function wordStarts(folded: string): string {
  return `% ${folded.replaceAll(' ', '% ')}%`;
}
