import { call } from './api.ts';

/**
 * Downloads a file. Makes this call first: it says what is wrong on this page, where a link would leave it, and whether the
 * account or mode of the page has been left, which a link cannot know. Downloads nothing when `isThere` returns false for its
 * response. Throws `Problem`.
 */
export async function download<First>(
  href: string,
  first: string,
  isThere: (response: First) => boolean = () => true,
): Promise<void> {
  if (!isThere(await call<First>('GET', first))) return;
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}
