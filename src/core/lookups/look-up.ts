/**
 * Autocomplete: values that begin with the text, then values with words that begin with it, then corrections of
 * small typos; each group by the number of people who hold the value. Case, accents and punctuation do not matter.
 * Job titles are those of the positions and, from ten people on, those that people have in their own words; locations are
 * cities, regions and countries.
 */
import type { Sql } from '../db/client.ts';
import { lookupIdsFrom } from '../graph/lookup-ids.ts';
import {
  findKnownWords,
  findNamed,
  findSimilarWords,
  findSpelled,
  type LookupCode,
  type StoredValue,
} from './lookups.sql.ts';
import { nearestWords, TYPO_LETTERS_MIN } from './nearest-words.ts';

/** The kinds of lookup, by the last part of their path. */
export const lookupKinds = ['job-titles', 'locations', 'industries'] as const;
export type LookupKind = (typeof lookupKinds)[number];

const codes: Record<LookupKind, LookupCode> = { 'job-titles': 1, locations: 2, industries: 3 };

/** The types of values. Those with an id have a row of their own. */
export const lookupTypes = ['position', 'city', 'industry', 'region', 'country', 'title'] as const;
export type LookupType = (typeof lookupTypes)[number];

export interface LookupValue {
  type: LookupType;
  /** Id of the row of its type; null for a title in people's own words. */
  id: number | null;
  name: string;
  /** Number of people who hold it. */
  count: number;
}

const ownType: Record<LookupKind, LookupType> = {
  'job-titles': 'position',
  locations: 'city',
  industries: 'industry',
};

function toValue(kind: LookupKind, { id, name, count }: StoredValue): LookupValue {
  const { region, country, title } = lookupIdsFrom;
  if (id > title) return { type: 'title', id: null, name, count };
  if (id > country) return { type: 'country', id: id - country, name, count };
  if (id > region) return { type: 'region', id: id - region, name, count };
  return { type: ownType[kind], id, name, count };
}

/** Maximum number of corrected texts that are tried. */
const CORRECTIONS_MAX = 3;
/** Candidates for a wrong word: more than are tried, because some may no longer occur in names. */
const NEAREST_MAX = 12;
/** More words than people type; the rest is compared unchanged. */
const CORRECTED_WORDS_MAX = 4;

/**
 * Returns at most `limit` values for the text in the graph that `sql` sees; an empty text returns the most
 * frequent.
 */
export async function lookUp(
  sql: Sql,
  kind: LookupKind,
  { text, limit }: { text: string; limit: number },
): Promise<LookupValue[]> {
  const found = await findValues(sql, codes[kind], { text, limit });
  return found.map((value) => toValue(kind, value));
}

async function findValues(
  sql: Sql,
  code: LookupCode,
  { text, limit }: { text: string; limit: number },
): Promise<StoredValue[]> {
  const { folded, unknown, matches: found } = await findSpelled(sql, { code, text, limit });
  const words = folded.split(' ');
  const wrong = wrongWords(words, new Set(unknown));
  if (wrong.length === 0) return found;
  const similar = await findNearestWords(sql, code, wrong);
  for (const meant of correctedTexts(words, similar)) {
    if (found.length >= limit) break;
    const known = new Set(found.map(({ id }) => id));
    const further = await findSpelled(sql, { code, text: meant, limit });
    found.push(...further.matches.filter(({ id }) => !known.has(id)));
  }
  return found.slice(0, limit);
}

/**
 * Returns the positions, cities or industries of these ids, in their order, with their current names; ids without a name are left
 * out.
 */
export async function lookUpIds(
  sql: Sql,
  kind: LookupKind,
  ids: readonly number[],
): Promise<LookupValue[]> {
  const found = await findNamed(sql, codes[kind], ids);
  return found.map((value) => toValue(kind, value));
}

/** Returns for each wrong word the nearest words that occur in names. */
async function findNearestWords(
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

/** Returns the words that may be misspelt: those that occur in no name and are long enough to correct. */
export function wrongWords(words: readonly string[], unknown: ReadonlySet<string>): string[] {
  return words
    .slice(0, CORRECTED_WORDS_MAX)
    .filter((word) => unknown.has(word) && [...word].length >= TYPO_LETTERS_MIN);
}

/**
 * Returns the likely corrections of a text, nearest first: its words, with the wrong ones replaced by similar
 * ones.
 */
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
