/**
 * Links that lead on to another address, as they are copied from search results, mails and networks. Whose page it is says
 * the address inside: `google.com/url?q=https://acme.com` in a column of websites is Acme's site.
 */

/** Addresses of such links, without scheme and query, with the parameters that may hold the target. */
const redirects: readonly [RegExp, readonly string[]][] = [
  [/^(?:[a-z0-9-]{1,20}\.)?google\.[a-z.]{2,6}\/url$/, ['q', 'url']],
  [/^[a-z]{1,20}\.(?:facebook|instagram)\.com\/(?:l\.php)?$/, ['u']],
  [/^[a-z0-9.-]{1,60}\.safelinks\.protection\.outlook\.com\/$/, ['url']],
  [/^(?:www\.)?youtube\.com\/redirect$/, ['q']],
  [/^duckduckgo\.com\/l\/$/, ['uddg']],
  [/^translate\.google\.[a-z.]{2,6}\/(?:translate|website)$/, ['u']],
  [/^linkprotect\.cudasvc\.com\/url$/, ['a']],
  // Of the professional network, on any host.
  [/^[a-z0-9.-]{1,100}\/(?:authwall|redir\/redirect)$/, ['sessionRedirect', 'url']],
];
/** The text that a web archive puts before the address of a page: the time of the copy. */
const ARCHIVE = /^(?:https?:\/\/)?web\.archive\.org\/web\/\d{4,14}[a-z_]{0,4}\/(?=\S)/i;
/** The texts that a mail filter puts around an address. */
const FILTERED = /^(?:https?:\/\/)?urldefense\.com\/v3\/__(https?:\/{1,2}[^\s]+?)__;/i;
/** Its older form, in which `-` stands for `%` and `_` for a slash. */
const FILTERED_V2 = /^(?:https?:\/\/)?urldefense\.proofpoint\.com\/v2\/url\?u=([^&\s]+)/i;
const SCHEME = /^(?:https?:)?\/{0,2}/i;
/** An address with a host, and not the words of a search. */
const ADDRESS = /^(?:https?:\/{0,2})?[^\s/?#]+\.[^\s/?#]+/i;
const NESTED_MAX = 3;

/** Returns the address that the link leads to, at most three links on; the text itself when it is no such link. */
export function linkTarget(text: string): string {
  let address = text;
  for (let links = 0; links < NESTED_MAX; links += 1) {
    const next = nextAddress(address);
    if (next === null || !ADDRESS.test(next)) return address;
    address = next;
  }
  return address;
}

function nextAddress(text: string): string | null {
  if (ARCHIVE.test(text)) return text.replace(ARCHIVE, '');
  const filtered = FILTERED.exec(text)?.[1];
  if (filtered !== undefined) return filtered;
  const older = FILTERED_V2.exec(text)?.[1];
  if (older !== undefined) {
    const encoded = older.replaceAll('-', '%').replaceAll('_', '/');
    return new URLSearchParams(`u=${encoded}`).get('u');
  }
  const query = text.indexOf('?');
  if (query < 0) return null;
  const page = text.slice(0, query).replace(SCHEME, '').toLowerCase();
  const names = redirects.find(([form]) => form.test(page))?.[1];
  if (names === undefined) return null;
  const parameters = new URLSearchParams(text.slice(query + 1).split('#', 1)[0]);
  return names.map((name) => parameters.get(name)).find((value) => value !== null) ?? null;
}
