/** Names in Latin letters without accents, whatever their alphabet: the form in which words of names are compared. */
import { fold } from '../lib/fold.ts';

/** Cyrillic and Greek, letter by letter, as passports and press agencies write them. */
const latinLetters: Readonly<Record<string, string>> = {
  а: 'a',
  б: 'b',
  в: 'v',
  г: 'g',
  ґ: 'g',
  д: 'd',
  ђ: 'dj',
  е: 'e',
  є: 'ie',
  ж: 'zh',
  з: 'z',
  и: 'i',
  і: 'i',
  ј: 'j',
  к: 'k',
  л: 'l',
  љ: 'lj',
  м: 'm',
  н: 'n',
  њ: 'nj',
  о: 'o',
  п: 'p',
  р: 'r',
  с: 's',
  т: 't',
  ћ: 'c',
  у: 'u',
  ф: 'f',
  х: 'kh',
  ц: 'ts',
  ч: 'ch',
  џ: 'dz',
  ш: 'sh',
  щ: 'shch',
  ъ: '',
  ы: 'y',
  ь: '',
  э: 'e',
  ю: 'yu',
  я: 'ya',
  α: 'a',
  β: 'v',
  γ: 'g',
  δ: 'd',
  ε: 'e',
  ζ: 'z',
  η: 'i',
  θ: 'th',
  ι: 'i',
  κ: 'k',
  λ: 'l',
  μ: 'm',
  ν: 'n',
  ξ: 'x',
  ο: 'o',
  π: 'p',
  ρ: 'r',
  σ: 's',
  τ: 't',
  υ: 'y',
  φ: 'f',
  χ: 'ch',
  ψ: 'ps',
  ω: 'o',
};
const OTHER_ALPHABET = /[\u0370-\u03ff\u0400-\u04ff]/g;
const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Returns the text folded, Cyrillic and Greek letters in Latin ones, in composed form. Letters of other scripts stay:
 * their transcription is not a matter of letters.
 */
export function toLatin(text: string): string {
  const folded = fold(text);
  if (!NOT_ASCII.test(folded)) return folded;
  return folded
    .replace(OTHER_ALPHABET, (letter) => latinLetters[letter] ?? letter)
    .normalize('NFKC');
}

/**
 * Returns what transcriptions of one word have in common: `Mueller` and `Muller`, `Shaheed` and `Shahid`, `Mohammed` and
 * `Mohamed` are equal. Takes a folded word in Latin letters.
 */
export function soundOf(word: string): string {
  const known = sounds.get(word);
  if (known !== undefined) return known;
  const sound = word
    .replace(/([aou])e/g, '$1')
    .replace(/aa/g, 'a')
    .replace(/ee/g, 'i')
    .replace(/oo|ou/g, 'u')
    .replace(/ph/g, 'f')
    .replace(/tch|sch|cz/g, 'ch')
    .replace(/ck|q/g, 'k')
    .replace(/c(?!h)/g, 'k')
    .replace(/(?<=[bdgklmnprtz])h/g, '')
    .replace(/h$/, '')
    .replace(/[yj]/g, 'i')
    .replace(/w/g, 'v')
    .replace(/z/g, 's')
    .replace(/x/g, 'ks')
    .replace(/(.)\1+/g, '$1');
  if (sounds.size >= SOUNDS_MAX) sounds.clear();
  sounds.set(word, sound);
  return sound;
}

/** A list has few distinct words. */
const sounds = new Map<string, string>();
const SOUNDS_MAX = 20_000;
