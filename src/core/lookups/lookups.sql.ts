/** Statements of the autocomplete. The search itself is the function `look_up` of the graph's schema. */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';

/** `lookup_values.kind`; the codes of `core/graph/lookup-values`. */
export type LookupCode = 1 | 2 | 3;

/** A row of `lookup_values`; `core/graph/lookup-values` has the ranges of ids. */
export interface StoredValue {
  id: number;
  name: string;
  /** Number of people who hold it. */
  count: number;
}

export interface SpelledAnswer {
  /** The text in the form in which names are compared: words separated by single spaces. */
  folded: string;
  /** Its words that begin no word of any name; determined only when there are fewer matches than asked for. */
  unknown: string[];
  /** Values that begin with the text, then values with words that do, each by people, then by text and id. */
  matches: StoredValue[];
}

/** Returns at most `limit` values that match the text as spelled; an empty text returns the most frequent. */
export async function findSpelled(
  sql: Sql,
  { code, text, limit }: { code: LookupCode; text: string; limit: number },
): Promise<SpelledAnswer> {
  const [row] = await sql<SpelledAnswer[]>`
    select folded, unknown, matches from look_up(${code}, ${text}, ${limit})`;
  return must(row, 'result of a lookup');
}

/** Returns the values of these ids, in their order, without those that have no name. */
export async function findNamed(
  sql: Sql,
  code: LookupCode,
  ids: readonly number[],
): Promise<StoredValue[]> {
  return sql<StoredValue[]>`
    select v.id, v.name, v.people as count
    from unnest(${[...ids]}::bigint[]) with ordinality asked (id, place)
    join lookup_values v on v.kind = ${code} and v.id = asked.id
    where v.name <> '' order by asked.place`;
}

/**
 * Returns for each misspelt word its candidates, including many distant ones. Words that occur in no name any more
 * may be among them.
 */
export async function findSimilarWords(
  sql: Sql,
  code: LookupCode,
  words: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await sql<{ asked: string; similarOnes: string | null }[]>`
    select asked, similar_ones from similar_words(${code}, ${[...words]})`;
  return new Map(rows.map(({ asked, similarOnes }) => [asked, similarOnes?.split(' ') ?? []]));
}

/** Returns those of the words that occur in a name today. */
export async function findKnownWords(
  sql: Sql,
  code: LookupCode,
  words: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ word: string }[]>`
    select asked.word from unnest(${[...words]}::text[]) asked (word)
    where exists (select from lookup_words w where w.kind = ${code} and w.word = asked.word)`;
  return new Set(rows.map(({ word }) => word));
}
