/**
 * The Latin spelling of mailboxes, handles and domains. Done here and not in SQL, because the effect of `lower()`
 * on accents depends on the database's locale, and the graph must not.
 */

const specialLetters: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ı: 'i',
};

/** Returns the ASCII letters and digits of a text in lower case, with accents removed. */
export function asciiSlug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[ßæœøłđı]/g, (letter) => specialLetters[letter] ?? '')
    .replace(/[^a-z0-9]/g, '');
}

/** Parses a word of a vocabulary and its Latin spelling: `native=latin`, with `|` for a space. */
export function readWord(token: string): { native: string; latin: string } {
  const [written = '', latin = written] = token.split('=', 2);
  const native = written.replaceAll('|', ' ');
  return { native, latin: asciiSlug(latin) };
}
