/**
 * Interprets the name of a column. A name is folded and cut into known words of several languages, and a small
 * grammar reads the tokens of those words: `E-Mail (geschäftlich)`, `workEmail` and `business email` are all
 * the token `email` with the token `work`.
 *
 * Languages: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Danish; the usual
 * names in Japanese and Chinese.
 */

import { toNormalForm } from '../core/lib/normal-form.ts';
import { type ColumnKind, columnKinds } from './column-kinds.ts';
import { type HeaderToken, longestWord, tokenOfWord } from './column-words.ts';

/** The role of a column. `name` is a plain "Name": of a person or a company, depending on the list. */
export type ColumnRole =
  | ColumnKind
  | 'country'
  | 'city'
  | 'company_name'
  | 'full_name'
  | 'first_name'
  | 'middle_name'
  | 'last_name'
  | 'name'
  /** Another attribute of the lead, such as a job title: not an identifier. */
  | 'other'
  /** Not about the lead (its owner, a fax, a parent company). */
  | 'foreign';

export interface HeaderReading {
  role: ColumnRole | null;
  tokens: ReadonlySet<HeaderToken>;
  /** True when every word of the name is known. */
  isExact: boolean;
  /** The number in `E-mail 2`, or 0. */
  number: number;
}

/** Norwegian, Danish and Swedish for `of` and `at`, which without its ring is the assistant of someone. */
const NORDIC_PREPOSITION = /(?<!\p{L})på(?!\p{L})/gu;
const plainSpellings: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
};

/** A longer text names nothing: Unicode makes some letters eighteen. */
const NAME_CHARACTERS_MAX = 120;

/**
 * Folds a column name: no case, accents or punctuation, words separated by one space. `workEmail` is two words.
 * Marks of Japanese letters stay, because they change the letter. Empty for a name longer than 120 characters.
 */
