/**
 * The Latin spelling that mailboxes, handles and domains use. Done here and not in SQL, because
 * what `lower()` does to accents depends on the database's locale, and the graph must not.
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

/** The ASCII letters and digits of a text in lower case; accents are taken off. */
export function asciiSlug(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[ßæœøłđı]/g, (letter) => specialLetters[letter] ?? '')
    .replace(/[^a-z0-9]/g, '');
}

/** A word of a vocabulary and its Latin spelling: `native=latin`, `|` standing for a space. */
export function readWord(token: string): { native: string; latin: string } {
  const [written = '', latin = written] = token.split('=', 2);
  const native = written.replaceAll('|', ' ');
  return { native, latin: asciiSlug(latin) };
}
