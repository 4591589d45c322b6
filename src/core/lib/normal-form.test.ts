import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toNormalForm } from './normal-form.ts';

const forms = ['NFC', 'NFKC', 'NFKD'] as const;

test.each(forms)('%s of a text of any language is that of Unicode', (form) => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      expect(toNormalForm(text, form)).toBe(text.normalize(form));
    }),
  );
});

// Sorted as one run, these take ten minutes.
test.each(forms)('%s of a million marks in disorder takes linear time', (form) => {
  for (const [last, first] of ['\u0315\u0300', '\u1dc4\u1dca', '\u0300\uff9e']) {
    const text = toNormalForm(`a${`${last}${first}`.repeat(500_000)}`, form);
    expect(text.length).toBeGreaterThan(1_000_000);
  }
});
