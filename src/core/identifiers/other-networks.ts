/**
 * Hosts of social networks and page builders whose pages belong to their users. A profile URL there does not
 * belong to the professional network, and such a page is not its owner's domain.
 */
const networkHosts = new Set([
  'angel.co',
  'bsky.app',
  'crunchbase.com',
  'facebook.com',
  'fb.com',
  'github.com',
  'gitlab.com',
  'instagram.com',
  'linktr.ee',
  'mastodon.social',
  'medium.com',
  'pinterest.com',
  'reddit.com',
  'sites.google.com',
  'snapchat.com',
  't.me',
  'threads.net',
  'tiktok.com',
  'tumblr.com',
  'twitter.com',
  'vimeo.com',
  'vk.com',
  'wikipedia.org',
  'x.com',
  'xing.com',
  'youtube.com',
]);

/** Paths that a company's own site has too, so they do not indicate a user's page. */
const OWN_PAGES = /^(?:about|about-us|company|contact|home|index\.\w+|legal|privacy)$/i;

/** Returns true for a lower-case host of one of the networks or below it. */
export function isOtherNetwork(host: string): boolean {
  const labels = host.split('.');
  return (
    networkHosts.has(labels.slice(-2).join('.')) || networkHosts.has(labels.slice(-3).join('.'))
  );
}

/** Returns true for a URL of a user's page on a network: `facebook.com/acme`, not `facebook.com`. */
export function isProfilePage(host: string, path: string): boolean {
  const first = path.split(/[/\\?#]/, 2)[1] ?? '';
  return first !== '' && !OWN_PAGES.test(first) && isOtherNetwork(host);
}
