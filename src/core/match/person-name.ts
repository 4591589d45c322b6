/**
 * Reads a person's name as written: titles and degrees away, the words in Latin letters, the family name apart when the
 * text says which it is (`Smith, J.`, two columns). Sources disagree on order and division, so a name is otherwise a
 * list of words.
 */
import { isPartOfName } from '../identifiers/company-name.ts';
import { foldUnicode } from '../identifiers/normalised.ts';
import { isAscii, toLatin } from './latin.ts';

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

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Before a name. */
const titles = words(`
  mr mrs ms miss mx dr prof professor sir dame rev reverend revd hon honourable honorable rt the lord lady
  baroness baron viscount earl count countess duke duchess prince princess sheikh sheikha
  ing dipl mag herr frau mme mlle monsieur madame me sra srta sr dona sig dott dottssa dottore dra
  avv gen general col colonel capt captain maj lt sgt cmdr adm senator sen rep representative
  congressman congresswoman delegate assemblyman assemblywoman speaker mayor governor
  councillor cllr councilmember alderman justice rabbi imam pastor fr
  shri smt sri dato datuk datin tan tun haji hajja judr mudr mgr phdr rndr paeddr thdr univ mult habil
  bc drs ir eng engr arch arq lic adv advocate ambassador
`);
/** Titles that are given names as well. */
const namesToo = words(`
  arch baron col dato dona duke earl eng gen haji hon imam justice lady maj pastor prince princess sen sheikh shri sig sri tan
  tun
`);
/** Suffixes that are given names as well, behind a single word and a comma: `Rahman, Md`. */
const suffixedNames = words('jd jr junior kc md');
const noNames: ReadonlySet<string> = new Set();
/** After a name. */
const suffixes = words(`
  jr sr junior senior ii iii iv esq phd md mba mp mep mla mpp msp bsc msc jd llb llm dds dmd dvm
  rn cpa cfa obe mbe cbe kbe dbe qc kc oam csc drsc dphil fca acca mbbs frcs edd psyd lcsw pmp cissp
  msn bcom mcom retd ret fcipd mcipd cipd csi candsc
`);
/** In a column of given names, suffixes are names: `JD`, `Md`, `Junior`. */
const namesInColumns: ReadonlySet<string> = new Set([...namesToo, ...suffixes]);
const generations: ReadonlyMap<string, string> = new Map([
  ['jr', 'jr'],
  ['jnr', 'jr'],
  ['junior', 'jr'],
  ['sr', 'sr'],
  ['snr', 'sr'],
  ['senior', 'sr'],
  ['ii', 'ii'],
  ['iii', 'iii'],
  ['iv', 'iv'],
]);
/** A part after a whole name and a comma that starts so describes the person. */
const ranks = words('baroness baron lord lady viscount earl baronet duke count');
const particles = words(`
  de da do das dos del della di du la le les el al bin ibn binti bint van von der den ter ten zu af av vom zum
  mc mac o st san abu ben
`);

/** True for a word that may precede a family name: `van`, `da`. */
export function isParticle(word: string): boolean {
  return particles.has(word);
}

/** Words of a name column that name no person. */
const nonPersons = words(`
  unknown not available provided none no name na n a null nil tbd tbc test anonymous info xxx xx asdf foo bar
  information sales team office reception front desk account accounts payable receivable support
  service services customer client department dept admin administration marketing enquiries inquiries
  contact general hr human resources press media help it mailbox shared user sample example demo dummy
  owner the to whom may concern n/a
`);
const jobWords = words(`
  director manager head chief officer president vice executive assistant secretary chairman chairwoman chair
  engineer developer consultant analyst accountant partner associate senior junior lead principal specialist
  coordinator administrator supervisor clerk buyer ceo cfo cto coo cio cmo vp svp evp md owner founder cofounder
  of and for the sales marketing finance financial operations operating human resources hr it people global
  group managing regional general technical technology information product project programme program business
  development commercial legal counsel company deputy acting interim member board trustee staff nurse teacher
`);
const companyWords = words(`
  ltd limited inc incorporated llc llp plc corp corporation gmbh ag ab oy oyj bv nv srl spa sarl sas company co
  holdings holding group university college school hospital council bank trust foundation association institute
  society ministry department services solutions systems technologies partners ventures capital industries
  international enterprises consulting
`);

