/**
 * Compares two names of companies, in the folded form of `identifiers/company-name`, without legal forms:
 * 1. Equal names, names that differ only by words that any company may add (`UK`, `Services`), and the same
 * letters divided differently (`WorkWeave`, `Work Weave`) agree.
 * 2. Names without any distinctive word in common, nor a beginning of one, initials or an inner part, disagree.
 */
import { normaliseCompanyName } from '../identifiers/company-name.ts';
import type { Agreement } from './outcomes.ts';

/** Words that one source adds to a company's name and another leaves out. */
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

const BEGINNING_MIN = 4;
const INNER_PART_MIN = 4;

/** Returns the folded form that is compared; null for a text that is not a name. */
export function foldCompany(name: string): string | null {
  const folded = normaliseCompanyName(name);
  return 'values' in folded ? folded.values[0] : null;
}

/** Compares two results of `foldCompany`. Pure, total and symmetric. */
export function compareCompanyNames(a: string, b: string): Agreement {
  if (a === b) return 'yes';
  const compactA = a.replaceAll(' ', '');
  const compactB = b.replaceAll(' ', '');
  if (compactA === compactB) return 'yes';
  const wordsA = a.split(' ');
  const wordsB = b.split(' ');
  const distinctiveA = wordsA.filter(isDistinctive);
  const distinctiveB = wordsB.filter(isDistinctive);
  const isOnlyLonger = distinctiveA.length > 0 && distinctiveA.join(' ') === distinctiveB.join(' ');
  if (isOnlyLonger) return 'yes';
  if (!isLatin(a) || !isLatin(b) || distinctiveA.length === 0 || distinctiveB.length === 0)
    return 'unknown';
  if (holds(compactA, compactB) || holds(compactB, compactA)) return 'unknown';
  if (areInitials(compactA, wordsB) || areInitials(compactB, wordsA)) return 'unknown';
  const isNear = distinctiveA.some((word) =>
    distinctiveB.some((other) => shareBeginning(word, other)),
  );
  return isNear ? 'unknown' : 'no';
}

function isDistinctive(word: string): boolean {
  return !commonWords.has(word);
}

function isLatin(name: string): boolean {
  return !/[^a-z0-9 ]/.test(name);
}

function holds(whole: string, part: string): boolean {
  return part.length >= INNER_PART_MIN && whole.includes(part);
}

/** `ibm` and `international business machines`. */
function areInitials(short: string, words: readonly string[]): boolean {
  if (short.length < 2 || words.length < 2) return false;
  const all = words.map((word) => word.charAt(0)).join('');
  return short === all || all.startsWith(short) || (short.startsWith(all) && all.length > 1);
}

function shareBeginning(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length, BEGINNING_MIN);
  return a.slice(0, length) === b.slice(0, length);
}
