/** Statements of the autocomplete: the search itself is the function `look_up` of the graph's schema. */
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

export interface SpelledAnswer {
  /** The text as names are compared: words between single spaces. */
  folded: string;
  /** Words of it that begin no word of any name; looked for only where values are missing. */
  unknown: string[];
  /** What begins with the text, then what has words that do, each by people, then by text and id. */
  matches: LookupValue[];
}

/** At most `limit` values that fit the text as it is spelled; an empty text gives the most frequent. */
export async function findSpelled(
  sql: Sql,
  { code, text, limit }: { code: LookupCode; text: string; limit: number },
): Promise<SpelledAnswer> {
  const [row] = await sql<SpelledAnswer[]>`
    select folded, unknown, matches from look_up(${code}, ${text}, ${limit})`;
  return must(row, 'answer of a lookup');
}

/** The values of these ids, in their order, without those that have no name. */
export async function findNamed(
  sql: Sql,
  code: LookupCode,
  ids: readonly number[],
): Promise<LookupValue[]> {
  return sql<LookupValue[]>`
    select v.id, v.name, v.people as count
    from unnest(${[...ids]}::int[]) with ordinality asked (id, place)
    join lookup_values v on v.kind = ${code} and v.id = asked.id
    where v.name <> '' order by asked.place`;
}

/**
 * For each misspelt word those that it may have been meant to be, and many further off. A word that no
 * name has any more may be among them.
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

/** Those of the words that some name has today. */
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
