/** Compares two company names word by word and says how they relate. Pure and total. */
import { branchWords, type CompanyName, endWords, groupWords, kindWords } from './company-words.ts';
import { soundAlike } from './latin.ts';
import { isOneSlip } from './slips.ts';

/** Relations of two company names, best first. */
export const companyLevels = [
  'same',
  'equal',
  'order',
  'spaced',
  'abbreviated',
  'slip',
  'branch',
  'group',
  'kind',
  'acronym',
  'shorter',
  'longer',
  'overlap',
  'none',
] as const;
export type CompanyLevel = (typeof companyLevels)[number];

export interface CompanyRelation {
  level: CompanyLevel;
  /** Legal forms: equal, absent on one side, or different ones. */
  form: 'equal' | 'one_side' | 'differ';
  /** The words that both have, for their frequency. */
  shared: readonly string[];
  /** The words that one side alone has. */
  apart: readonly string[];
  /** The listed word that was taken for a slip of another; '' for none. */
  slipped: string;
}

const SLIP_MIN = 4;
const SLIP_JOINED_MIN = 5;

/** The listed name compared last, with its relations: the candidates of one row often have one employer. */
let listed: CompanyName | null = null;
const related = new Map<CompanyName, CompanyRelation>();

/** Relates a listed name with one stored name. */
export function relateCompanies(a: CompanyName, b: CompanyName): CompanyRelation {
  if (a !== listed) {
    listed = a;
    related.clear();
  }
  const known = related.get(b);
  if (known !== undefined) return known;
  const relation = relate(a, b);
  related.set(b, relation);
  return relation;
}

const wholeLevels: ReadonlySet<CompanyLevel> = new Set(['same', 'equal', 'order', 'spaced']);

/**
 * Returns true for a listed name that states a legal form or a part of a group which no name of a company has: `Acme Holdings` is
 * not `Acme Group Ltd`, and `Acme Ltd` not `Acme Group Ltd`. `Acme` alone states nothing, and may be either. A name that begins
 * with such a word is another one without it: `Company Shop Ltd` is not `Shop Ltd`.
 */
export function isStatedApart(listed: CompanyName, names: readonly CompanyName[]): boolean {
  let isApart = false;
  for (const name of names) {
    const { level, form, apart } = relateCompanies(listed, name);
    const isWhole = wholeLevels.has(level);
    const isBegun =
      apart.length > 0 &&
      apart.every((word) => endWords.has(word)) &&
      beginsWith(listed) !== beginsWith(name);
    if (isBegun) isApart = true;
    if (isBegun || (!isWhole && level !== 'group')) continue;
    const isStated = listed.forms.length > 0 || apart.some((word) => listed.words.includes(word));
    if (form === 'differ' || (!isWhole && isStated)) isApart = true;
    else return false;
  }
  return isApart;
}

/** The word at the beginning of a name that other names end with; '' for none. */
export function beginsWith({ words }: CompanyName): string {
  const [first = ''] = words;
  return endWords.has(first) ? first : '';
}

function relate(a: CompanyName, b: CompanyName): CompanyRelation {
  const form = relateForms(a.forms, b.forms);
  const whole = (level: CompanyLevel) => ({ level, form, shared: b.words, apart: [], slipped: '' });
  if (a.whole === b.whole) return { ...whole('same'), form: 'equal' };
  const isOther = a.letters !== b.letters;
  if (!isOther && a.joined === b.joined) {
    return whole(isSameList(a.words, b.words) ? 'equal' : 'spaced');
  }
  if (!isOther && isSameList(a.words, b.words)) return whole('equal');
  if (a.solid === b.solid) return whole('spaced');
  const words = isOther
    ? relateWordLists([...a.words, ...a.letters], [...b.words, ...b.letters])
    : relateWordLists(a.words, b.words);
  const { shared, ours, theirs, slips, short, slipped } = words;
  const apart = [...ours, ...theirs];
  if (apart.length === 0) {
    // A beginning alone is another name: `Aqua` is not `Aquavit`.
    const isShort = short > 0 && shared.length > short;
    const whole = short > 0 ? (isShort ? 'abbreviated' : 'overlap') : 'order';
    const level: CompanyLevel = slips > 1 ? 'overlap' : slips === 1 ? 'slip' : whole;
    return { level, form, shared, apart, slipped };
  }
  if (isLongSlip(a.joined, b.joined) && isOfLetters(apart))
    return { ...whole('slip'), shared, slipped: ours[0] ?? '' };
  if (isAcronym(a, b) || isAcronym(b, a)) return { ...whole('acronym'), shared: [] };
  if (shared.length === 0 || slips > 1) return { level: 'none', form, shared, apart, slipped };
  if (apart.every((word) => branchWords.has(word)))
    return { level: 'branch', form, shared, apart, slipped };
  if (apart.every((word) => groupWords.has(word) || branchWords.has(word))) {
    return { level: 'group', form, shared, apart, slipped };
  }
  if (apart.every((word) => kindWords.has(word)))
    return { level: 'kind', form, shared, apart, slipped };
  if (ours.length === 0) return { level: 'shorter', form, shared, apart, slipped };
  if (theirs.length === 0) return { level: 'longer', form, shared, apart, slipped };
  return { level: 'overlap', form, shared, apart, slipped };
}