export function foldColumnName(name: string): string {
  if (name.length > NAME_CHARACTERS_MAX) return '';
  const words = toNormalForm(name, 'NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .replace(NORDIC_PREPOSITION, 'paa');
  const plain = toNormalForm(words, 'NFKD')
    .replace(/[\u0300-\u036f]|['’]s\b/g, '')
    .replace(/[ßæœøł]/g, (letter) => plainSpellings[letter] ?? letter);
  return toNormalForm(plain, 'NFKC')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const JOINED_WORDS_MAX = 4;

/** Interprets a column name. Pure and total; a name longer than 120 characters has no meaning. */
export function readColumnName(name: string): HeaderReading {
  const tokens = new Set<HeaderToken>();
  let number = 0;
  let isExact = true;
  const words = foldColumnName(name).split(' ');
  for (let from = 0; from < words.length; ) {
    const word = words[from] ?? '';
    if (/^\d+$/.test(word)) {
      number = Math.min(Number(word), 1000);
      from += 1;
      continue;
    }
    const [known, length] = tokensAt(words, from);
    if (known.length === 0) isExact = false;
    for (const token of known) {
      // `Contact person (company)` says it twice: a person, whatever company follows.
      if (token === 'person' && tokens.has(token)) tokens.add('full');
      tokens.add(token);
    }
    from += length;
  }
  const role = tokens.size === 0 ? null : roleOf(tokens, isExact);
  return { role, tokens, isExact, number };
}

/** Returns the words of a column's name, folded, and each run of a few of them as one word. */
export function wordsOfColumnName(name: string): string[] {
  const words = foldColumnName(name).split(' ');
  return words.flatMap((_, from) =>
    Array.from({ length: JOINED_WORDS_MAX }, (__, more) =>
      words.slice(from, from + more + 1).join(''),
    ),
  );
}

/** The tokens of the longest run of words known as one word (`web site`), and its length. */
function tokensAt(words: readonly string[], from: number): [readonly HeaderToken[], number] {
  for (let length = JOINED_WORDS_MAX; length > 1; length--) {
    if (from + length > words.length) continue;
    const token = tokenOfWord(words.slice(from, from + length).join(''));
    if (token !== undefined) return [[token], length];
  }
  return [tokensInWord(words[from] ?? ''), 1];
}

/** The tokens of a word or of its components (`firmentelefon`, `会社電話`); none when unknown. */
function tokensInWord(word: string): HeaderToken[] {
  const whole =
    tokenOfWord(word) ?? (word.endsWith('s') ? tokenOfWord(word.slice(0, -1)) : undefined);
  if (whole !== undefined) return [whole];
  const tokens: HeaderToken[] = [];
  for (let from = 0; from < word.length; ) {
    const part = longestWord(word, from);
    if (part === null) return [];
    tokens.push(part.token);
    from += part.length;
  }
  return tokens;
}

/** The grammar: the first rule that holds decides; the most specific nouns come first. */
function roleOf(tokens: ReadonlySet<HeaderToken>, isExact: boolean): ColumnRole | null {
  const has = (...any: HeaderToken[]) => any.some((token) => tokens.has(token));
  if (has('foreign')) return 'foreign';
  if (has('attribute', 'other_network')) return 'other';
  if (has('city')) return isExact && !has('name') ? 'city' : 'other';
  if (has('twitter') || isLetterX(tokens, isExact)) return 'twitter';
  const plain = plainKinds.find((kind) => tokens.has(kind));
  if (plain !== undefined) return plain;
  if (has('email')) return emailRole(has);
  if (
    has('phone', 'mobile', 'direct_line') ||
    (has('number') && has(...phoneHints) && !has('company'))
  ) {
    return has('code', 'name') ? 'other' : 'phone';
  }
  if (has('registry_number') || (has('company') && has('number'))) return 'registry_number';
  if (has('profile')) return has('name') ? 'other' : 'professional_network';
  if (has('domain', 'website', 'url')) return 'domain';
  if (has('address')) return 'other';
  if (has('country')) return 'country';
  if (has('number', 'code', 'region')) return 'other';
  if (has('handle')) return isExact && tokens.size === 1 ? 'twitter' : 'other';
  return isExact ? nameRole(tokens, has) : null;
}

/** Kinds whose own words mean nothing else, whatever the rest of the name says. */
const plainKinds = columnKinds.filter(
  (kind) => !['email', 'phone', 'registry_number', 'domain'].includes(kind),
);

const phoneHints: HeaderToken[] = ['person', 'work', 'personal', 'direct', 'switchboard', 'home'];

type Has = (...any: HeaderToken[]) => boolean;

/** `Email domain` is a domain, `Company name for emails` a name. */
function emailRole(has: Has): ColumnRole {
  if (has('domain')) return 'domain';
  return has('name') ? 'other' : 'email';
}

/** The one-letter brand counts only alone or next to words for handles; elsewhere x is any letter. */
function isLetterX(tokens: ReadonlySet<HeaderToken>, isExact: boolean): boolean {
  if (!tokens.has('x') || !isExact) return false;
  return [...tokens].every((token) => xCompanions.has(token));
}
const xCompanions: ReadonlySet<HeaderToken> = new Set<HeaderToken>([
  'x',
  'handle',
  'url',
  'profile',
  'name',
  'person',
  'company',
  'filler',
]);

/** Content cannot confirm a name, so every word of these column names must be known. */
function nameRole(tokens: ReadonlySet<HeaderToken>, has: Has): ColumnRole | null {
  const count = tokens.size;
  const isFirst = has('forename') || (has('first') && (has('name') || count === 1));
  const isLast = has('surname') || (has('last') && (has('name') || count === 1));
  const isPlain = has('name') && !has('first', 'last');
  // `Contact company` is a company, `Company contact` a person.
  const order = [...tokens];
  const isPerson = has('person') && has('full');
  const isCompanyOfPerson =
    has('company') && !isPerson && order.indexOf('company') > order.indexOf('person');
  if ((has('forename', 'first') && has('surname', 'last')) || (has('surname') && isPlain)) {
    return 'full_name';
  }
  if (has('middle')) return 'middle_name';
  if (isFirst) return 'first_name';
  if (isLast) return 'last_name';
  if (has('first', 'last', 'x', 'url')) return null;
  if (has('person', 'full') && !isCompanyOfPerson) return has('secondary') ? 'other' : 'full_name';
  if (has('company', 'account')) return 'company_name';
  if (has('legal', 'work') && has('name')) return 'company_name';
  return has('name') && !has('personal', 'home', 'secondary') ? 'name' : null;
}
