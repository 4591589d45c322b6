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

/** Other hosts whose pages are about others: shops, jobs, apps, appointments, registers. */
const pageHosts = new Set([
  'apps.apple.com',
  'calendly.com',
  'company-information.service.gov.uk',
  'linkedin.com',
  'notion.site',
  'opencorporates.com',
  'play.google.com',
  'wa.me',
]);
const PAGE_HOST =
  /^(?:[a-z0-9-]{1,20}\.)?(?:amazon|ebay|etsy|glassdoor|indeed|kununu|northdata|tripadvisor|trustpilot)\.(?:com|co|[a-z]{2})(?:\.[a-z]{2})?$/;

/** Paths that a company's own site has too, so they do not indicate a user's page. */
const OWN_PAGES = /^(?:about|about-us|company|contact|home|index\.\w+|legal|privacy)$/i;

/** Pages of a search engine, and links of a mail filter, about something else. */
const SEARCH_PAGE =
  /^(?:(?:maps|translate)\.google\.[a-z.]{2,6}[/\\?]|(?:www\.)?google\.[a-z.]{2,6}[/\\]+(?:maps|search|url)\b|webcache\.googleusercontent\.com[/\\]|(?:www\.)?bing\.com[/\\]+(?:ck|maps|search)\b|(?:[a-z]{2}\.)?search\.yahoo\.com[/\\]|urldefense\.(?:com|proofpoint\.com)[/\\]+v\d|[a-z0-9-]{1,40}\.mimecast\.com[/\\]+s[/\\]|secure-web\.cisco\.com[/\\])/i;

/** Returns true for a lower-case host of one of the networks or below it. */
export function isOtherNetwork(host: string): boolean {
  return isBelow(host, networkHosts);
}

/** Returns true for a lower-case host whose pages are about others than its owner. */
export function hasPagesOfOthers(host: string): boolean {
  return isOtherNetwork(host) || isBelow(host, pageHosts) || PAGE_HOST.test(host);
}

function isBelow(host: string, hosts: ReadonlySet<string>): boolean {
  const labels = host.split('.');
  return [2, 3, 4].some((length) => hosts.has(labels.slice(-length).join('.')));
}

/** Returns true for a URL of a page about another than its host's owner: `facebook.com/acme`, not `facebook.com`. */
export function isProfilePage(host: string, path: string): boolean {
  if (SEARCH_PAGE.test(host + path)) return true;
  const [, first = '', second = ''] = path.split(/[/\\?#]/, 3);
  // `linkedin.com/company/acme` is no page about LinkedIn.
  const isOwn = OWN_PAGES.test(first) && (first !== 'company' || second === '');
  return first !== '' && !isOwn && hasPagesOfOthers(host);
}
