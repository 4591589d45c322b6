/**
 * Company domains, in their canonical form:
 * 1. From a host, a URL or an email address: the lower-case ASCII host, without `www.`, port and trailing dot. A
 * Unicode host becomes `xn--` by UTS 46, with the tables of tr46: those of the runtime differ between versions of
 * Node, and every process must look up the same value.
 * 2. The host is tried first, because companies own hosts below another's domain; then the registrable domain by
 * the Public Suffix List. Below a shared suffix of its private part (site builders, clouds) the customer's host is
 * the registrable one.
 * 3. Free-mail domains, addresses at providers of Internet access, and pages on a social network identify no company; a host
 * below one of them, or below a host of its customers' sites (`acme.zendesk.com`), is tried only in full.
 * 4. Quotes, brackets and words around it, a label before it (`Website:`), and a scheme twice, made harmless (`hxxps`, `[.]`)
 * or with a slash or a colon too few or too many are removed. A link of search results, mails or a web archive leads to the
 * address inside.
 * 5. A cell without a host is read once more without the slips of typing that leave no doubt: a space at a dot, two dots,
 * `www acme com`, `acme dot com`, a comma for the dot after `www.` or before `com`, `net` and `org`.
 * 6. Words before a host may be its beginning: `burger king.com` is not king.com. So they must be a part of it, or a label.
 * 7. A host before a space or a comma and letters that may be its end is refused: `acme.co uk`, `acme.com,au` and `acme.co m` are
 * not acme.co or acme.com. So is one that a program cut: `acme.co...`.
 * 8. Refused: public suffixes alone, addresses (IPv4, IPv6), hosts without a dot.
 */
import { getDomain, parse } from 'tldts';
import { toASCII } from 'tr46';
import { isAccessDomain, isFreeMailDomain } from './free-mail-domains.ts';
import type { CellContent, KindDescription } from './kind.ts';
import { linkTarget } from './link-target.ts';
import {
  invalid,
  isTooLong,
  joinEllipsis,
  type Normalised,
  severalValues,
  tidyCell,
} from './normalised.ts';
import { hasSitesOfOthers, isProfilePage } from './other-networks.ts';

export const domain = {
  label: 'Domain',
  parameter: 'Domain, website or email address of the company.',
  forms:
    'a URL of the site, an email, `www.`, a link of search results or mails that leads on to the site; free-mail domains, short links and pages of networks, maps and search results match no company',
  normalise: (text) => normaliseDomain(text),
  testIdentifier: (word) => `${word}-test.example`,
  company: {
    stored: [
      { name: 'domain', code: 2, fields: ['domain'] },
      { name: 'alias_domain', code: 3, fields: ['domains'] },
      { name: 'ended_domain', code: 9, by: 'alias_domain', isOfDissolved: true },
    ],
  },
  column: {
    words: 'domain domaine dominio domena domein doman domane domaene ドメイン 域名',
    plural: 'web addresses',
    contentOf: hostContent,
    yields: true,
  },
} as const satisfies KindDescription;