function isLongSlip(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= SLIP_JOINED_MIN && isOneSlip(a, b);
}

/** True when a word that only one of the names has may be misspelt. */
function isOfLetters(apart: readonly string[]): boolean {
  return apart.some((word) => word.length >= SLIP_MIN) && !apart.some((word) => NUMBER.test(word));
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index]);
}

/** Forms without those that say nothing of the law. */
export function tellingForms(forms: readonly string[]): readonly string[] {
  return forms.filter((form) => form !== 'co' && form !== 'and');
}

function relateForms(a: readonly string[], b: readonly string[]): CompanyRelation['form'] {
  const ours = tellingForms(a);
  const theirs = tellingForms(b);
  if (ours.length === 0 && theirs.length === 0) return 'equal';
  if (ours.length === 0 || theirs.length === 0) return 'one_side';
  return ours.some((form) => theirs.includes(form)) ? 'equal' : 'differ';
}

interface WordLists {
  shared: string[];
  ours: string[];
  theirs: string[];
  slips: number;
  slipped: string;
  short: number;
}

function relateWordLists(a: readonly string[], b: readonly string[]): WordLists {
  const left = [...b];
  const shared: string[] = [];
  const rest: string[] = [];
  for (const word of a) {
    const index = left.indexOf(word);
    if (index === -1) rest.push(word);
    else shared.push(...left.splice(index, 1));
  }
  let slips = 0;
  let slipped = '';
  let short = 0;
  const ours: string[] = [];
  for (const word of rest) {
    const index = left.findIndex((other) => isAlike(word, other));
    if (index !== -1) {
      slips += 1;
      slipped = word;
      shared.push(...left.splice(index, 1));
      continue;
    }
    const start = left.findIndex((other) => isStart(word, other) || isStart(other, word));
    if (start === -1) ours.push(word);
    else {
      short += 1;
      shared.push(...left.splice(start, 1));
    }
  }
  return { shared, ours, theirs: left, slips, slipped, short };
}

/** Digits, and Roman numerals up to 39: `Fund VII` is not `Fund VIII`. */
const NUMBER = /\d|^(?=.)x{0,3}(?:ix|iv|v?i{0,3})$/;

function isAlike(a: string, b: string): boolean {
  if (Math.min(a.length, b.length) < SLIP_MIN) return false;
  return (isOneSlip(a, b) || soundAlike(a, b)) && !NUMBER.test(a) && !NUMBER.test(b);
}

const START_MIN = 4;

/** `Techn` of `technology`. */
function isStart(short: string, word: string): boolean {
  return (
    short.length >= START_MIN &&
    word.length >= short.length + 2 &&
    word.startsWith(short) &&
    !NUMBER.test(word)
  );
}

const ACRONYM_MIN = 2;

/** `NYMC` of `New York Medical College`. */
function isAcronym(short: CompanyName, long: CompanyName): boolean {
  const { joined, words } = short;
  if (words.length !== 1 || joined.length < ACRONYM_MIN || long.words.length < 2) return false;
  const initials = (text: readonly string[]) => text.map((word) => word[0] ?? '').join('');
  return initials(long.words) === joined || initials(long.whole.split(' ')) === joined;
}
