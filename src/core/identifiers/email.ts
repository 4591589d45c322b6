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
 * 7. Refused: mailboxes that need quotes, address literals and domains without a dot. They are valid, and no stored
 * address has them.
 */
import { toAsciiHost } from './domain.ts';
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
    'in any case, with `mailto:` or spaces, with `[at]` and `(dot)`, with the domain in Unicode or ASCII; text after a `+` is kept',
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
  /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z]{2,63}$/i;
const ATOM = "[\\p{L}\\p{N}\\p{M}!#$%&'*+/=?^_`{|}~-]+";
const mailbox = new RegExp(`^(?!['\`])${ATOM}(?:\\.${ATOM})*\\.?$`, 'u');
const MAILBOX_CHARACTERS_MAX = 64;
const ADDRESS_CHARACTERS_MAX = 254;
/** Up to this length of the domain no label can exceed the 63 characters that DNS allows. */
const LABEL_CHARACTERS_MAX = 63;
/** Ways to hide an address from collectors. */
const HIDDEN_AT = /\s{0,2}[[({]\s{0,2}(?:at|@)\s{0,2}[\])}]\s{0,2}/gi;
const HIDDEN_DOT = /\s{0,2}[[({]\s{0,2}(?:dot|punkt|\.)\s{0,2}[\])}]\s{0,2}/gi;
const QUOTED_MAILBOX = /(^|[\s,;<])"([^"\s@]{1,64})"@/g;
const SCHEMES = /mailto:|https?:\/\/|(?<![^\s,;<(])(?:smtp|e-?mail):/gi;
/** `@` as a link or a page writes it, in a text without another. */
const ENCODED_AT = /%40|&#(?:64|x40);/gi;
const SEPARATORS = /[\s,;<>()[\]"|/\\]+/;

/** Reasons: `empty`, `too_long`, `not_an_email`. */
export function normaliseEmail(text: string): Normalised {
  if (isPlainAddress(text)) return { values: [text.toLowerCase()] };
  if (isTooLong(text)) return invalid('too_long');
  const tidy = withAt(tidyCell(text))
    .replace(HIDDEN_AT, '@')
    .replace(HIDDEN_DOT, '.')
    .replace(QUOTED_MAILBOX, '$1$2@');
  if (tidy === '') return invalid('empty');
  const whole = canonicalAddress(tidy);
  if (whole !== null) return { values: [whole] };
  return severalValues(addressesIn(tidy), 'not_an_email');
}

function withAt(text: string): string {
  return text.includes('@') ? text : text.replace(ENCODED_AT, '@');
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
  const found = tidy
    .replace(SCHEMES, ' ')
    .split(SEPARATORS)
    .map(trimPunctuation)
    .map(canonicalAddress)
    .filter((address) => address !== null);
  if (found.length > 0) return found;
  const [local = '', domain = '', ...more] = tidy.split('@');
  const joined = more.length === 0 ? canonicalAddress(`${local.trim()}@${domain.trim()}`) : null;
  return joined === null ? [] : [joined];
}

/** Removes a sentence's punctuation around an address, and a `mailto:` link's `?subject=` after it. */
function trimPunctuation(token: string): string {
  const query = token.indexOf('?', token.indexOf('@') + 1);
  const address = token.includes('@') && query > 0 ? token.slice(0, query) : token;
  let end = address.length;
  while (end > 0 && ".,:;!'`’".includes(address.charAt(end - 1))) end -= 1;
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