const ASCII_HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const HOST_CHARACTERS = /^[a-z0-9.\-\u0080-\u{10ffff}]+$/iu;
/** Nontransitional processing, as browsers request it (WHATWG URL, "domain to ASCII"). */
const hostRules = { checkBidi: true, checkJoiners: true };
const HOST_CHARACTERS_MAX = 253;
/** A label of more than 63 characters, between the dots of UTS 46. */
const LONG_LABEL = /[^.\u3002\uff0e\uff61]{64}/u;
/** Below these every name of two labels is registrable: the list has no longer suffix for them. */
const SIMPLE_DOMAIN = /^[a-z0-9]+(?:-[a-z0-9]+)*\.(?:com|org|net|edu|gov|info|dev|app)$/;
const SIMPLE_DOMAIN_CHARACTERS_MAX = 63;
const BETWEEN_WORDS = /[\s,;|()<>"'[\]]+/;
/** Signs around an address that no host begins or ends with. */
const AROUND = /^(?:\*\.|["'`“”„‘’«»‹›*_{~]{1,4})|["'`“”‘’«»‹›*_}!]{1,4}$/g;
const LABEL =
  /^(?:web ?site|web|url|site|homepage|domain|view-source)\s{0,2}[:=]\s{0,2}(?=[^\s/])/i;
const HIDDEN_DOT = /\s{0,2}[[({]\s{0,2}(?:dot|\.)\s{0,2}[\])}]\s{0,2}/gi;
/** Cells that are one host with a slip of typing; group 1 is the scheme. */
const SPACED_DOT = /^(https?:\/\/)?[\w-]+(?:\.[\w-]+)*(?: \.|\. )[a-z]{2,12}(?:\.[a-z]{2})?\/?$/;
const DOTS_IN_WORDS =
  /^(?:www [a-z0-9-]+ [a-z]{2,12}(?: [a-z]{2})?|[a-z0-9-]+(?:\.[a-z0-9-]+)*(?: dot [a-z0-9-]+)+)$/i;
const COMMA_FOR_DOT =
  /^(?:https?:\/\/)?(?:www[.,][a-z0-9-]+,[a-z]{2,12}|www,[a-z0-9-]+(?:\.[a-z0-9-]+)+|[a-z0-9-]+,(?:com|net|org))\/?$/i;
const WORDS_BEFORE_HOST =
  /^([\p{L}\p{N}-]+(?: [\p{L}\p{N}-]+){0,5}) ((?:[\p{L}\p{N}-]+\.)+\p{L}{2,20})\/?$/u;
const hostLabels: ReadonlySet<string> = new Set(
  'at domain homepage page see site url visit web website'.split(' '),
);
/** A host and what may be its end, at the end of a cell or of an item of its list. */
const HOST_IN_PARTS =
  /(?<![^\s,;|()<>"'[\]])([^\s,;|()<>"'[\]]{1,253}\.[a-z]{2,63})(?:,|\s{1,2})([a-z]{1,3})\/?(?=$|\s{0,2}[;,|\n])/gi;
/** A text that a program cut within the host. */
const CUT_HOST = /^(?:[a-z]{3,8}:\/\/)?[^\s/?#]*\.{3}$|\s[^\s/?#.]+\.[^\s/?#]*\.{3}$/i;
const DOUBLED_DOT = /^(?:https?:\/\/)?[\w.-]+\.\.[\w.-]+\/?$/;

/** Reasons: `empty`, `too_long`, `not_a_domain`, `public_suffix`, `free_mail_domain`,
 * `page_on_a_network`. */
export function normaliseDomain(text: string): Normalised {
  if (text.length <= SIMPLE_DOMAIN_CHARACTERS_MAX) {
    const lower = text.toLowerCase();
    if (SIMPLE_DOMAIN.test(lower)) return domainsOfHost(lower);
  }
  if (isTooLong(text)) return invalid('too_long');
  const shown = joinEllipsis(tidyCell(text))
    .replace(/&nbsp;|、/g, ' ')
    .replace(AROUND, '')
    .replace(LABEL, '')
    .replace(/(?:%20){1,5}$/, '')
    .replace(/^hxxp(?=s?:)/i, 'http')
    .replace(/^https?:(?=[\s/]{0,4}\s)[\s/]{1,6}/i, 'https://')
    .replace(HIDDEN_DOT, '.')
    .trim();
  if (shown === '') return invalid('empty');
  if (CUT_HOST.test(shown)) return invalid('not_a_domain');
  const tidy = shown.replace(/\.{2}$/, '').trim();
  const whole = domainsOfUrl(tidy);
  if ('values' in whole || whole.reason !== 'not_a_domain') return whole;
  const meant = withoutSlips(tidy);
  if (meant !== null) return domainsOfUrl(meant);
  if (!BETWEEN_WORDS.test(tidy) || mayBeginWithWords(tidy)) return whole;
  return domainsAmongWords(tidy, whole);
}

/** True for a cell of words and a host that may be one host with a space in it. */
function mayBeginWithWords(tidy: string): boolean {
  const [, words = '', host = ''] = WORDS_BEFORE_HOST.exec(tidy.toLowerCase()) ?? [];
  if (host === '' || host.startsWith('www.')) return false;
  const isOfHost = (word: string) =>
    hostLabels.has(word) || host.startsWith(word) || (word.length > 2 && host.includes(word));
  return !words.split(' ').some(isOfHost);
}

/** The address of a cell with a slip of typing; null for any other text. Only a name that exists can be told from it. */
function withoutSlips(tidy: string): string | null {
  if (tidy.length > HOST_CHARACTERS_MAX) return null;
  let meant = tidy;
  if (SPACED_DOT.test(tidy)) meant = tidy.replaceAll(' ', '');
  else if (DOTS_IN_WORDS.test(tidy)) meant = tidy.replace(/ dot | /gi, '.');
  else if (COMMA_FOR_DOT.test(tidy)) meant = tidy.replaceAll(',', '.');
  else if (DOUBLED_DOT.test(tidy)) meant = tidy.replaceAll('..', '.');
  else return null;
  return isListedDomain(splitUrl(meant).host) ? meant : null;
}

/**
 * Returns the host as DNS requires it: lower case, ASCII, at least two labels, no numeric top label. Null when the
 * text is not such a host.
 */
export function toAsciiHost(text: string): string | null {
  let host = withoutRootDot(text.toLowerCase());
  if (!ASCII_HOST.test(host) || host.includes('xn--')) {
    // Punycode takes quadratic time, and its text is never shorter.
    if (host.length > HOST_CHARACTERS_MAX || LONG_LABEL.test(host)) return null;
    // The text as written: Unicode's rules for hosts have their own case folding.
    const ascii = HOST_CHARACTERS.test(text) ? toASCII(text, hostRules) : null;
    if (ascii === null) return null;
    host = withoutRootDot(ascii);
    if (!ASCII_HOST.test(host)) return null;
  }
  return host.length > HOST_CHARACTERS_MAX ? null : host;
}

function withoutRootDot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host;
}

/** Finds one or more hosts among words; only hosts below a listed suffix can be told from prose. */
function domainsAmongWords(tidy: string, whole: Normalised): Normalised {
  const found: string[] = [];
  let refused = whole;
  const parts = new Set(hostsInParts(tidy));
  for (const word of tidy.split(BETWEEN_WORDS)) {
    if (!word.includes('.') || parts.has(word)) continue;
    const outcome = domainsOfUrl(word);
    if (!('values' in outcome)) {
      if (outcome.reason !== 'not_a_domain') refused = outcome;
    } else if (parse(outcome.values[0], icannOnly).isIcann === true) {
      found.push(...outcome.values);
    }
  }
  return severalValues(found, 'reason' in refused ? refused.reason : 'not_a_domain');
}

function hostsInParts(tidy: string): string[] {
  return [...tidy.matchAll(HOST_IN_PARTS)].flatMap(([, host = '', end = '']) =>
    mayEndIn(splitUrl(host).host, end) ? [host] : [],
  );
}

/** True when letters behind a host may be the rest of its ending: `uk` of `acme.co uk`, `m` of `acme.co m`. */
export function mayEndIn(host: string, letters: string): boolean {
  const last = host.slice(host.lastIndexOf('.') + 1);
  return [`${last}.${letters}`, `${last}${letters}`].some((ending) => {
    const { isIcann, publicSuffix } = parse(`name.${ending.toLowerCase()}`, icannOnly);
    return isIcann === true && publicSuffix === ending.toLowerCase();
  });
}

function domainsOfUrl(text: string): Normalised {
  const { host: raw, path, isAddress } = splitUrl(linkTarget(text));
  const host = toAsciiHost(raw);
  if (host === null) return invalid('not_a_domain');
  if (isProfilePage(host, path)) return invalid('page_on_a_network');
  return isAddress && isAccessDomain(host) ? invalid('free_mail_domain') : domainsOfHost(host);
}

function domainsOfHost(full: string): Normalised {
  const host = withoutWww(full);
  if (isFreeMailDomain(host)) return invalid('free_mail_domain');
  if (SIMPLE_DOMAIN.test(host)) return { values: [host] };
  const owner = getDomain(host, icannOnly);
  if (owner === null) return invalid('public_suffix');
  const registrable = owner === host ? host : getDomain(host, withPrivateSuffixes);
  if (registrable === null || registrable === host || belongsToOthers(registrable)) {
    return { values: [host] };
  }
  return { values: [host, registrable] };
}

/** True for a domain whose hosts are its customers', and not its own. */
function belongsToOthers(registrable: string): boolean {
  return (
    isFreeMailDomain(registrable) || isAccessDomain(registrable) || hasSitesOfOthers(registrable)
  );
}

const icannOnly = { extractHostname: false, validateHostname: false, detectIp: false };
const withPrivateSuffixes = { ...icannOnly, allowPrivateDomains: true };

/** `www.co.uk` is a registered name; `www.example.co.uk` is not a name of its own. */
function withoutWww(host: string): string {
  let bare = host;
  while (bare.startsWith('www.') && bare.indexOf('.', 4) > 0) {
    const rest = bare.slice(4);
    if (!SIMPLE_DOMAIN.test(rest) && getDomain(rest, icannOnly) === null) break;
    bare = rest;
  }
  return bare;
}

/** The parts of a URL of any scheme or none; also `user@host` and `mailto:user@host`. */
function splitUrl(text: string): { host: string; path: string; isAddress: boolean } {
  const schemeless = text.replace(
    /^(?:https?:\/\/){0,2}(?:(?:[a-z][a-z0-9+.-]{0,20}:)?[/\\]{2,3}|mailto:|https?(?::\/?|\/\/:?)|www\/(?=[^/\s]+\.))|^(?:https?:\/\/){1,2}/i,
    '',
  );
  const end = schemeless.search(/[/\\?#]/);
  const authority = end < 0 ? schemeless : schemeless.slice(0, end);
  const afterUser = authority.slice(authority.lastIndexOf('@') + 1);
  const port = afterUser.indexOf(':');
  return {
    host:
      port < 0 || !/^\d{0,5}$/.test(afterUser.slice(port + 1))
        ? afterUser
        : afterUser.slice(0, port),
    path: end < 0 ? '' : schemeless.slice(end),
    isAddress: authority.includes('@'),
  };
}

/** True for a name under a listed public suffix. */
export function isListedDomain(host: string): boolean {
  const { isIcann, domain: registrable } = parse(host, icannOnly);
  return isIcann === true && registrable !== null;
}

function hostContent(cell: string): CellContent {
  if (!('values' in normaliseDomain(cell))) return null;
  return isListedHost(cell) ? 'certain' : 'possible';
}

/** True for a host under a listed public suffix; `Mr.Smith` only has the letters of a host. */
function isListedHost(cell: string): boolean {
  if (/\s/.test(cell) || !cell.includes('.')) return false;
  return parse(cell, { allowPrivateDomains: false }).isIcann === true;
}
