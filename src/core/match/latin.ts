/** Names in Latin letters without accents, whatever their alphabet: the form in which words of names are compared. */
import { fold } from '../lib/fold.ts';
import { toNormalForm } from '../lib/normal-form.ts';
import { remember } from '../lib/remember.ts';

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

/** Characters that are a syllable or a word each: a name of one of them is whole, and no initial. */
const WHOLE = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]+$/u;

/** True for a word of ideographs, syllables or kana, which are written without a space between family and given name. */
export function isSyllabic(word: string): boolean {
  return !isAscii(word) && WHOLE.test(word);
}

/** True for the initial of a name. */
export function isInitial(word: string): boolean {
  return word.length === 1 && !isSyllabic(word);
}

/** True for a text of ASCII characters alone. */
export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}

/**
 * Returns the text folded, Cyrillic and Greek letters in Latin ones, in composed form. Letters of other scripts stay:
 * their transcription is not a matter of letters.
 */
export function toLatin(text: string): string {
  const folded = fold(text);
  if (isAscii(folded)) return folded;
  const latin = folded.replace(OTHER_ALPHABET, (letter) => latinLetters[letter] ?? letter);
  return toNormalForm(latin, 'NFKC');
}

/**
 * Returns what transcriptions of one word have in common: `Mueller` and `Muller`, `Shaheed` and `Shahid`, `Mohammed` and
 * `Mohamed` are equal. Takes a folded word in Latin letters.
 */
export function soundOfRare(word: string): string {
  const sound = soundOfConsonants(soundOfVowels(word));
  return hasDouble(sound) ? sound.replace(/(.)\1+/g, '$1') : sound;
}

/** Tests come first: most words have nothing to replace, and each replacement reads the whole word. */
function soundOfVowels(word: string): string {
  if (!/[aou]e|aa|ee|oo|ou/.test(word)) return word;
  return word
    .replace(/([aou])e/g, '$1')
    .replace(/aa/g, 'a')
    .replace(/ee/g, 'i')
    .replace(/oo|ou/g, 'u');
}

function soundOfConsonants(word: string): string {
  const sound = /[chq]/.test(word) ? soundOfDigraphs(word) : word;
  if (!/[jwxyz]/.test(sound)) return sound;
  return sound.replace(/[yj]/g, 'i').replace(/w/g, 'v').replace(/z/g, 's').replace(/x/g, 'ks');
}

function soundOfDigraphs(word: string): string {
  return word
    .replace(/ph/g, 'f')
    .replace(/tch|sch|cz/g, 'ch')
    .replace(/ck|q/g, 'k')
    .replace(/c(?!h)/g, 'k')
    .replace(/([bdgklmnprtz])h/g, '$1')
    .replace(/h$/, '');
}

function hasDouble(word: string): boolean {
  for (let at = 1; at < word.length; at++) {
    if (word.charCodeAt(at) === word.charCodeAt(at - 1)) return true;
  }
  return false;
}

const SOUNDS_KEPT = 40_000;
/** `soundOfRare` for the words of names, which repeat. */
export const soundOf = remember(soundOfRare, SOUNDS_KEPT);

/** Letters with which words of one sound begin: `Filip` and `Philip`, `Schulz` and `Chulz`, `Oomen` and `Umen`. */
const ALIKE_LETTERS = 'fp kcqxszt iyje ou vw';
const firstLetters = new Uint8Array(128);
for (let code = 0; code < firstLetters.length; code++) firstLetters[code] = code;
for (const group of ALIKE_LETTERS.split(' ')) {
  for (const letter of group) firstLetters[letter.charCodeAt(0)] = group.charCodeAt(0);
}

function firstSound(word: string): number {
  const code = word.charCodeAt(0);
  return firstLetters[code] ?? code;
}

/** Returns true for two words of one sound, of two letters and more. Most pairs differ in the first, and need no more. */
export function soundAlike(a: string, b: string): boolean {
  return firstSound(a) === firstSound(b) && soundOf(a) === soundOf(b);
}
