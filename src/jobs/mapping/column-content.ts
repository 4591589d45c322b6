/**
 * Classifies the cells of a column. Two counts of every kind: `strict`, cells that can hardly be anything else
 * (the basis of guesses from content alone), and `loose`, cells that the kind's normaliser could use (a header
 * is doubted when hardly any cell counts).
 */
import { parse as parseHost } from 'tldts';
import { countryCode } from '../../core/identifiers/country.ts';
import { normaliseDomain } from '../../core/identifiers/domain.ts';
import { normaliseEmail } from '../../core/identifiers/email.ts';
import { normaliseMicroblogHandle } from '../../core/identifiers/microblog-handle.ts';
import type { Normalised } from '../../core/identifiers/normalised.ts';
import { normalisePhone } from '../../core/identifiers/phone.ts';
import { normaliseProfileUrl } from '../../core/identifiers/profile-url.ts';
import { normaliseRegistryNumber } from '../../core/identifiers/registry-number.ts';

/** Kinds of cells with their plurals for messages. `other_profile` is a profile of the other subject. */
export const contentPlurals = {
  email: 'e-mails',
  profile: 'profile URLs',
  other_profile: 'profile URLs of the other kind',
  twitter: 'microblog handles',
  phone: 'phone numbers',
  registry_number: 'registry numbers',
  domain: 'web addresses',
  country: 'countries',
  company_name: 'company names',
  person_name: 'names',
} as const;
export type ContentKind = keyof typeof contentPlurals;

export interface ColumnContent {
  /** Non-empty cells. */
  filled: number;
  strict: Readonly<Record<ContentKind, number>>;
  loose: Readonly<Record<ContentKind, number>>;
}

/** The context in which cells are read, the same as for the rows of the batch. */
export interface CellContext {
  subject: 'person' | 'company';
  /** ISO 3166 alpha-2 country of each sample row's phone numbers, or null. */
  regions: readonly (string | null)[];
  /** ISO 3166 alpha-2 country of each sample row's registry numbers, or null for the default. */
  registryCountries: readonly (string | null)[];
}

