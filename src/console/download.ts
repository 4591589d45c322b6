import { call } from './api.ts';

/**
 * Downloads a file. Makes this call first: it says what is wrong on this page, where a link would leave it, and whether the
 * account or mode of the page has been left, which a link cannot know. Throws `Problem`.
 */
export async function download(href: string, first: string): Promise<void> {
  await call('GET', first);
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}
