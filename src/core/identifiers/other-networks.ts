/**
 * Hosts of social networks, page builders, directories and short links whose pages belong to their users. A profile URL there does not
 * belong to the professional network, and such a page is not its owner's domain.
 */
const networkHosts = new Set([
  'angel.co',
  'bit.ly',
  'bsky.app',
  'crunchbase.com',
  'docs.google.com',
  'drive.google.com',
  'facebook.com',
  'fb.com',
  'g.page',
  'github.com',
  'gitlab.com',
  'goo.gl',
  'instagram.com',
  'linktr.ee',
  'lnkd.in',
  'mastodon.social',
  'medium.com',
  'pinterest.com',
  'reddit.com',
  'sites.google.com',
  'snapchat.com',
  't.co',
  't.me',
  'threads.net',
  'tiktok.com',
  'tinyurl.com',
  'tumblr.com',
  'twitter.com',
  'vimeo.com',
  'vk.com',
  'wikipedia.org',
  'x.com',
  'xing.com',
  'yelp.com',
  'youtube.com',
]);

/** Paths that a company's own site has too, so they do not indicate a user's page. */
const OWN_PAGES = /^(?:about|about-us|company|contact|home|index\.\w+|legal|privacy)$/i;

/** Pages of a search engine, and links of a mail filter, about something else. */
const SEARCH_PAGE =
  /^(?:(?:maps|translate)\.google\.[a-z.]{2,6}[/\\?]|(?:www\.)?google\.[a-z.]{2,6}[/\\]+(?:maps|search|url)\b|webcache\.googleusercontent\.com[/\\]|(?:www\.)?bing\.com[/\\]+(?:ck|maps|search)\b|(?:[a-z]{2}\.)?search\.yahoo\.com[/\\]|urldefense\.(?:com|proofpoint\.com)[/\\]+v\d|[a-z0-9-]{1,40}\.mimecast\.com[/\\]+s[/\\]|secure-web\.cisco\.com[/\\])/i;

/** Returns true for a lower-case host of one of the networks or below it. */
export function isOtherNetwork(host: string): boolean {
  const labels = host.split('.');
  return (
    networkHosts.has(labels.slice(-2).join('.')) || networkHosts.has(labels.slice(-3).join('.'))
  );
}

/** Returns true for a URL of a user's page on a network, or of results: `facebook.com/acme`, not `facebook.com`. */
export function isProfilePage(host: string, path: string): boolean {
  if (SEARCH_PAGE.test(host + path)) return true;
  const first = path.split(/[/\\?#]/, 2)[1] ?? '';
  return first !== '' && !OWN_PAGES.test(first) && isOtherNetwork(host);
}
