/** Characters that no one sees: they end a line, or turn the direction of the text that follows, also outside the name. */
export const HIDING = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

const VISIBLE = /[^\p{C}\p{Z}\p{M}]/u;

/**
 * Returns a name as people read it in tables, sentences and names of files: on one line, in its own direction; empty for one of
 * which nothing would be seen.
 */
export function plainName(name: string): string {
  const plain = name
    .replaceAll(/[\t\r\n\u2028\u2029]+/g, ' ')
    .replaceAll(HIDING, '')
    .trim();
  return VISIBLE.test(plain) ? plain : '';
}
