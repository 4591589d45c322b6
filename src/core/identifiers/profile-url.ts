/**
 * Profiles on the professional network, in their canonical form: the lower-case handle.
 * 1. The path decides, not the host: `/in/<handle>` or `/pub/<handle>` is a person's, `/company/<handle>` (or
 * `/school/`, `/showcase/`) a company's; each is refused for the other subject.
 * 2. Any scheme, host, country subdomain, query (also one that lost its `?`), fragment, language or trailing path.
 * 3. The old public form `/pub/<name>/<a>/<b>/<c>` is today's handle `<name>-<c><b><a>`, with b and c padded to
 * three characters, to which the network itself redirects it.
 * 4. Percent escapes are decoded; letters of any script stay, invisible characters are removed.
 * 5. Words, quotes and punctuation around the address are none of it, nor is the network's name before it. A link of
 * search results or mails leads to the address in its query.
 * 6. A bare handle is itself. Hosts of other networks are refused, and email addresses.
 * 7. Of an address that was put behind the beginning of another (`/in/https://.../in/jane`), the last counts. Searches by name
 * (`/pub/dir/Jane/Doe`), one's own page (`/in/me`) and pages that are gone are no profiles.
 */
import { type CellContent, handleMention, type KindDescription } from './kind.ts';
import { linkTarget } from './link-target.ts';
import {
  foldCase,
  foldUnicode,
  invalid,
  isTooLong,
  joinEllipsis,
  type Normalised,
  oneValue,
  severalValues,
  tidyCell,
} from './normalised.ts';
import { isOtherNetwork } from './other-networks.ts';
import { isNoHandle } from './placeholder.ts';

export const professionalNetwork = {
  label: 'Profile URL',
  parameter: 'Profile URL on the professional network, or the last part of it.',
  forms:
    'any form of the profile URL, also among words or in a link that leads on to it, or the bare handle',
  normalise: (text, { subject }) => normaliseProfileUrl(text, subject),
  isNone: isNoHandle,
  testIdentifier: (word) => `test-${word}`,
  person: {
    stored: [{ name: 'professional_network', code: 1, fields: ['professional_network'] }],
    optOut: /\/(in|pub)\//i,
    optOutName: 'a profile URL',
    mention: handleMention,
  },
  company: {
    stored: [{ name: 'professional_network', code: 4, fields: ['professional_network'] }],
  },
  column: {
    words: 'linkedin professionalnetwork li',
    plural: 'profile URLs',
    contentOf: (cell, { subject }) => profileContent(cell, subject),
    isUnmistakable: true,
  },
} as const satisfies KindDescription;

