/** Parsers of command-line values; each throws commander's own error, which ends in exit code 2. */
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

/** A whole number of at least `min`. */
export function wholeNumber(min: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value) && value >= min) return value;
    throw new InvalidArgumentError(`It must be a whole number of at least ${min}.`);
  };
}

/** One of these words. */
export function oneOf<Word extends string>(words: readonly Word[]): (text: string) => Word {
  return (text) => {
    const word = words.find((candidate) => candidate === text);
    if (word !== undefined) return word;
    throw new InvalidArgumentError(`It must be one of ${words.join(', ')}.`);
  };
}

/** Words between commas, each one of these. */
export function listOf<Word extends string>(words: readonly Word[]): (text: string) => Word[] {
  const parse = oneOf(words);
  return (text) => text.split(',').map((word) => parse(word.trim()));
}

/** A moment with its time zone (ISO 8601, the profile of RFC 3339); seconds may be left out. */
export function moment(text: string): Date {
  if (z.iso.datetime({ offset: true }).safeParse(text).success) return new Date(text);
  throw new InvalidArgumentError('It must be a time such as 2026-01-31T12:00:00Z.');
}

/** A probability that a match may be asked to have. */
export function probability(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= 0.5 && value <= 1) return value;
  throw new InvalidArgumentError('It must be a number from 0.5 to 1.');
}
