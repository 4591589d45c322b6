/** The industries and cities of records that have no ids for them, in one spelling. */
import { countryCode } from '../../identifiers/country.ts';
import { remember } from '../../lib/remember.ts';
import { industryOfCode } from './industry-codes.ts';
import { type Term, termOf, wordsOf } from './spelling.ts';
import { noValues } from './title-words.ts';

const INDUSTRY_WORDS_MAX = 12;
/** More words are an address, which a lookup must not tell. */
const CITY_WORDS_MAX = 5;
const CODES_MAX = 5_000;
const TEXT_LENGTH_MAX = 100;
/** A country or a postal district, after the name of a city. */
const AFTER_CITY = /[,;(].*$/su;
const POSTAL_WORD = /\d|^cedex$/;

/** Returns the industry that a source names: `COMPUTER_SOFTWARE` or `computer software`. */
export function industryTerm(text: string): Term | null {
  return termOfText(text, INDUSTRY_WORDS_MAX);
}

/** Returns the city of a text without its country and postal district: `PARIS 8`, `Paris, France`. */
export function cityTerm(text: string): Term | null {
  const name = wordsOf(text.replace(AFTER_CITY, '')).filter((word) => !POSTAL_WORD.test(word));
  return termOfText(name.join(' '), CITY_WORDS_MAX);
}

/** Returns the industry that codes of a register mean: that of the first one that is known. */
export function industryOfCodes(codes: unknown, country: unknown): string | undefined {
  const code = typeof country === 'string' ? (countryCode(country) ?? '') : '';
  const listed = typeof codes === 'string' ? codes.split('|') : Array.isArray(codes) ? codes : [];
  for (const one of listed) {
    const industry = industryOf(`${code} ${one}`);
    if (industry !== undefined) return industry;
  }
  return undefined;
}

const industryOf = remember((text) => {
  const at = text.indexOf(' ');
  return industryOfCode(text.slice(at + 1), text.slice(0, at));
}, CODES_MAX);

function termOfText(text: string, wordsMax: number): Term | null {
  if (text.length > TEXT_LENGTH_MAX) return null;
  const words = wordsOf(text);
  if (words.length === 0 || words.length > wordsMax) return null;
  const term = termOf(words);
  return /\p{L}/u.test(term.key) && !noValues.has(term.key) ? term : null;
}
