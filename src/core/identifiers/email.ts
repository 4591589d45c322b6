/**
 * E-mail addresses (RFC 5321 and 6531), in their canonical form:
 * 1. Lower case throughout; a Unicode domain becomes ASCII (`xn--`), a Unicode mailbox stays.
 * 2. No provider tricks: dots and `+tags` are part of the mailbox.
 * 3. `mailto:`, `SMTP:`, `Email:`, a display name, angle brackets, words around the address, a full stop after it and spaces around
 * its `@` are removed. Two addresses joined by `mailto:` are two addresses.
 * 4. A cell with several addresses gives all of them, in their order.
 * 5. A full stop at a mailbox's end stays, against the RFC: some carriers issued such addresses, and sources
 * contain them.
 * 6. `[at]`, `(dot)`, `%40` and the like are what they stand for, and a mailbox in quotes that needs none is itself.
 * 7. A cell without an address is read once more without the slips of typing that leave no doubt: a space, a comma or a
 * second dot between the parts of the domain, `@` twice, `jane at example dot com`. Two dots in a mailbox may have lost what was between them, so they are refused.
 * So is a comma before a country: `jane@acme.co,uk` may be an address at `acme.co` as well.
 * 8. Of a mailbox that begins as no mailbox does (`www.`, `=`, `email=`), the address without that is tried second.
 * 9. Refused: mailboxes that need quotes, address literals and domains without a dot. They are valid, and no stored
 * address has them.
 */
import { isListedDomain, toAsciiHost } from './domain.ts';
import type { KindDescription } from './kind.ts';
import {
  foldCase,
  invalid,
  isTooLong,
  type Normalised,
  severalValues,
  tidyCell,
} from './normalised.ts';

export const email = {
  label: 'Email',
  parameter: 'Email address of the person, at work or private.',
  forms:
    'in any case, with `mailto:`, spaces, quotes, brackets or words around it, with `[at]` and `(dot)`, with `@` twice or a comma for the dot of the domain, with the domain in Unicode or ASCII; text after a `+` is kept',
  normalise: (text) => normaliseEmail(text),
  testIdentifier: (word) => `${word}@test.example`,
  person: {
    stored: [
      // The only code that e-mail verification accepts.
      { name: 'work_email', code: 3, by: 'email', fields: ['workEmail'] },
      { name: 'email', code: 2, fields: ['email'] },
    ],
    optOut: /.@./,
    optOutName: 'an e-mail address',
    mention: { before: '(?<![\\w.%+-])' },
  },
  column: {
    words: `email emailadresse mailadresse mail courriel mel correo correoelectronico posta
      postaelettronica correio correioeletronico correioelectronico epost epostadress epostadresse
      mejl mejladress emailadres mailadres poczta メール メールアドレス eメール 電子メール 邮箱 电子邮箱
      电子邮件 邮件 電郵 電子郵件`,
    plural: 'e-mails',
    contentOf: (cell) =>
      cell.includes('@') && 'values' in normaliseEmail(cell) ? 'certain' : null,
    isUnmistakable: true,
  },
} as const satisfies KindDescription;

const PLAIN_ADDRESS =
  /^(?!www\.)[a-z0-9][a-z0-9_+-]*(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z]{2,63}$/i;
const ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const mailbox = new RegExp(`^(?!['\`])${ATOM}(?:\\.${ATOM})*\\.?$`, 'u');
const MAILBOX_CHARACTERS_MAX = 64;
const ADDRESS_CHARACTERS_MAX = 254;
/** Up to this length of the domain no label can exceed the 63 characters that DNS allows. */
const LABEL_CHARACTERS_MAX = 63;
/** Ways to hide an address from collectors. */
const HIDDEN_AT = /\s{0,2}[[({<]\s{0,2}(?:at|@)\s{0,2}[\])}>]\s{0,2}/gi;
const HIDDEN_DOT = /\s{0,2}[[({]\s{0,2}(?:dot|punkt|punto|point|\.)\s{0,2}[\])}]\s{0,2}/gi;
/** More of them, in a text without `@`. */
const HIDDEN_AT_OF_NONE = /\s{0,2}[[({]\s{0,2}(?:ät|a|arroba)\s{0,2}[\])}]\s{0,2}/gi;
const QUOTED_MAILBOX = /(^|[\s,;<])"([^"\s@]{1,64})"@/g;
const LABELS = 'smtp|sip|e-?mail|mail|e|m|to|work|home|office|private|primary';
const SCHEMES = new RegExp(`#?mailto:|https?://|(?<![^\\s,;<(])(?:${LABELS}):`, 'gi');
/** `@` as a link or a page writes it, in a text without another. */
const ENCODED_AT = /%40|&(?:#64|#x40|commat);/gi;
const ENTITIES = /&(?:nbsp|lt|gt|quot|#160|#34);/gi;
const SEPARATORS = /[\s,;<>()[\]"“”„«»‹›|/\\•·\p{Cc}\p{Extended_Pictographic}]+/u;
/** The begin of a mailbox that is not part of it. */
const NOT_OF_MAILBOX = /^(?:www\.|[=+*#~]|\??(?:e-?mail|mail|smtp|to)=)(?=[^@])/;
/** The address before the comma, or one with a dot in its place, as in `jane@acme.co,uk`: another person's. */
const COMMA_BEFORE_COUNTRY = /^[^\s@,;]+@([a-z0-9-]+(?:\.[a-z0-9-]+)+),([a-z]{2})$/i;
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
  const decoded = text.replace(ENTITIES, ' ').trim();
  return withAt(decoded)
    .replace(HIDDEN_AT, '@')
    .replace(HIDDEN_DOT, '.')
    .replaceAll('\\@', '@')
    .replace(QUOTED_MAILBOX, '$1$2@');
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
  const found = tidy
    .replace(SCHEMES, ' ')
    .split(SEPARATORS)
    .map(trimPunctuation)
    .map(canonicalAddress)
    .filter((address) => address !== null);
  // No address is longer, and the slips of a long text would take time.
  if (found.length > 0 || tidy.length > ADDRESS_CHARACTERS_MAX) return found;
  const meant = canonicalAddress(withoutSlips(tidy));
  return meant === null ? [] : [meant];
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
