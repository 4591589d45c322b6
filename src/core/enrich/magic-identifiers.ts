/**
 * The identifiers of test mode: each triggers one outcome or error, so that a client can be tested without waiting
 * for the case to occur. Outcomes are rows of the graph of test keys, so single calls and batches find them like
 * any other; errors only occur in single calls.
 */
import {
  type IdentifierKind,
  identifierKinds,
  kindNames,
  normaliseIdentifier,
} from '../identifiers/identifier.ts';
import { assert } from '../lib/assert.ts';
import { AppError, notNow } from '../lib/errors.ts';

/** The words of test mode. The numbers are errors, which have no record. */
export const magicWords = [
  'matched',
  'no-match',
  'ambiguous',
  'suppressed',
  'slow',
  '402',
  '429',
  '503',
] as const;
export type MagicWord = (typeof magicWords)[number];

/** Milliseconds that a call with a slow identifier takes before it matches. */
export const SLOW_MS = 2000;

/** Returns the identifier of a word, as a caller sends it. */
export function magicIdentifier(word: MagicWord, kind: IdentifierKind): string {
  return identifierKinds[kind].testIdentifier(word, String(magicWords.indexOf(word) + 1));
}

/** By kind and canonical value. */
const wordOf = new Map(
  kindNames.flatMap((kind) =>
    magicWords.map((word): [string, MagicWord] => {
      const text = magicIdentifier(word, kind);
      const normalised = normaliseIdentifier(kind, text, { subject: 'person' });
      assert('values' in normalised, `${text} is an identifier`);
      return [`${kind} ${normalised.values[0]}`, word];
    }),
  ),
);

/**
 * Simulates the outcome of a single call with a test key before its look-up: throws `AppError` 402, 429 or 503, or
 * returns how many milliseconds to wait.
 */
export function simulateTestOutcome(kind: IdentifierKind, canonical: string): { waitMs: number } {
  switch (wordOf.get(`${kind} ${canonical}`)) {
    case '402':
      throw new AppError({
        code: 'insufficient_credits',
        status: 402,
        message: 'Test mode: the response to a call that the wallet cannot pay for.',
        extensions: { needed: 1, available: 0 },
      });
    case '429':
      throw new AppError({
        code: 'rate_limited',
        status: 429,
        message: 'Test mode: the response to a call beyond the limit. Try again in 1 s.',
        extensions: { limit: 'requests a minute', quota: 60, retry_after: 1 },
      });
    case '503':
      throw notNow(
        'unavailable',
        'Test mode: the response while the service cannot reach its database.',
      );
    case 'slow':
      return { waitMs: SLOW_MS };
    default:
      return { waitMs: 0 };
  }
}