/** Placeholders for empty cells. */
const PLACEHOLDER =
  /^(?:[-–—.?*/\\]+|n\/?a|#n\/a|none|null|nil|unknown|not available|keine?|tbd|tbc)$/i;

export function isFilled(cell: string): boolean {
  const text = cell.trim();
  return text !== '' && !PLACEHOLDER.test(text);
}

/** Classifies one column of the sample. Pure; time linear in the length of the cells. */
export function readContent(cells: readonly string[], context: CellContext): ColumnContent {
  const strict = noCounts();
  const loose = noCounts();
  let filled = 0;
  let registerSigns = 0;
  for (const [row, cell] of cells.entries()) {
    if (!isFilled(cell)) continue;
    filled += 1;
    const text = cell.trim();
    countText(text, context.subject, strict, loose);
    countNumbers(text, row, context, strict, loose);
    if (UK_NUMBER_SIGN.test(text)) registerSigns += 1;
  }
  // Eight digits may be any number or date: only leading zeros and prefixes indicate a registry number.
  if (registerSigns * 10 < filled) strict.registry_number = 0;
  return { filled, strict, loose };
}

type Counts = Record<ContentKind, number>;

function noCounts(): Counts {
  const kinds = Object.keys(contentPlurals) as ContentKind[];
  return Object.fromEntries(kinds.map((kind) => [kind, 0])) as Counts;
}

function isUsable(normalised: Normalised): boolean {
  return 'values' in normalised;
}

/** Counts e-mails, profiles, handles, domains and names, which do not depend on the row. */
function countText(
  text: string,
  subject: 'person' | 'company',
  strict: Counts,
  loose: Counts,
): void {
  const count = (kind: ContentKind, isStrict: boolean, isLoose: boolean) => {
    if (isStrict) strict[kind] += 1;
    if (isStrict || isLoose) loose[kind] += 1;
  };
  const isEmail = text.includes('@') && isUsable(normaliseEmail(text));
  const profile = normaliseProfileUrl(text, subject);
  const isProfile = isUsable(profile) && /[/\\]/.test(text);
  const isOther = 'reason' in profile && /^(?:person|company)_profile$/.test(profile.reason);
  const isHandle = isUsable(normaliseMicroblogHandle(text));
  const isStrictHandle = isHandle && /^@|[/.]/.test(text);
  const isHost = isUsable(normaliseDomain(text));
  const isPage = isEmail || isProfile || isOther || isStrictHandle;
  const hasLetter = /\p{L}/u.test(text);
  const isAddress = isEmail || text.includes('://');
  count('email', isEmail, false);
  count('profile', isProfile, isUsable(profile));
  count('other_profile', isOther, false);
  count('twitter', isStrictHandle, isHandle);
  count('domain', !isPage && isHost && isListedHost(text), isHost);
  count('country', countryCode(text) !== null, false);
  count('company_name', legalForm.test(text), !isAddress && /[\p{L}\p{N}]/u.test(text));
  count('person_name', false, !isAddress && hasLetter && !/\d{3}/.test(text));
}

/** Counts phone and registry numbers, which need the row's country. */
function countNumbers(
  text: string,
  row: number,
  { regions, registryCountries }: CellContext,
  strict: Counts,
  loose: Counts,
): void {
  if (!/\d/.test(text)) return;
  const phone = normalisePhone(text, regions[row] ?? undefined);
  const isPhone = isUsable(phone) && /^[\d\s+().,;:/~\-‐-―extEXT#]+$/.test(text);
  const isWritten = /^\s*(?:\+|00)|^\(|^0\d{8,}$|\d[\s().\-/]+\d/.test(text);
  if (isPhone && isWritten && !DATE_OR_ADDRESS.test(text)) strict.phone += 1;
  if (isPhone || looksNational(text, phone)) loose.phone += 1;
  if (ukNumber.test(text)) strict.registry_number += 1;
  const country = registryCountries[row] ?? 'GB';
  if (isUsable(normaliseRegistryNumber(text, country))) loose.registry_number += 1;
}

/** Dates and IP addresses, which some numbering plans would accept as phone numbers. */
const DATE_OR_ADDRESS =
  /^(?:\d{4}[-/.]\d\d?[-/.]\d|\d\d?[-/.]\d\d?[-/.]\d{2,4}\b|(?:\d+\.){3}\d+$)/;

/** True for a phone number without its country or with another plan's digits. */
function looksNational(text: string, phone: Normalised): boolean {
  if (isUsable(phone) || ('reason' in phone && phone.reason === 'digits_lost')) return true;
  const digits = text.replace(/\D+/g, '').length;
  return digits >= 6 && digits <= 17 && digits * 2 > text.length;
}

const ukPrefixes = `AC|CE|CS|FC|FE|GE|GN|GS|IC|IP|LP|NC|NF|NI|NL|NO|NP|NR|NZ|OC|OE|PC|R0|RC|RS|SA|
  SC|SE|SF|SG|SI|SL|SO|SP|SR|SZ|ZC`;
/** Companies House: eight digits, or a prefix of two letters and six digits. */
const ukNumber = new RegExp(`^(?:\\d{8}|(?:${ukPrefixes.replace(/\s+/g, '')})\\d{6})$`, 'i');
const UK_NUMBER_SIGN = /^(?:0\d{7}|[A-Z]{2}\d{6})$/i;

const forms = `limited|ltd|inc|incorporated|plc|llc|llp|gmbh|corp|corporation|pty|oyj?|aps|kft|
  a\\.?g|a/?s|b\\.?v|k\\.?k|s\\.?a\\.?r\\.?l|s\\.?r\\.?l|s\\.?p\\.?a`;
/** Legal forms that end company names and little else. */
const legalForm = new RegExp(`[\\s,(](?:${forms.replace(/\s+/g, '')})\\.?\\)?$`, 'i');

/** True for a host under a listed public suffix; `Mr.Smith` only has the letters of a host. */
function isListedHost(text: string): boolean {
  if (/\s/.test(text.trim()) || !text.includes('.')) return false;
  return parseHost(text.trim(), { allowPrivateDomains: false }).isIcann === true;
}
