/**
 * Whether two names can be one company's. Compared in the folded form of
 * `identifiers/company-name`, without legal forms:
 * 1. Equal names, names that differ only by words that any company may add (`UK`, `Services`),
 *    and the same letters cut otherwise (`WorkWeave`, `Work Weave`) speak for it.
 * 2. Names without any telling word in common, nor a beginning of one, initials or an inner part,
 *    speak against it.
 */
import { normaliseCompanyName } from '../identifiers/company-name.ts';
import type { Agreement } from './compare-person-names.ts';

/** Words by which sources write one company at different length. */
const commonWords: ReadonlySet<string> = new Set(
  `and of for in at by de la le et und y e di der services service solutions international global
   worldwide uk usa us gb europe european america american north south east west national
   technologies technology
   tech systems system software labs lab digital online industries industrial partners partnership
   capital financial finance bank insurance management consulting consultants university college
   school institute hospital trust foundation association council society centre center house
   energy health healthcare care medical media studio studios agency design retail products
   enterprises ventures operations trading engineering construction logistics transport city
   county department office government ministry state federal public royal new first`.split(/\s+/),
);

const beginningMin = 4;
const innerPartMin = 4;

/** A folded name as it is compared; null for a text that is no name. */
export function foldCompany(name: string): string | null {
  const folded = normaliseCompanyName(name);
  return 'values' in folded ? folded.values[0] : null;
}

/** Compares two names that `foldCompany` gave. Pure, total and symmetric. */
export function compareCompanyNames(a: string, b: string): Agreement {
  if (a === b) return 'yes';
  const compactA = a.replaceAll(' ', '');
  const compactB = b.replaceAll(' ', '');
  if (compactA === compactB) return 'yes';
  const wordsA = a.split(' ');
  const wordsB = b.split(' ');
  const tellingA = wordsA.filter(isTelling);
  const tellingB = wordsB.filter(isTelling);
  const isOnlyLonger = tellingA.length > 0 && tellingA.join(' ') === tellingB.join(' ');
  if (isOnlyLonger) return 'yes';
  if (!isLatin(a) || !isLatin(b) || tellingA.length === 0 || tellingB.length === 0)
    return 'unknown';
  if (holds(compactA, compactB) || holds(compactB, compactA)) return 'unknown';
  if (areInitials(compactA, wordsB) || areInitials(compactB, wordsA)) return 'unknown';
  const isNear = tellingA.some((word) => tellingB.some((other) => beginsAlike(word, other)));
  return isNear ? 'unknown' : 'no';
}

function isTelling(word: string): boolean {
  return !commonWords.has(word);
}

function isLatin(name: string): boolean {
  return !/[^a-z0-9 ]/.test(name);
}

function holds(whole: string, part: string): boolean {
  return part.length >= innerPartMin && whole.includes(part);
}

/** `ibm` and `international business machines`. */
function areInitials(short: string, words: readonly string[]): boolean {
  if (short.length < 2 || words.length < 2) return false;
  const all = words.map((word) => word.charAt(0)).join('');
  return short === all || all.startsWith(short) || (short.startsWith(all) && all.length > 1);
}

function beginsAlike(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length, beginningMin);
  return a.slice(0, length) === b.slice(0, length);
}