const CHARACTERS_MAX = 200;
const WORDS_MAX = 10;
const LETTER = /\p{L}/u;
const NOT_OF_A_NAME = /[@\d_#<>{}\\|=]|https?:|www\./;
const WORDS_OF_SCRIPT = /[\p{L}\p{M}]+/gu;
/** Faster than the above, for most texts. */
const WORDS_OF_ASCII = /[a-z]+/g;
/** Titles whose letters are also a name's, told by their dots: `Hon.` is no given name. The last word of a name is no title. */
const SHORT_TITLES =
  /(?<![\p{L}\p{M}])(?:h\. ?c\.(?: mult\.)?|(?:arch|col|eng|gen|hon|maj|sen|sig)\.(?:(?=\s*\S)|(?<=[,;]\s*\p{L}+\.)))/giu;
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
  return readBothWays(text, stored, namesToo);
}

/** Reads a name; also as one of which the words that may be names, `mayName`, are none. */
function readBothWays(
  text: string,
  stored: boolean,
  mayName: ReadonlySet<string>,
): PersonName | NotAName {
  const name = readOneWay(text, stored, mayName);
  if (typeof name === 'string') return name;
  if (!name.words.some((word) => mayName.has(word.text))) return name;
  const untitled = readOneWay(text, stored, noNames);
  const isLess = typeof untitled === 'object' && untitled.words.length < name.words.length;
  return isLess ? { ...name, untitled } : name;
}

function readOneWay(
  text: string,
  stored: boolean,
  mayName: ReadonlySet<string>,
): PersonName | NotAName {
  if (text.trim() === '') return 'empty_name';
  if (text.length > CHARACTERS_MAX) return 'name_too_long';
  if (!LETTER.test(text)) return 'not_a_name';
  if (!stored && (NOT_OF_A_NAME.test(text) || isPartOfPersonName(text))) return 'not_a_name';
  const also: string[] = [];
  const plain = text
    .replace(QUOTED, '$1')
    .replace(SHORT_TITLES, ' ')
    .replace(ALSO, (_, quoted?: string, bracketed?: string, single?: string) => {
      also.push(
        ...splitWords(quoted ?? bracketed ?? single ?? '').filter((word) => word.length > 1),
      );
      return ' ';
    });
  const { first, second } = splitAtComma(plain, mayName);
  const isStated = second.length > 0;
  const family = withoutTitles(first, mayName, isStated);
  const ours = [...family, ...withoutTitles(second, mayName)];
  if (ours.length === 0) return stored ? 'not_a_name' : reasonOf(splitWords(text));
  if (ours.length > WORDS_MAX) return 'name_too_long';
  if (!stored) {
    const reason = refuse(ours, splitWords(text));
    if (reason !== null) return reason;
  }
  const stated = isStated ? family.length : 0;
  const before = joinParticles(ours.slice(0, stated), false);
  const after = joinParticles(ours.slice(stated), !stored);
  // `Sr. Garcia` begins with a title.
  const generation = generationOf(splitWords(plain).slice(1));
  return { words: [...before, ...after], family: before.length, also, generation };
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
  return readBothWays(text, false, namesInColumns);
}

/**
 * Splits `Smith, John`; a part of titles and degrees after a comma is left out, but not a word of `mayName`. Behind a family name
 * `Lady Anna` is a given name with its title, behind a whole name `Lady Leeds` is none.
 */
