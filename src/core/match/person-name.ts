/**
 * Reads a person's name as written: titles and degrees away, the words in Latin letters, the family name apart when the
 * text says which it is (`Smith, J.`, two columns). Sources disagree on order and division, so a name is otherwise a
 * list of words.
 */
import { isPartOfName } from '../identifiers/company-name.ts';
import { foldUnicode } from '../identifiers/normalised.ts';
import { isAscii, toLatin } from './latin.ts';
import {
  companyForms,
  companyWords,
  generations,
  jobWords,
  lettersOfDegrees,
  namesToo,
  nonPersons,
  particles,
  partsOfDegrees,
  ranks,
  suffixedNames,
  suffixes,
  titles,
  titlesAlone,
} from './name-words.ts';

export interface NameWord {
  text: string;
  /** The word with the particles before it: `vandeputte` of `Van de Putte`; otherwise the same text. */
  joined: string;
}

export interface PersonName {
  words: readonly NameWord[];
  /** The first `family` words are the family name, by the text itself or by its column; 0 when not stated. */
  family: number;
  /** Names in brackets or quotation marks, which may stand for the given name: `Gabriel (Gabe)`. */
  also: readonly string[];
  /** `jr`, `sr`, `ii` and so on, as in `John Smith Jr.`; '' for none. */
  generation: string;
  /** The first letter of a degree behind a whole name, which may be an initial: `m` of `Garcia Lopez, M. A.`. */
  degree?: string;
  /** The same name when words that may be given names are titles and degrees: `John Carter` of `Earl John Carter`. */
  untitled?: PersonName;
}

/** Reasons why a cell is not a person's name. */
export type NotAName =
  | 'empty_name'
  | 'not_a_name'
  | 'name_too_short'
  | 'name_too_long'
  | 'name_is_a_title'
  | 'name_is_a_company';

/** Words beside a name that may be names themselves. */
interface MayName {
  titles: ReadonlySet<string>;
  /** Behind a family name and a comma, when nothing else is: `Rahman, Md`. */
  suffixes: ReadonlySet<string>;
  /** True for two columns, of which the family name comes first. */
  isDivided: boolean;
}
const inCell: MayName = {
  titles: namesToo,
  suffixes: suffixedNames,
  isDivided: false,
};
const inColumns: MayName = { titles: namesToo, suffixes, isDivided: true };
const nowhere: MayName = { titles: new Set(), suffixes: new Set(), isDivided: false };

/** True for a word that may precede a family name: `van`, `da`. */
export function isParticle(word: string): boolean {
  return particles.has(word);
}

const CHARACTERS_MAX = 200;
const WORDS_MAX = 10;
/** Words that the letters of a degree make: `M.B.B.S.`. */
const LETTERS_MAX = 4;
const LETTER = /\p{L}/u;
const NOT_OF_A_NAME = /[@\d_#<>{}\\|=]|https?:|www\./;
const WORDS_OF_SCRIPT = /[\p{L}\p{M}]+/gu;
/** Faster than the above, for most texts. */
const WORDS_OF_ASCII = /[a-z]+/g;
/**
 * Titles whose letters are also a name's, told by their dots: `Hon.` is no given name. The last word of a name is no title, and
 * `B.Eng.` is a degree.
 */
const SHORT_TITLES =
  /(?<![\p{L}\p{M}]|(?<!\p{L})[bm]\.\s?)(?:h\. ?c\.(?: mult\.)?|(?:arch|col|eng|gen|hon|ing|mag|maj|sen|sig)\.(?:(?=\s*\S)|(?<=[,;]\s*\p{L}+\.)))/giu;
const ALSO =
  /["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]+)["\u201c\u201d]|\(([^)]*)\)|(?<=\s)'([^']+)'(?=\s|$)/g;
/** A whole name in quotation marks is not the short form of another. */
const QUOTED = /^\s*["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]+)["\u201c\u201d]\s*$/;

/**
 * A word that was cut before others, or of which a sign hides letters: at the end, one star is a note, but not behind a single
 * letter.
 */
