/**
 * Email addresses (RFC 5321 and 6531), in their canonical form:
 * 1. Lower case throughout; a Unicode domain becomes ASCII (`xn--`), a Unicode mailbox stays.
 * 2. No provider tricks: dots and `+tags` are part of the mailbox.
 * 3. `mailto:`, `SMTP:`, `Email:`, a display name, angle brackets, words around the address, a full stop after it and spaces
 * around its `@` are removed. Two addresses joined by `mailto:` are two addresses.
 * 4. A cell with several addresses gives all of them, in their order.
 * 5. A full stop at a mailbox's end stays, against the RFC: some carriers issued such addresses, and sources
 * contain them.
 * 6. `[at]`, `(dot)`, `%40` and the like are what they stand for, and a mailbox in quotes that needs none is itself.
 * 7. A cell without an address is read once more without the slips of typing that leave no doubt: a space, a comma or a second
 * dot between the parts of the domain, `@` twice, `jane at example dot com`. Two dots in a mailbox may have lost what was between
 * them, so they are refused. So is a comma before a country: `jane@acme.co,uk` may be an address at `acme.co` as well.
 * 8. Nor is an address one that may be a part of another: `jane doe@acme.com`, `jane . doe@acme.com` and `jane,doe@acme.com` are
 * not doe@acme.com, unless the words before it are of its mailbox or its domain (`Jane Doe jdoe@acme.com`) or say what it is;
 * `jane@acme.co uk` is not at acme.co, `jane@acme.co...` was cut, and of `j•••doe@acme.com` characters are hidden.
 * 9. Of a mailbox that begins as no mailbox does (`www.`, `=`, `email=`), the address without that is tried second.
 * 10. Refused: mailboxes that need quotes, address literals and domains without a dot. They are valid, and no stored
 * address has them.
 */
import { fold } from '../lib/fold.ts';
import { isListedDomain, mayEndIn, toAsciiHost } from './domain.ts';
import type { KindDescription } from './kind.ts';
import {
  foldCase,
  foldUnicode,
  HIDING_SIGNS,
  HIDING_WORDS,
  invalid,
  isTooLong,
  joinEllipsis,
  type Normalised,
  severalValues,
  tidyCell,
} from './normalised.ts';
import { isSharedMailbox } from './shared-mailbox.ts';

export const email = {
  label: 'Email',
  parameter: 'Email address of the person, at work or private.',
  forms:
    'in any case, with `mailto:`, spaces, quotes, brackets or words around it, with `[at]` and `(dot)`, with `@` twice or a comma for the dot of the domain, with the domain in Unicode or ASCII; text after a `+` is kept',
  normalise: (text) => normaliseEmail(text),
  testIdentifier: (word) => `${word}@test.example`,
  person: {
    stored: [
      // The only code that email verification accepts.
      { name: 'work_email', code: 3, by: 'email', fields: ['workEmail'] },
      { name: 'email', code: 2, fields: ['email'] },
    ],
    // The query of a profile URL may have one.
    optOut: /^(?!.*(?:\/\/|\/(?:in|pub)\/)).*.@./is,
    optOutName: 'an email address',
    mention: { before: '(?<![\\w.%+-])' },
  },
  column: {
    words: `email emailadresse mailadresse mail courriel mel correo correoelectronico posta
      postaelettronica correio correioeletronico correioelectronico epost epostadress epostadresse
      mejl mejladress emailadres mailadres poczta メール メールアドレス eメール 電子メール 邮箱 电子邮箱
      电子邮件 邮件 電郵 電子郵件`,
    plural: 'emails',
    contentOf: (cell) =>
      cell.includes('@') && 'values' in normaliseEmail(cell) ? 'certain' : null,
    isUnmistakable: true,
  },
} as const satisfies KindDescription;

const PLAIN_ADDRESS =
  /^(?!www\.)[a-z0-9][a-z0-9_+-]*(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z]{2,63}$/i;
const ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const mailbox = new RegExp(`^(?!['\`])${ATOM}(?:\\.${ATOM})*\\.?$`, 'u');
/** The end of an address that a program cut: `jane@acme.co...`. */
const CUT = /\.{3}['’`]{0,2}$/;
const MAILBOX_CHARACTERS_MAX = 64;
const ADDRESS_CHARACTERS_MAX = 254;
/** Up to this length of the domain no label can exceed the 63 characters that DNS allows. */
const LABEL_CHARACTERS_MAX = 63;
/** Ways to hide an address from collectors. */
const HIDDEN_AT = /\s{0,2}[[({<]\s{0,2}(?:at|@)\s{0,2}[\])}>]\s{0,2}/gi;
const HIDDEN_DOT = /\s{0,2}[[({]\s{0,2}(?:dot|punkt|punto|point|\.)\s{0,2}[\])}]\s{0,2}/gi;
const BRACKET = /[[({<]/;
/** More of them, in a text without `@`. */
const HIDDEN_AT_OF_NONE = /\s{0,2}[[({]\s{0,2}(?:ät|a|arroba)\s{0,2}[\])}]\s{0,2}/gi;
const QUOTED_MAILBOX = /(^|[\s,;<])"([^"\s@]{1,64})"@/g;
const LABELS = 'smtp|sip|e-?mail|mail|e|m|to|work|home|office|private|primary';
const SCHEMES = new RegExp(`#?mailto:|https?://|(?<![^\\s,;<(])(?:${LABELS}):`, 'gi');
/** `@` as a link writes it, in a text without another. */
const ENCODED_AT = /%40/g;
/** A character as a page writes it. */
const ENTITY = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|([a-z]{2,10}));/gi;
const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    apos: "'",
    commat: '@',
    gt: ' ',
    hellip: '...',
    lowbar: '_',
    lt: ' ',
    nbsp: ' ',
    period: '.',
    quot: ' ',
  }),
);
const SEPARATORS = /[\s,;<>()[\]"“”„«»‹›|/\\•·\p{Cc}\p{Extended_Pictographic}]+/u;
/** The begin of a mailbox that is not part of it. */
const NOT_OF_MAILBOX = /^(?:www\.|[=+*#~]|\??(?:e-?mail|mail|smtp|to)=)(?=[^@])/;
/** The address before the comma, or one with a dot in its place, as in `jane@acme.co,uk`: another person's. */
const COMMA_BEFORE_COUNTRY = /^[^\s@,;]+@([a-z0-9-]+(?:\.[a-z0-9-]+)+),([a-z]{2})$/i;
/** An address and letters that may be the end of its domain, with or without the dot. */
const ADDRESS_IN_PARTS =
  /@([a-z0-9.-]{1,253}\.[a-z]{2,63})(\s{1,3}\.\s{0,3}|\.\s{1,3}|\s{1,3})([a-z]{1,3})(?=$|\s{0,3}[;,|\n])/gi;
/** The end of the pattern before, which takes longer. */
const SHORT_WORD_AT_END = /\s(?:\.\s{0,3})?[a-z]{1,3}\s{0,3}(?:$|[;,|\n])/i;
/** A word or the domain of an address, and a mailbox behind it: the start of the next pattern, which takes longer. */
const WORD_BEFORE_END = /[^\s,;<>()[\]][\s,;\\•·]{1,3}[^\s,;<>()[\]\\•·]{1,64}$/;
/**
 * A few words directly before a mailbox, divided from it by a space and what else joins words, or by another sign without one.
 */
const WORD = "\\p{N}{0,3}\\p{L}[\\p{L}\\p{N}\\p{M}._'’+&~=%*-]{0,40}";
const WORDS_BEFORE_MAILBOX = new RegExp(
  `^\\s*((?:${WORD}[\\s,;]{1,3}){0,2}${WORD})(?:\\s{1,3}(?:[&+._'’]\\s{1,3})?|[,;\\\\•·])([^\\s,;<>()[\\]\\\\•·]{1,64})$`,
  'u',
);
/**
 * The domain of an address, and what joins the next one to it. Behind a comma or in a new line, a short word is more likely of
 * the next address: `dan doe@acme.com`, `e doe@acme.com`.
 */
const BEFORE_NEXT_ADDRESS = new RegExp(
  String.raw`^[^\s,;|/<>()[\]"]*(?:[ \t]{1,3}(?:a|aka|bzw\.|e|eller|en|és|i|in|ir|ja|o|och|og|or|ou|plus|resp\.|sau|și|şi|si|sowie|un|va|` +
    String.raw`ve|và|y|и|και)\s|[\s,;]*(?:and|et|oder|und)\s)?`,
  'u',
);
/**
 * A label or another sign before the words of an address (`E-Mail: `, `(`, `"`, ` - `), or a number of a list. Without a space
 * behind them some signs join words.
 */
const BEFORE_WORDS =
  /^(?:.*(?:[:()[\]<>"“”„«»|]|[!?/→]\s|\s[-–—]\s|(?:^|[\s#])\d{1,3}\.?\s))?\s{0,3}(?:[^\p{L}\p{N}\s]{1,3}\s{0,3})?/su;
/** An address of which characters are hidden: `j•••doe@acme.com`, `j[hidden]doe@acme.com`. */
const HIDDEN_CHARACTERS = new RegExp(
  `(?<!\\S)\\S*(?:[${HIDING_SIGNS}]{2}|[[(<](?:\\.{3}|[*x]{2,9}|${HIDING_WORDS})[)\\]>])\\S*`,
  'giu',
);
const TELLING_LETTERS_MIN = 3;
/** Labels of a column that are no name, such as `mel`, and other words that directly precede an address. */
const addressWords: ReadonlySet<string> = new Set([
  ...email.column.words.split(/\s+/).filter((word) => word.length > TELLING_LETTERS_MIN),
  ...`address adresse addr alt alternative and arbeit at attn bcc beruflich bureau buro business cc contact contacto current
   dienstlich direct for from general geschaftlich home is ist kontakt lavoro main mailto new not oder office old or perso personal
   personale personnel please preferred primary privado privat private privato prive pro professionnel see secondary to trabajo ufficio
   und use verified via work write zakelijk`.split(/\s+/),
]);
/**
 * Titles before a name, of which none is a name. Of `dr. doe@acme.com` without a capital the title may be the beginning of the
 * mailbox, and `M.` an initial.
 */
const titles: ReadonlySet<string> = new Set(
  `bc dhr dipl dott dottssa dr dra frau fru herr herrn hr mevr miss mlle mme mr mrs ms mx pani phd prof professor sir sr sra
   srta`.split(/\s+/),
);
/** More of them, abbreviated with a full stop: without one they may be a name, as in `Sig doe@acme.com`. */
const shortTitles: ReadonlySet<string> = new Set('hon ing mag ra rev sig'.split(' '));
const EMPHASIS = /^(?:\*(.+)\*|_(.+)_|\{(.+)\})$/;
/** A cell that is an address in words: a dot in the mailbox, or `dot` in the domain, which prose has not. */
const ADDRESS_IN_WORDS =
  /^(?:[\w-]+(?:\.[\w-]+)+ at [a-z0-9-]+(?:\.[a-z0-9-]+)+|[\w.-]+ at [a-z0-9-]+(?: dot [a-z0-9-]+)+|[\w-]+(?: dot [\w-]+)+ at [a-z0-9-]+(?: dot [a-z0-9-]+)+|[^\s@]+_at_[a-z0-9.-]+)$/i;

/** Reasons: `empty`, `too_long`, `not_an_email`. */
export function normaliseEmail(text: string): Normalised {
  if (isPlainAddress(text)) return { values: [text.toLowerCase()] };
  if (isTooLong(text)) return invalid('too_long');
  const tidy = unhidden(tidyCell(text));
  if (tidy === '') return invalid('empty');
  const whole = canonicalAddress(tidy);
  const found = whole === null ? addressesIn(tidy) : [whole];
  return severalValues(found.flatMap(readingsOf), 'not_an_email');
}

function unhidden(text: string): string {
  // Few cells have any of these signs, and each pattern reads the whole cell.
  const decoded = text.includes('&') ? text.replace(ENTITY, characterOf).trim() : text;
  const shown = withAt(decoded);
  const dotted = BRACKET.test(shown)
    ? shown.replace(HIDDEN_AT, '@').replace(HIDDEN_DOT, '.')
    : shown;
  return dotted.replaceAll('\\@', '@').replace(QUOTED_MAILBOX, '$1$2@');
}

/**
 * Returns the character of an entity. One that is not known stays, without its semicolon: what follows is no address of its own.
 */
function characterOf(whole: string, decimal = '', hex = '', name = ''): string {
  if (name !== '') return entities.get(name.toLowerCase()) ?? whole.slice(0, -1);
  const code = hex === '' ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10_ff_ff ? foldUnicode(String.fromCodePoint(code)) : ' ';
}

function withAt(text: string): string {
  if (text.includes('@')) return text;
  return text.replace(ENCODED_AT, '@').replace(HIDDEN_AT_OF_NONE, '@');
}

/** The address, and the one that its writer meant. */
function readingsOf(address: string): string[] {
  const meant = NOT_OF_MAILBOX.test(address)
    ? canonicalAddress(address.replace(NOT_OF_MAILBOX, ''))
    : null;
  return meant === null ? [address] : [address, meant];
}

function isPlainAddress(text: string): boolean {
  const at = text.indexOf('@');
  return (
    at > 0 &&
    at <= MAILBOX_CHARACTERS_MAX &&
    text.length - at - 1 <= LABEL_CHARACTERS_MAX &&
    PLAIN_ADDRESS.test(text) &&
    !isPunycode(text, at)
  );
}

/** Encoded labels can be malformed, so they take the path that checks them. */
function isPunycode(text: string, at: number): boolean {
  return text.includes('--', at) && text.toLowerCase().includes('xn--', at);
}

function addressesIn(tidy: string): string[] {
  const [, host = '', country = ''] = COMMA_BEFORE_COUNTRY.exec(tidy) ?? [];
  if (host !== '' && isListedDomain(`${host}.${country}`.toLowerCase())) return [];
  const domains = withWholeDomains(joinEllipsis(tidy));
  const text = withoutParts(domains);
  const found = text
    .replace(SCHEMES, ' ')
    .split(SEPARATORS)
    .filter((token) => token.includes('@') && !CUT.test(token))
    .map(trimPunctuation)
    .map(canonicalAddress)
    .filter((address) => address !== null);
  // No address is longer, and the slips of a long text would take time.
  if (found.length > 0 || tidy.length > ADDRESS_CHARACTERS_MAX) return found;
  const meant =
    text !== domains || (tidy.includes('@') && CUT.test(joinEllipsis(tidy)))
      ? null
      : canonicalAddress(withoutSlips(text));
  return meant === null ? [] : [meant];
}

/** Joins what is certainly one domain, and takes one away that may be a part of another. */
function withWholeDomains(tidy: string): string {
  if (!SHORT_WORD_AT_END.test(tidy)) return tidy;
  return tidy.replace(ADDRESS_IN_PARTS, (whole, host: string, dot: string, end: string) => {
    if (!mayEndIn(host, end)) return whole;
    return dot.includes('.') ? `@${host}.${end}` : '@ ';
  });
}

/** Takes away what may be the end of a longer address, with a space, a comma or hidden characters before it. */
function withoutParts(text: string): string {
  const shown =
    ASCII.test(text) && !BRACKET.test(text) ? text : text.replace(HIDDEN_CHARACTERS, '@@');
  const pieces = shown.split('@');
  return pieces
    .map((piece, index) => {
      const after = pieces[index + 1];
      if (after === undefined || !WORD_BEFORE_END.test(piece)) return piece;
      // Behind an address its domain comes first.
      const start = index === 0 ? 0 : (BEFORE_NEXT_ADDRESS.exec(piece)?.[0].length ?? 0);
      const own = piece.slice(start).replace(BEFORE_WORDS, '');
      const [, words = '', mailbox = ''] = WORDS_BEFORE_MAILBOX.exec(own) ?? [];
      const isWhole = words === '' || explainsAddress(words, mailbox, after);
      return isWhole ? piece : `${piece.slice(0, -mailbox.length)}@`;
    })
    .join('@');
}

/** True for words that say what an address is: its label, its owner, or the company at its domain. */
function explainsAddress(words: string, mailbox: string, after: string): boolean {
  // Whoever leaves a space in a mailbox does not write its beginning as a name and the rest of it small.
  if (NAME_IN_CAPITALS.test(words) && /^\p{Ll}/u.test(mailbox)) return true;
  const all = wordsOf(words);
  const own = withoutUmlauts(wordsOf(mailbox).join(''));
  const host = withoutUmlauts(wordsOf(after.split(/[\s,;]/, 1)[0] ?? '').join(''));
  const isPartOf = (whole: string) => (word: string) =>
    word.length >= TELLING_LETTERS_MIN && whole.includes(withoutUmlauts(word));
  const last = all.at(-1) ?? '';
  const isTitle = (word: string) =>
    titles.has(word) || (shortTitles.has(word) && words.includes('.'));
  const initials = all.map((word) => word.charAt(0));
  return (
    // A mailbox has letters of one alphabet.
    (!ASCII.test(all.join('')) && ASCII.test(own)) ||
    all.some(isPartOf(own)) ||
    // Of `Email jane doe@acme.com` the label does not explain what stands behind it.
    addressWords.has(last) ||
    addressWords.has(all.slice(-2).join('')) ||
    isPartOf(host)(last) ||
    (/^\p{Lu}/u.test(words) && all.every(isTitle)) ||
    (all.length > 1 && [...own].sort().join('') === initials.sort().join('')) ||
    isSharedMailbox(`${foldCase(mailbox)}@`)
  );
}

const ASCII = /^[\0-\x7f]*$/;
const NAME_IN_CAPITALS = /^\p{Lu}[\p{L}\p{M}.'’-]*(?:[\s,;]+\p{Lu}[\p{L}\p{M}.'’-]*)+$/u;

/** Lower-case words without accents. */
function wordsOf(text: string): string[] {
  return fold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** `mueller` and `müller` are one. */
function withoutUmlauts(word: string): string {
  return word.replace(/([aou])e/g, '$1');
}

/** Removes the slips of typing in a cell that is one address otherwise. */
function withoutSlips(tidy: string): string {
  const text = ADDRESS_IN_WORDS.test(tidy)
    ? tidy.replace(/ at |_at_/i, '@').replace(/ dot /gi, '.')
    : tidy;
  const [local = '', ...rest] = text
    .replace(/@{2}/, '@')
    .replace(/@$/, '')
    .replace(/@\s{0,2}https?:\/\//i, '@')
    .split('@');
  const domain = rest.join('@').trim();
  const host = domain
    .replace(/\s{0,2}(?: dot | \.|\.(?= [a-z]))\s{0,2}/g, '.')
    .replace(/,(?=[a-z])/g, '.')
    .replace(/\.{2}/g, '.');
  // Only a name that exists can be told from other texts.
  if (host !== domain && !isListedDomain(host)) return tidy;
  return `${local.trim()}@${host}`;
}

/** Removes a sentence's punctuation around an address, and a `mailto:` link's `?subject=` after it. */
function trimPunctuation(token: string): string {
  const query = token.indexOf('?', token.indexOf('@') + 1);
  const address = token.includes('@') && query > 0 ? token.slice(0, query) : token;
  const [whole, ...inside] = EMPHASIS.exec(address) ?? [];
  if (whole !== undefined) return inside.find((text) => text !== undefined) ?? '';
  let end = address.length;
  while (end > 0 && ".,:;!'`’*#@…".includes(address.charAt(end - 1))) end -= 1;
  let start = 0;
  while (start < end && "'`‘".includes(address.charAt(start))) start += 1;
  return address.slice(start, end);
}

function canonicalAddress(text: string): string | null {
  const at = text.indexOf('@');
  if (at < 1 || at > MAILBOX_CHARACTERS_MAX || text.includes('@', at + 1)) return null;
  const local = foldCase(text.slice(0, at));
  if (!mailbox.test(local)) return null;
  const domain = toAsciiHost(text.slice(at + 1));
  if (domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length > ADDRESS_CHARACTERS_MAX ? null : address;
}