function splitAtComma(
  text: string,
  mayName: ReadonlySet<string>,
): { first: string[]; second: string[] } {
  const cells = text.split(/[,;]/);
  const parts = cells.map(splitWords);
  const isBehindFamily = cells.length > 1 && isOneName(cells[0] ?? '');
  const isNamePart = (part: readonly string[]) =>
    part.some((word) => mayName.has(word) || (!titles.has(word) && !suffixes.has(word))) &&
    (!ranks.has(part[0] ?? '') ||
      ((isBehindFamily || mayName.has(part[0] ?? '')) && !part.includes('of')));
  const [first = [], ...others] = parts.filter(
    (part, index) => part.length > 0 && (index === 0 || isNamePart(part)),
  );
  const isSuffixed = (part: readonly string[]) => part.some((word) => suffixedNames.has(word));
  // `Rahman, Md`; in `Smith, MD, John` the name behind the degree comes first.
  const degree = mayName.size > 0 && isBehindFamily ? parts.slice(1).find(isSuffixed) : undefined;
  const [second = degree ?? []] = others;
  return { first, second };
}

/** As written: `Smith-Jones`, `van Dyke` and `Smith Jr.` are one each. */
function isOneName(text: string): boolean {
  const isOfName = (word: string) => ![particles, suffixes, titles].some((set) => set.has(word));
  const names = text.split(/\s+/).filter((name) => splitWords(name).some(isOfName));
  return names.length === 1 || splitWords(text).length === 1;
}

/** `Prince K.` begins with a given name, and `Earl Carter` with one of `mayName`. */
function withoutTitles(
  all: readonly string[],
  mayName: ReadonlySet<string>,
  isFamily = false,
): string[] {
  let from = 0;
  let to = all.length;
  const isTitle = () => titles.has(all[from] ?? '') && !isInitialBefore(all, from);
  const isName = () =>
    mayName.has(all[from] ?? '') ||
    (namesToo.has(all[from] ?? '') && all.slice(from + 1).every((word) => word.length === 1));
  while (to - from > 1 && isTitle() && !isName()) from += 1;
  const isSuffix = () => suffixes.has(all[to - 1] ?? '') && (isFamily || isSuffixAt(all, from, to));
  while (to - from > 1 && isSuffix()) to -= 1;
  return all.slice(from, to);
}

/** `M Masango` begins with an initial, `h c mult Prof` with a title of single letters. */
function isInitialBefore(all: readonly string[], from: number): boolean {
  return (all[from] ?? '').length === 1 && (all[from + 1] ?? '').length !== 1 && from === 0;
}

/** The initial `V` or a short surname such as `Ma` at the end of two words is a name. */
function isSuffixAt(all: readonly string[], from: number, to: number): boolean {
  const word = all[to - 1] ?? '';
  return word.length > 2 || to - from > 2 || word === 'jr' || word === 'sr' || word === 'ii';
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

/** Titles that are no name of a person. */
const titlesAlone = words('mr mrs ms dr prof ceo cfo cto coo cio cmo vp svp evp');

function reasonByWords(all: readonly string[]): NotAName | null {
  if (all.length === 1 && titlesAlone.has(all[0] ?? '')) return 'name_is_a_title';
  const telling = all.filter((word) => companyWords.has(word)).length;
  const isOf = all.some((word, index) => companyWords.has(word) && all[index + 1] === 'of');
  if (telling > 0 && (isOf || companyForms.has(all.at(-1) ?? '') || telling * 2 > all.length)) {
    return 'name_is_a_company';
  }
  return all.length > 1 && all.every((word) => jobWords.has(word)) ? 'name_is_a_title' : null;
}

const companyForms = words(
  'ltd limited inc incorporated llc llp plc corp corporation gmbh oyj srl sarl university hospital council foundation association institute solutions technologies',
);

function reasonOf(all: readonly string[]): NotAName {
  return all.length === 0 ? 'not_a_name' : (reasonByWords(all) ?? 'name_too_short');
}