const personPaths: ReadonlySet<string> = new Set(['in', 'pub']);
const companyPaths: ReadonlySet<string> = new Set(['company', 'school', 'showcase']);
const PLAIN_HANDLE = /^[a-z0-9-]+$/;
const HANDLE = /^[^\s\p{C}/?#%@:\\<>"|,;()[\]{}=^`]+$/u;
const LABEL = /^linkedin\s{0,3}:\s{0,3}(?=\S)/i;
/** A word that is an address for certain: `in/out` in prose is none. */
const ADDRESS_AMONG_WORDS = /^(?:https?:\/\/)?[^/\s]+\.[^/\s]+\//i;
const ADDRESS_BEFORE_ADDRESS =
  /^\S{0,100}\/(?:in|pub|company|school|showcase)\/+(?=https?:\/|(?:[a-z0-9-]{1,40}\.){1,3}[a-z]{2,10}\/(?:in|pub|company|school|showcase)\/)/i;
/** An address whose handle has a space in it: `/in/jane doe` is not `/in/jane`. */
const HANDLE_IN_WORDS =
  /^\S+\/(?:in|pub|company|school|showcase)\/[^\s/?#]+(?:\s[\p{L}\p{N}-]+){1,5}$/iu;
/** In the place of a handle. The last two are what programs write that have none. */
const notHandles: ReadonlySet<string> = new Set(['dir', 'me', 'unavailable', 'undefined', 'null']);
const HANDLE_CHARACTERS_MAX = 200;
/** A kind of page may come first, or after a prefix such as `/mwlite/`. */
const PREFIX_SEGMENTS_MAX = 2;

/** Reasons: `empty`, `too_long`, `not_a_profile`, `other_network`, `person_profile`,
 * `company_profile`. */
export function normaliseProfileUrl(text: string, subject: 'person' | 'company'): Normalised {
  if (isTooLong(text)) return invalid('too_long');
  if (text.length <= HANDLE_CHARACTERS_MAX && PLAIN_HANDLE.test(text)) return { values: [text] };
  const tidy = joinEllipsis(tidyCell(text))
    .replace(/^<(.*)>$/s, '$1')
    .replace(/[\s,;]{1,5}$/, '')
    .replace(LABEL, '');
  if (tidy === '') return invalid('empty');
  const whole = profileOf(linkTarget(tidy), subject);
  if ('values' in whole || !tidy.includes('/') || HANDLE_IN_WORDS.test(tidy)) return whole;
  const found = tidy
    .split(/[\s,;|()<>"'[\]]+/)
    .filter((word) => word !== tidy && ADDRESS_AMONG_WORDS.test(word))
    .map((word) => profileOf(linkTarget(word), subject))
    .flatMap((outcome) => ('values' in outcome ? outcome.values : []));
  return severalValues(found, whole.reason);
}

function profileOf(text: string, subject: 'person' | 'company'): Normalised {
  const last = text.replace(ADDRESS_BEFORE_ADDRESS, '');
  const schemeless = last.replace(/^(?:[a-z][a-z0-9+.-]{0,20}:)?[/\\]{2}/i, '');
  const address = schemeless.split(/[?#]|&(?=\w{1,30}=)/, 1)[0] ?? '';
  const segments = address.split(/[/\\]+/).filter((segment) => segment !== '');
  const isBare = schemeless === last && segments.length === 1 && address === segments[0];
  return isBare ? handleValue(address) : handleOfPath(segments, subject);
}

function handleOfPath(segments: string[], subject: 'person' | 'company'): Normalised {
  const host = segments[0]?.toLowerCase() ?? '';
  if (isOtherNetwork(host)) return invalid('other_network');
  const hostSegments = personPaths.has(host) || companyPaths.has(host) ? 0 : 1;
  const kinds = subject === 'person' ? personPaths : companyPaths;
  const others = subject === 'person' ? companyPaths : personPaths;
  const last = Math.min(segments.length - 1, hostSegments + PREFIX_SEGMENTS_MAX + 1);
  for (let i = hostSegments; i < last; i += 1) {
    const kind = segments[i]?.toLowerCase() ?? '';
    if (kinds.has(kind)) return handleInPath(kind, segments.slice(i + 1));
    if (others.has(kind) && !hasKindAfter(segments, i + 1, kinds)) {
      return invalid(subject === 'person' ? 'company_profile' : 'person_profile');
    }
  }
  return invalid('not_a_profile');
}

/** `/in/company/acme`: a country's path before the kind of page. */
function hasKindAfter(segments: string[], from: number, kinds: ReadonlySet<string>): boolean {
  return from < segments.length - 1 && kinds.has(segments[from]?.toLowerCase() ?? '');
}

function handleInPath(kind: string, path: string[]): Normalised {
  const handle = handleValue(handleFrom(kind, path));
  return 'values' in handle && notHandles.has(handle.values[0]) ? invalid('not_a_profile') : handle;
}

function handleFrom(kind: string, path: string[]): string {
  const [name = '', a = '', b = '', c = ''] = path;
  const isOldForm = kind === 'pub' && [a, b, c].every((part) => /^[0-9a-z]{1,3}$/i.test(part));
  return isOldForm ? `${name}-${c.padStart(3, '0')}${b.padStart(3, '0')}${a}` : name;
}

function handleValue(raw: string): Normalised {
  const decoded = decodeEscapes(raw);
  if (decoded === null) return invalid('not_a_profile');
  const whole = foldCase(foldUnicode(decoded).trim());
  // A program cut the link where it shows it: `/in/jane-d...` is not `/in/jane-d`.
  if (whole.endsWith('...')) return invalid('not_a_profile');
  const folded = whole.replace(/(?<!\.)\.{1,2}$/, '');
  if (folded.length > HANDLE_CHARACTERS_MAX) return invalid('too_long');
  return HANDLE.test(folded) ? oneValue(folded) : invalid('not_a_profile');
}

/** Escapes of escapes occur in links that were copied through other links. */
function decodeEscapes(text: string): string | null {
  let decoded = text;
  for (let round = 0; round < 3 && decoded.includes('%'); round += 1) {
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      return null; // Not UTF-8, so not a handle.
    }
  }
  return decoded;
}

function profileContent(cell: string, subject: 'person' | 'company'): CellContent {
  if (isNoHandle(cell)) return null;
  const profile = normaliseProfileUrl(cell, subject);
  if ('values' in profile) return /[/\\]/.test(cell) ? 'certain' : 'possible';
  return /^(?:person|company)_profile$/.test(profile.reason) ? 'other_subject' : null;
}
