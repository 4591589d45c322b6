/**
 * Microblog handles, in their canonical form: lower case, without `@`.
 * 1. From `@handle`, `handle`, or a URL of either brand name of the service, with any subdomain, the old `#!/`
 * form, an `@` before the handle, a query or a longer path; also from a `nitter` mirror, and after `twitter:`.
 * 2. Letters, digits and underscores, at most 15 (20 for the oldest accounts).
 * 3. The service's own pages are not handles; its follow links name one in their query.
 */
import { invalid, isTooLong, type Normalised, tidyCell } from './normalised.ts';

const PLAIN_HANDLE = /^@?([a-z0-9_]{1,20})$/i;
const WEB_ADDRESS =
  /^(?:[a-z]{2,10}:)?(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,20})(?::\d{1,5})?(?:[/?#]|$)/i;
const LABEL = /^(?:twitter|x)\s*:\s*@?(?=[a-z0-9_]{1,20}$)/i;
const serviceHosts: ReadonlySet<string> = new Set(['twitter.com', 'x.com']);
const servicePages: ReadonlySet<string> = new Set(
  `about account compose download explore hashtag home i intent jobs login logout messages
   notifications oauth privacy search settings share signup tos who_to_follow widgets`.split(/\s+/),
);

/** Reasons: `empty`, `too_long`, `not_a_handle`, `other_network`. */
export function normaliseMicroblogHandle(text: string): Normalised {
  const plain = PLAIN_HANDLE.exec(text);
  if (plain?.[1] !== undefined) return handleValue(plain[1]);
  if (isTooLong(text)) return invalid('too_long');
  const tidy = tidyCell(text).replace(LABEL, '');
  if (tidy === '') return invalid('empty');
  const host = WEB_ADDRESS.exec(tidy)?.[1]?.toLowerCase();
  if (host === undefined) return handleValue(tidy);
  if (!serviceHosts.has(host.split('.').slice(-2).join('.')) && !host.startsWith('nitter.')) {
    return invalid(tidy.includes('/') ? 'other_network' : 'not_a_handle');
  }
  return handleValue(handleInPath(tidy.slice(tidy.toLowerCase().indexOf(host) + host.length)));
}

function handleInPath(afterHost: string): string {
  const named = /[?&](?:screen_name|via)=@?(\w{1,20})(?:[&#]|$)/i.exec(afterHost)?.[1];
  if (named !== undefined && /^\/(?:intent|share)\b/i.test(afterHost)) return named;
  const path = afterHost.replace(/^(?::\d{1,5})?\/*(?:#!\/*)?/, '');
  return path.split(/[/?#]/, 1)[0] ?? '';
}

function handleValue(text: string): Normalised {
  const handle = PLAIN_HANDLE.exec(text.trim())?.[1]?.toLowerCase();
  return handle === undefined || servicePages.has(handle)
    ? invalid('not_a_handle')
    : { values: [handle] };
}
