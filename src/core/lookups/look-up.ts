/**
 * Autocomplete: what begins with the text, then what has words that begin with it, then what it may have
 * meant with small typos; the more people hold a value the earlier it stands. Case, accents and signs
 * do not matter. Ids are those that person search filters by: `positionIds`, `locationIds` (cities)
 * and `industryIds`.
 */
import type { Sql } from '../db/client.ts';
import { editDistance } from './edit-distance.ts';
import {
  type FoldedQuery,
  findAmongPopular,
  findByPrefix,
  findByWords,
  findSimilarWords,
  foldText,
  isKnownWord,
  type LookupCode,
  type LookupValue,
  listPopular,
} from './queries.ts';

/** What can be looked up, by the last part of its path. */
export const lookupKinds = ['job-titles', 'locations', 'industries'] as const;
export type LookupKind = (typeof lookupKinds)[number];

const codes: Record<LookupKind, LookupCode> = { 'job-titles': 1, locations: 2, industries: 3 };

/** Shorter words have too many neighbours to guess among. */
const TYPO_LETTERS_MIN = 4;
/** From this length on a word may hold two slips. */
const TWO_SLIPS_LETTERS_MIN = 8;
const CORRECTIONS_MAX = 3;
/** More words than anybody types; the rest is compared as it stands. */
const CORRECTED_WORDS_MAX = 4;

/** At most `limit` values for the text in the graph that `sql` sees; an empty text gives the most frequent. */
export async function lookUp(
  sql: Sql,
  kind: LookupKind,
  { text, limit }: { text: string; limit: number },
): Promise<LookupValue[]> {
  const code = codes[kind];
  if (text.trim() === '') return listPopular(sql, code, limit);
  const folded = await foldText(sql, text);
  // Nothing but signs: no name begins with that.
  if (folded === '') return [];
  const query = { code, folded, limit };
  const found = await findSpelled(sql, query);
  if (found.length >= limit) return found;
  for (const meant of await correct(sql, query)) {
    if (found.length >= limit) break;
    const known = new Set(found.map(({ id }) => id));
    const further = await findSpelled(sql, { ...query, folded: meant });
    found.push(...further.filter(({ id }) => !known.has(id)));
  }
  return found.slice(0, limit);
}

/** Values that the text fits as it is spelled. */
async function findSpelled(sql: Sql, query: FoldedQuery): Promise<LookupValue[]> {
  const { limit } = query;
  const popular = await findAmongPopular(sql, query);
  let prefixed: LookupValue[] = popular.filter((value) => value.isPrefix);
  if (prefixed.length < limit) prefixed = await findByPrefix(sql, query);
  const missing = limit - prefixed.length;
  if (missing === 0) return prefixed.map(toValue);
  let worded: LookupValue[] = popular.filter((value) => !value.isPrefix);
  if (worded.length < missing) {
    worded = await findByWords(sql, query);
  }
  return [...prefixed, ...worded.slice(0, missing)].map(toValue);
}

function toValue({ id, name, count }: LookupValue): LookupValue {
  return { id, name, count };
}

/** What the text may have meant: its words, with those that no name has replaced by near ones. */
async function correct(sql: Sql, { code, folded }: FoldedQuery): Promise<string[]> {
  let texts = [''];
  let changed = false;
  for (const [index, word] of folded.split(' ').entries()) {
    let choices = [word];
    const mayBeWrong = index < CORRECTED_WORDS_MAX && [...word].length >= TYPO_LETTERS_MIN;
    if (mayBeWrong && !(await isKnownWord(sql, code, word))) {
      choices = nearest(word, await findSimilarWords(sql, code, word));
      changed = true;
    }
    texts = texts.flatMap((text) => choices.map((choice) => `${text} ${choice}`.trim()));
    texts = texts.slice(0, CORRECTIONS_MAX);
  }
  return changed ? texts : [];
}

/** The words nearest to this one, if any is near enough. */
function nearest(word: string, candidates: readonly string[]): string[] {
  const max = [...word].length >= TWO_SLIPS_LETTERS_MIN ? 2 : 1;
  return candidates
    .map((candidate) => ({ candidate, slips: editDistance(word, candidate, max) }))
    .filter(({ slips }) => slips <= max)
    .sort((a, b) => a.slips - b.slips)
    .slice(0, CORRECTIONS_MAX)
    .map(({ candidate }) => candidate);
}