const PART_INSIDE =
  /[…‥⋯]|\.\s?\.\s?\.|\p{L}{3}\.\.|\p{L}\*+\s*\p{L}|(?<!\p{L}|\p{L}{2}['’])\p{L}\*|\p{L}[•∗]+\p{L}/u;
/** In place of letters that a program could not write, `J?rgen`, and between letters what is not seen, such as a soft hyphen. */
const NO_LETTERS = /(?<=\p{L})[?\ufffd]+(?=\p{L})|\p{Cf}+/gu;
const LOST_LETTER = /\p{L}[?\ufffd]|[?\ufffd]\p{L}/u;

/**
 * True for a name that was cut, `Anna Peters...`, or partly hidden, `A*** Peters`: the whole one may be another person's, such as
 * `Anna Petersen`.
 */
export function isPartOfPersonName(text: string): boolean {
  return PART_INSIDE.test(text) || PART_INSIDE.test(foldUnicode(text)) || isPartOfName(text);
}

/** True for a name in which a program lost letters: `Bj?rn ?str?m`. */
export function hasLostLetter(text: string): boolean {
  return LOST_LETTER.test(text);
}

/** Returns the text as if the letters that it lost had never been: as a misspelt word, not as an initial and another one. */
export function joinLostLetters(text: string): string {
  return text.replace(NO_LETTERS, '');
}

/** Returns the words of a text: folded, without punctuation; apostrophes join, and so do lost letters. */
export function splitWords(text: string): string[] {
  const latin = toLatin(joinLostLetters(text)).replaceAll("'", '');
  return latin.match(isAscii(latin) ? WORDS_OF_ASCII : WORDS_OF_SCRIPT) ?? [];
}

/**
 * Reads a name in one cell, or returns the reason why it is not a name. `stored` reads a name of the graph, which is never
 * refused for its words.
 */
export function readPersonName(text: string, stored = false): PersonName | NotAName {
  if (stored && PLAIN_WORD.test(text))
    return { words: [wordOf(text.toLowerCase())], family: 0, also: [], generation: '' };
  return readBothWays(text, stored, inCell);
}

/** Reads a name; also as one of which the words that may be names are none. */
function readBothWays(text: string, stored: boolean, may: MayName): PersonName | NotAName {
  const name = readOneWay(text, stored, may);
  if (typeof name === 'string') return name;
  const mayBeNone = ({ text }: NameWord) => may.titles.has(text) || may.suffixes.has(text);
  if (!name.words.some(mayBeNone)) return name;
  const untitled = readOneWay(text, stored, nowhere);
  const isLess = typeof untitled === 'object' && untitled.words.length < name.words.length;
  return isLess ? { ...name, untitled } : name;
}

function readOneWay(text: string, stored: boolean, may: MayName): PersonName | NotAName {
  if (text.trim() === '') return 'empty_name';
  if (text.length > CHARACTERS_MAX) return 'name_too_long';
  if (!LETTER.test(text)) return 'not_a_name';
  if (!stored && (NOT_OF_A_NAME.test(text) || isPartOfPersonName(text))) return 'not_a_name';
  const { plain, also } = splitShortForms(
    text.replace(QUOTED, '$1').replace(SHORT_TITLES, ' '),
    stored,
    may,
  );
  const { first, second } = splitAtComma(plain, may);
  const isStated = second.length > 0;
  const family = withoutTitles(first, may, isStated);
  const ours = [...family, ...withoutTitles(second, may)];
  if (ours.length === 0) return stored ? 'not_a_name' : reasonOf(splitWords(text));
  if (ours.length > WORDS_MAX) return 'name_too_long';
  if (!stored) {
    const reason = refuse(ours, splitWords(text));
    if (reason !== null) return reason;
  }
  const stated = isStated ? family.length : 0;
  const before = joinParticles(ours.slice(0, stated), false);
  const after = joinParticles(ours.slice(stated), !stored);
  const all = splitWords(plain);
  // `Sr. Garcia` begins with a title.
  const generation = generationOf(all.slice(1));
  const isLost = (word = '') => word.length === 1 && !ours.includes(word);
  const degree = all.find((word, index) => isLost(word) && isLost(all[index + 1]));
  return {
    words: [...before, ...after],
    family: before.length,
    also,
    generation,
    ...(degree !== undefined && { degree }),
  };
}

/** Takes the names in brackets and quotation marks out of a text; in `Smith (Bob)`, they are the only given ones, and stay. */
function splitShortForms(
  text: string,
  stored: boolean,
  may: MayName,
): { plain: string; also: string[] } {
  const also: string[] = [];
  const plain = text.replace(ALSO, (_, quoted?: string, bracketed?: string, single?: string) => {
    also.push(...splitWords(quoted ?? bracketed ?? single ?? '').filter((word) => word.length > 1));
    return ' ';
  });
  if (stored || !also.some(isOfName)) return { plain, also };
  const isAlone = isOneName(plain) || (may.isDivided && /,\s*$/.test(plain));
  return isAlone ? { plain: text.replace(ALSO, ' $1$2$3 '), also: [] } : { plain, also };
}

/** A stored name that is read faster: one word of letters without accents. */
const PLAIN_WORD = /^[A-Za-z]{1,50}$/;

/** Returns the generation that one of the words states; '' for none. */
export function generationOf(all: Iterable<string>): string {
  for (const word of all) {
    const generation = generations.get(word);
    if (generation !== undefined) return generation;
  }
  return '';
}

/** Returns a word without particles. */
export function wordOf(text: string): NameWord {
  return { text, joined: text };
}

/** Reads a name in two cells. */
export function readNameColumns(given: string, family: string): PersonName | NotAName {
  if (given.trim() === '' || family.trim() === '') return readPersonName(`${given} ${family}`);
  // A comma in a column is not the one between family name and given name.
  const text = `${family.replaceAll(',', ' ')}, ${given.replaceAll(',', ' ')}`;
  return readBothWays(text, false, inColumns);
}

/**
 * Splits `Smith, John`; a part of titles and degrees after a comma is left out, but not a word that may be a name. Behind a family
 * name `Lady Anna` is a given name with its title, behind a whole name `Lady Leeds` is none.
 */
function splitAtComma(text: string, may: MayName): { first: string[]; second: string[] } {
  const cells = text.split(/[,;]/);
  const parts = cells.map(splitWords);
  const isBehindFamily = cells.length > 1 && (may.isDivided || isOneName(cells[0] ?? ''));
  const isNamePart = (part: readonly string[]) =>
    !isDegrees(part) &&
    part.some((word) => may.titles.has(word) || (!titles.has(word) && !suffixes.has(word))) &&
    (!ranks.has(part[0] ?? '') ||
      ((isBehindFamily || may.titles.has(part[0] ?? '')) && !part.includes('of')));
  const [first = [], ...others] = parts.filter(
    (part, index) => part.length > 0 && (index === 0 || isNamePart(part)),
  );
  const isSpare = (part: readonly string[]) =>
    part.some((word) => may.suffixes.has(word) || (isDegrees(part) && !suffixes.has(word)));
  // `Rahman, Md` and `Vance, J.D.`; in `Smith, MD, John` the name behind the degree comes first.
  const spare = isBehindFamily ? parts.slice(1).find(isSpare) : undefined;
  const [second = spare ?? []] = others;
  return { first, second };
}

/** False for a title, a degree and a particle: `dr`, `md`, `van`. */
export function isOfName(word: string): boolean {
  return ![particles, suffixes, titles].some((set) => set.has(word));
}

/** As written: `Smith-Jones`, `van Dyke` and `Smith Jr.` are one each. */
function isOneName(text: string): boolean {
  const names = text.split(/\s+/).filter((name) => splitWords(name).some(isOfName));
  return names.length === 1 || splitWords(text).length === 1;
}

/** `Prince K.` begins with a given name, and `Earl Carter` with a title that may be one. */
function withoutTitles(all: readonly string[], may: MayName, isFamily = false): string[] {
  let from = 0;
  const isTitle = () => titles.has(all[from] ?? '') && !isInitialBefore(all, from);
  const isName = () =>
    may.titles.has(all[from] ?? '') ||
    (namesToo.has(all[from] ?? '') && all.slice(from + 1).every((word) => word.length === 1));
  while (all.length - from > 1 && isTitle() && !isName()) from += 1;
  return withoutDegrees(all.slice(from), isFamily);
}

function withoutDegrees(all: readonly string[], isFamily: boolean): string[] {
  let to = all.length;
  for (;;) {
    const length = degreeBefore(all, to);
    const isName = length === 1 ? !isFamily && !isSuffixAt(all, to) : !isFamily && to - length < 2;
    if (length === 0 || to - length < 1 || isName) return all.slice(0, to);
    to -= length;
  }
}

/** True for words that are nothing but degrees: `MD`, `Ph. D.`, `M.D. MBA`. */
function isDegrees(part: readonly string[]): boolean {
  let to = part.length;
  for (let length = degreeBefore(part, to); length > 0; length = degreeBefore(part, to)) {
    to -= length;
  }
  return to === 0;
}

/** Returns how many words before an index are one suffix: one, or the letters of a degree; 0 for none. */
function degreeBefore(all: readonly string[], to: number): number {
  if (suffixes.has(all[to - 1] ?? '')) return 1;
  for (let length = Math.min(LETTERS_MAX, to); length > 1; length--) {
    const parts = all.slice(to - length, to);
    if (parts.some((part) => part.length > 1 && !partsOfDegrees.has(part))) continue;
    const joined = parts.join('');
    const isDegree = suffixes.has(joined) && !generations.has(joined);
    if (isDegree || lettersOfDegrees.has(joined)) return length;
  }
  return 0;
}

/** `M Masango` begins with an initial, `h c mult Prof` with a title of single letters. */
function isInitialBefore(all: readonly string[], from: number): boolean {
  return (all[from] ?? '').length === 1 && (all[from + 1] ?? '').length !== 1 && from === 0;
}

/** The initial `V` or a short surname such as `Ma` at the end of two words is a name. */
function isSuffixAt(all: readonly string[], to: number): boolean {
  const word = all[to - 1] ?? '';
  return word.length > 2 || to > 2 || word === 'jr' || word === 'sr' || word === 'ii';
}

/** `Ben Smith` begins with a given name, though `ben` joins the words of others: see `isFirst`. */
function joinParticles(all: readonly string[], isFirst: boolean): NameWord[] {
  const joined: NameWord[] = [];
  let before = '';
  for (const [index, text] of all.entries()) {
    if (particles.has(text) && index < all.length - 1 && (index > 0 || !isFirst)) {
      before += text;
      continue;
    }
    joined.push({ text, joined: before + text });
    before = '';
  }
  return joined;
}

function refuse(ours: readonly string[], all: readonly string[]): NotAName | null {
  const letters = ours.reduce((sum, word) => sum + word.length, 0);
  if (letters < 2 || (ours.every((word) => word.length === 1) && /^[a-z]/.test(ours[0] ?? ''))) {
    return 'name_too_short';
  }
  return isNoPerson(ours) ? 'not_a_name' : reasonByWords(all);
}

function isNoPerson(ours: readonly string[]): boolean {
  return ours.every((word) => nonPersons.has(word)) || new Set(ours).size * 3 <= ours.length;
}

function reasonByWords(all: readonly string[]): NotAName | null {
  if (all.length === 1 && titlesAlone.has(all[0] ?? '')) return 'name_is_a_title';
  const telling = all.filter((word) => companyWords.has(word)).length;
  const isOf = all.some((word, index) => companyWords.has(word) && all[index + 1] === 'of');
  if (telling > 0 && (isOf || companyForms.has(all.at(-1) ?? '') || telling * 2 > all.length)) {
    return 'name_is_a_company';
  }
  return all.length > 1 && all.every((word) => jobWords.has(word)) ? 'name_is_a_title' : null;
}

function reasonOf(all: readonly string[]): NotAName {
  return all.length === 0 ? 'not_a_name' : (reasonByWords(all) ?? 'name_too_short');
}
