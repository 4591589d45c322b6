/** One spelling for names that sources write in many: the words of a text, and a name made of words. */
import { fold } from '../../lib/fold.ts';
import { toNormalForm } from '../../lib/normal-form.ts';
import { capitals, smallWords } from './title-words.ts';

/** A value of a vocabulary. */
export interface Term {
  /** Folded words; equal for all spellings of the value. */
  key: string;
  /** The same words with their accents, in the case of a name. */
  name: string;
}

/** Returns the words of a text in small letters, composed (NFC) and with their accents. `C++`, `C#` and `O'Brien` are words. */
export function wordsOf(text: string): string[] {
  return toNormalForm(text, 'NFC')
    .toLowerCase()
    .replace(APOSTROPHES, "'")
    .replace(/&/g, ' and ')
    .replace(ABBREVIATION_DOTS, '$1')
    .split(NOT_WORDS)
    .map((word) => word.replace(OUTER_APOSTROPHES, ''))
    .filter((word) => word !== '');
}

const APOSTROPHES = /[`´‘’‛ʼ′]/g;
/** The dots of `c.e.o.`, not the one that ends a sentence. */
const ABBREVIATION_DOTS = /(?<=(?:^|[^\p{L}])(?:\p{L}\.)*\p{L})\.(\p{L}(?=\.|[^\p{L}]|$)|)/gu;
const NOT_WORDS = /[^\p{L}\p{M}\p{N}+#']+/u;
const OUTER_APOSTROPHES = /^'+|'+$/g;

/** Returns the value that words name. */
export function termOf(words: readonly string[]): Term {
  return { key: fold(words.join(' ')), name: words.map(withCapitals).join(' ') };
}

function withCapitals(word: string, index: number): string {
  if (capitals.has(word)) return word.toUpperCase();
  if (index > 0 && smallWords.has(word)) return word;
  const elided = ELISION.exec(word);
  if (elided !== null) return `${capitalised(elided[1] ?? '')}'${capitalised(elided[2] ?? '')}`;
  return capitalised(word);
}

/** `o'brien` and `l'aquila`, not `people's`. */
const ELISION = /^(\p{L}{1,2})'(\p{L}{3,})$/u;

function capitalised(word: string): string {
  const [first = ''] = word;
  return first.toUpperCase() + word.slice(first.length);
}
