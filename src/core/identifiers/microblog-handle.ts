/**
 * Microblog handles, in their canonical form: lower case, without `@`.
 * 1. From `@handle`, `handle`, or a URL of either brand name of the service, with any subdomain, the old `#!/`
 * form, an `@` before the handle, a query or a longer path; also from its mirrors, a web archive and links that lead
 * on, and after `twitter:`. Brackets, quotes, punctuation and a note in parentheses around it are removed.
 * 2. Letters, digits and underscores, at most 15 (20 for the oldest accounts).
 * 3. The service's own pages are not handles; its follow links name one in their query.
 */
import { type CellContent, handleMention, type KindDescription } from './kind.ts';
import { linkTarget } from './link-target.ts';
import { invalid, isTooLong, joinEllipsis, type Normalised, tidyCell } from './normalised.ts';
import { isNoHandle } from './placeholder.ts';

export const twitter = {
  label: 'Handle',
  parameter: 'Handle on X, with or without `@`.',
  forms: '`@handle` or a URL with it, also of a mirror, with punctuation or a note around it',
  normalise: (text) => normaliseMicroblogHandle(text),
  isNone: isNoHandle,
  testIdentifier: (word) => `test_${word.replace('-', '_')}`,
  person: {
    stored: [
      { name: 'twitter', code: 5, fields: ['twitter'] },
      { name: 'former_handle', code: 6, fields: ['_meta.twitterFormer'] },
    ],
    optOut: /^\s*@|\/\/(www\.|mobile\.)?(twitter|x)\.com\//i,
    optOutName: 'an @handle',
    mention: handleMention,
  },
  column: {
    words: 'twitter microblog tweet tweeter',
    plural: 'microblog handles',
    contentOf: handleContent,
    isUnmistakable: true,
  },
} as const satisfies KindDescription;

const PLAIN_HANDLE = /^@?([a-z0-9_]{1,20})$/i;
const WEB_ADDRESS =
  /^(?:[a-z]{2,10}:)?(?:\/\/)?((?:[a-z0-9-]+\.)+[a-z]{2,20})(?::\d{1,5})?(?:[/?#]|$)/i;
const LABEL = /^(?:twitter|tw|x)\s*:\s*@?(?=[a-z0-9_]{1,20}$)/i;
const NOTE = /(?<=\S)\s{0,3}\([^()]{0,100}\)$/;
/** A handle that a program cut where it shows it. */
const CUT_HANDLE = /^(?:https?:\/\/)?(?:[a-z0-9.-]{1,60}\.com\/)?@?\w{1,20}\.{3}$/i;
const AROUND = /^[(<"“[]{1,3}(?=@|https?:)|[)>"”\],;.\s]{1,5}$/g;
const serviceHosts: ReadonlySet<string> = new Set(
  'twitter.com x.com fixupx.com fixvx.com fxtwitter.com vxtwitter.com xcancel.com'.split(' '),
);
const servicePages: ReadonlySet<string> = new Set(
  `about account compose download explore hashtag home i intent jobs login logout messages
   notifications oauth privacy search settings share signup tos who_to_follow widgets`.split(/\s+/),
);

/** Reasons: `empty`, `too_long`, `not_a_handle`, `other_network`. */
export function normaliseMicroblogHandle(text: string): Normalised {
  const plain = PLAIN_HANDLE.exec(text);
  if (plain?.[1] !== undefined) return handleValue(plain[1]);
  if (isTooLong(text)) return invalid('too_long');
  const cell = joinEllipsis(tidyCell(text));
  if (cell === '') return invalid('empty');
  if (CUT_HANDLE.test(cell)) return invalid('not_a_handle');
  // A bare word with a note may as well be a name: `Ada (CEO)`.
  const bare = /[@/]/.test(cell) ? cell.replace(NOTE, '').replace(AROUND, '') : cell;
  const tidy = linkTarget(bare.replace(LABEL, '').replace(/^@\s{1,3}/, ''));
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

function handleContent(cell: string): CellContent {
  if (isNoHandle(cell) || !('values' in normaliseMicroblogHandle(cell))) return null;
  return /^@|[/.]/.test(cell) ? 'certain' : 'possible';
}
