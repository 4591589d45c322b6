/**
 * Autocomplete: what begins with the text, then what has words that begin with it, then what it may have
 * meant with small typos; the more people hold a value the earlier it stands. Case, accents and signs
 * do not matter. Ids are those that person search filters by: `positionIds`, `locationIds` (cities)
 * and `industryIds`.
 */
import type { Sql } from '../db/client.ts';
import {
  findKnownWords,
  findNamed,
  findSimilarWords,
  findSpelled,
  type LookupCode,
  type LookupValue,
} from './lookups.sql.ts';
import { nearestWords, TYPO_LETTERS_MIN } from './nearest-words.ts';

/** What can be looked up, by the last part of its path. */
export const lookupKinds = ['job-titles', 'locations', 'industries'] as const;
export type LookupKind = (typeof lookupKinds)[number];

const codes: Record<LookupKind, LookupCode> = { 'job-titles': 1, locations: 2, industries: 3 };

/** Texts that are tried for a misspelt one. */
const CORRECTIONS_MAX = 3;
/** Words looked at for a wrong one: more than are tried, as names may have lost some. */
const NEAREST_MAX = 12;
/** More words than anybody types; the rest is compared as it stands. */
const CORRECTED_WORDS_MAX = 4;

/** At most `limit` values for the text in the graph that `sql` sees; an empty text gives the most frequent. */
export async function lookUp(
  sql: Sql,
  kind: LookupKind,
  { text, limit }: { text: string; limit: number },
): Promise<LookupValue[]> {
  const code = codes[kind];
  const { folded, unknown, matches: found } = await findSpelled(sql, { code, text, limit });
  const words = folded.split(' ');
  const wrong = wrongWords(words, new Set(unknown));
  if (wrong.length === 0) return found;
  const similar = await findMeantWords(sql, code, wrong);
  for (const meant of correctedTexts(words, similar)) {
    if (found.length >= limit) break;
    const known = new Set(found.map(({ id }) => id));
    const further = await findSpelled(sql, { code, text: meant, limit });
    found.push(...further.matches.filter(({ id }) => !known.has(id)));
  }
  return found.slice(0, limit);
}

/** The values of these ids, in their order, as the graph names them now; an id without a name has none. */
export function lookUpIds(
  sql: Sql,
  kind: LookupKind,
  ids: readonly number[],
): Promise<LookupValue[]> {
  return findNamed(sql, codes[kind], ids);
}

/** For each wrong word the nearest words that names have. */
async function findMeantWords(
  sql: Sql,
  code: LookupCode,
  wrong: readonly string[],
): Promise<Map<string, string[]>> {
  const similar = await findSimilarWords(sql, code, wrong);
  const nearest = new Map(
    [...similar].map(([word, words]) => [word, nearestWords(word, words, NEAREST_MAX)]),
  );
  const all = [...nearest.values()].flat();
  const known = all.length === 0 ? new Set() : await findKnownWords(sql, code, all);
  return new Map([...nearest].map(([word, words]) => [word, words.filter((w) => known.has(w))]));
}

/** The words of a text that may be misspelt: those that no name has and that are not too short to guess. */
export function wrongWords(words: readonly string[], unknown: ReadonlySet<string>): string[] {
  return words
    .slice(0, CORRECTED_WORDS_MAX)
    .filter((word) => unknown.has(word) && [...word].length >= TYPO_LETTERS_MIN);
}

/** What the text may have meant, nearest first: its words, with the wrong ones replaced by similar ones. */
export function correctedTexts(
  words: readonly string[],
  similar: ReadonlyMap<string, readonly string[]>,
): string[] {
  let texts = [''];
  for (const [index, word] of words.entries()) {
    const candidates = index < CORRECTED_WORDS_MAX ? similar.get(word) : undefined;
    const choices =
      candidates === undefined ? [word] : nearestWords(word, candidates, CORRECTIONS_MAX);
    texts = texts.flatMap((text) => choices.map((choice) => `${text} ${choice}`.trim()));
    texts = texts.slice(0, CORRECTIONS_MAX);
  }
  return texts;
}
