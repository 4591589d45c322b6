/** Runs a normaliser over its vector files and over random text. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Normalised } from '../normalised.ts';

/** One line of a vector file: the text, the expected values or reason, and an optional context. */
interface Vector {
  text: string;
  expected: string;
  context: string | undefined;
}

export interface VectorSuite {
  /** Name of the vector files: `<kind>.valid.txt` and `<kind>.invalid.txt`. */
  kind: string;
  normalise: (text: string, context: string | undefined) => Normalised;
  /** Shapes of text that are nearly valid, besides mixtures of the valid vectors. */
  nearly: fc.Arbitrary<string> | undefined;
  /** The contexts under which idempotence is checked. */
  contexts: (string | undefined)[];
}

/**
 * Lines are `text TAB expected [TAB context]`; `\n`, `\t`, `\0` and `\uXXXX` stand for themselves
 * escaped; several values are joined by ` | `; lines that start with `#` are comments.
 */
export function readVectors(fileName: string): Vector[] {
  const lines = readFileSync(path.join(import.meta.dirname, fileName), 'utf8').split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('# '))
    .map((line) => {
      const [text = '', expected = '', context] = line.split('\t');
      return { text: unescapeText(text), expected: unescapeText(expected), context };
    });
}

function unescapeText(text: string): string {
  return text.replace(/\\(u[0-9a-f]{4}|[nt0\\])/gi, (_, code: string) => {
    if (code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return { n: '\n', t: '\t', '0': '\0' }[code] ?? code;
  });
}

export function describeNormaliser(suite: VectorSuite): void {
  const { kind, normalise } = suite;
  describe(kind, () => {
    const valid = readVectors(`${kind}.valid.txt`);
    test.each(valid)('reads $text as $expected', ({ text, expected, context }) => {
      expect(normalise(text, context)).toEqual({ values: expected.split(' | ') });
    });
    const invalid = readVectors(`${kind}.invalid.txt`);
    test.each(invalid)('refuses $text as $expected', ({ text, expected, context }) => {
      expect(normalise(text, context)).toEqual({ reason: expected });
    });
    test('a canonical value normalises to itself', () => {
      fc.assert(
        fc.property(
          fc.oneof(
            ...(suite.nearly === undefined ? [] : [suite.nearly]),
            anyText,
            mixtureOf(valid),
          ),
          fc.constantFrom(...suite.contexts),
          (text, context) => expectCanonical(normalise, text, context),
        ),
        { numRuns: 600 },
      );
    });
    test('a million characters are refused immediately', () => {
      for (const unit of ['a', ' ', '1', '@', '.', 'é', '\0']) {
        expect(normalise(unit.repeat(1_000_000), undefined)).toEqual({ reason: 'too_long' });
      }
    });
  });
}

/** Whole UTF-16, so lone surrogates and NUL too. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
);

/** Valid texts cut and joined, with something in between. */
function mixtureOf(vectors: Vector[]): fc.Arbitrary<string> {
  const part = fc.constantFrom(...vectors.map((vector) => vector.text));
  return fc
    .tuple(part, anyText, part, fc.nat(40))
    .map(([first, between, second, cut]) => first.slice(0, cut) + between + second);
}

/** Asserts the promise of every outcome: a reason of one word, or canonical values. */
export function expectCanonical(
  normalise: VectorSuite['normalise'],
  text: string,
  context: string | undefined,
): void {
  const outcome = normalise(text, context);
  if (!('values' in outcome)) {
    expect(outcome.reason).toMatch(/^[a-z][a-z_0-9]+$/);
    return;
  }
  for (const value of outcome.values) {
    expect(value.length).toBeGreaterThan(0);
    expect(value.length).toBeLessThanOrEqual(320);
    expect(value).not.toMatch(/\p{Cc}|\p{Cs}/u);
    const again = normalise(value, context);
    expect('values' in again ? again.values[0] : again).toBe(value);
  }
}
