/**
 * What the name of a column says. A name is folded, cut into known words of several languages,
 * and the ideas behind those words are read by a small grammar: `E-Mail (geschäftlich)`,
 * `workEmail` and `business email` are all the idea `email` with the idea `work`.
 *
 * Languages: English, German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish,
 * Danish; of Japanese and Chinese the usual names.
 */
import { type Idea, ideaOfWord, longestWord } from './column-words.ts';

/**
 * What a column is about. `name` is a plain "Name": a person's or a company's, as the list goes.
 */
export type Meaning =
  | 'email'
  | 'phone'
  | 'profile'
  | 'twitter'
  | 'registry_number'
  | 'domain'
  | 'country'
  | 'company_name'
  | 'full_name'
  | 'first_name'
  | 'middle_name'
  | 'last_name'
  | 'name'
  /** Another fact of the lead, such as a job title: no identifier by its name. */
  | 'other'
  /** About somebody or something else than the lead (its owner, a fax, a parent company). */
  | 'foreign';

export interface HeaderReading {
  meaning: Meaning | null;
  ideas: ReadonlySet<Idea>;
  /** True when every word of the name is known. */
  isExact: boolean;
  /** The number in `E-mail 2`, or 0. */
  number: number;
}

const plainSpellings: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
};

/**
 * A column's name without case, accents and punctuation: words separated by one space. `workEmail`
 * is two words. Marks of Japanese letters stay, because they make other letters.
 */
export function foldColumnName(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]|['’]s\b/g, '')
    .replace(/[ßæœøł]/g, (letter) => plainSpellings[letter] ?? letter)
    .normalize('NFKC')
    .replace(/(\p{L})(\p{N})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

const joinedWordsMax = 4;
const nameCharactersMax = 120;

/** Reads a column's name. Pure and total; a name longer than a sentence says nothing. */
export function readColumnName(name: string): HeaderReading {
  const ideas = new Set<Idea>();
  let number = 0;
  let isExact = true;
  const words = name.length > nameCharactersMax ? [] : foldColumnName(name).split(' ');
  for (let from = 0; from < words.length; ) {
    const word = words[from] ?? '';
    if (/^\d+$/.test(word)) {
      number = Math.min(Number(word), 1000);
      from += 1;
      continue;
    }
    const [known, length] = ideasAt(words, from);
    if (known.length === 0) isExact = false;
    for (const idea of known) ideas.add(idea);
    from += length;
  }
  const meaning = ideas.size === 0 ? null : meaningOf(ideas, isExact);
  return { meaning, ideas, isExact, number };
}

/** The ideas of the longest run of words that is known as one (`web site`), and its length. */
function ideasAt(words: readonly string[], from: number): [readonly Idea[], number] {
  for (let length = joinedWordsMax; length > 1; length--) {
    if (from + length > words.length) continue;
    const idea = ideaOfWord(words.slice(from, from + length).join(''));
    if (idea !== undefined) return [[idea], length];
  }
  return [ideasInWord(words[from] ?? ''), 1];
}

/** A word, or the words that it is composed of (`firmentelefon`, `会社電話`); none when unknown. */
function ideasInWord(word: string): Idea[] {
  const whole =
    ideaOfWord(word) ?? (word.endsWith('s') ? ideaOfWord(word.slice(0, -1)) : undefined);
  if (whole !== undefined) return [whole];
  const ideas: Idea[] = [];
  for (let from = 0; from < word.length; ) {
    const part = longestWord(word, from);
    if (part === null) return [];
    ideas.push(part.idea);
    from += part.length;
  }
  return ideas;
}

/** The grammar: the first rule that holds decides; nouns that name a thing exactly come first. */
function meaningOf(ideas: ReadonlySet<Idea>, isExact: boolean): Meaning | null {
  const has = (...any: Idea[]) => any.some((idea) => ideas.has(idea));
  if (has('foreign')) return 'foreign';
  if (has('attribute', 'other_network')) return 'other';
  if (has('microblog') || isLetterX(ideas, isExact)) return 'twitter';
  if (has('network')) return 'profile';
  if (has('email')) return emailMeaning(has);
  if (
    has('phone', 'mobile', 'direct_line') ||
    (has('number') && has(...phoneHints) && !has('company'))
  ) {
    return has('code', 'name') ? 'other' : 'phone';
  }
  if (has('registry') || (has('company') && has('number'))) return 'registry_number';
  if (has('profile')) return has('name') ? 'other' : 'profile';
  if (has('domain', 'website', 'url')) return 'domain';
  if (has('address')) return 'other';
  if (has('country')) return 'country';
  if (has('number', 'code', 'region')) return 'other';
  if (has('handle')) return isExact && ideas.size === 1 ? 'twitter' : 'other';
  return isExact ? nameMeaning(has, ideas.size) : null;
}

const phoneHints: Idea[] = ['person', 'work', 'personal', 'direct', 'switchboard', 'home'];

type Has = (...any: Idea[]) => boolean;

/** `Email domain` is a domain, `Company name for emails` a name. */
function emailMeaning(has: Has): Meaning {
  if (has('domain')) return 'domain';
  return has('name') ? 'other' : 'email';
}

/** The one-letter brand stands alone or beside words of handles; elsewhere x is any letter. */
function isLetterX(ideas: ReadonlySet<Idea>, isExact: boolean): boolean {
  if (!ideas.has('x') || !isExact) return false;
  return [...ideas].every((idea) => xCompanions.has(idea));
}
const xCompanions: ReadonlySet<Idea> = new Set<Idea>([
  'x',
  'handle',
  'url',
  'profile',
  'name',
  'person',
  'company',
  'filler',
]);

/** No content can prove a name, so these names must be known whole. */
function nameMeaning(has: Has, count: number): Meaning | null {
  const isFirst = has('forename') || (has('first') && (has('name') || count === 1));
  const isLast = has('surname') || (has('last') && (has('name') || count === 1));
  const isPlain = has('name') && !has('first', 'last');
  if ((has('forename', 'first') && has('surname', 'last')) || (has('surname') && isPlain)) {
    return 'full_name';
  }
  if (has('middle')) return 'middle_name';
  if (isFirst) return 'first_name';
  if (isLast) return 'last_name';
  if (has('first', 'last', 'x', 'url')) return null;
  if (has('person', 'full')) return has('secondary') ? 'other' : 'full_name';
  if (has('company', 'account')) return 'company_name';
  if (has('legal', 'work') && has('name')) return 'company_name';
  return has('name') && !has('personal', 'home', 'secondary') ? 'name' : null;
}
