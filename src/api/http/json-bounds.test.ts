import { expect, test } from 'vitest';
import { AppError } from '../../core/lib/errors.ts';
import { assertJsonBounds } from './json-bounds.ts';

/** The fields and messages of the refusal; empty for an accepted text. */
function refusal(text: string, elementsMax = 5): string {
  try {
    assertJsonBounds(text, elementsMax);
    return '';
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.status).toBe(400);
    return error.message;
  }
}

const members = (count: number) =>
  `{${Array.from({ length: count }, (_, index) => `"m${index}":[1,2]`).join()}}`;
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

test.each([
  ['1'],
  [''],
  ['[1,2,3,4,5]'],
  [members(100)],
  [nested(32)],
  [`[${nested(31)},${nested(31)}]`],
  ['{"a":"[[[[{{{{,,,,,,,,\\"]]]]]","b,,,,,,,":"\\\\","c":[",,,,,,,"]}'],
  // For the parser to refuse.
  [']]]]'],
  ['"'],
  ['{"a'],
])('%s is within the bounds', (text) => {
  expect(refusal(text)).toBe('');
});

test.each([
  [nested(33), '0: must have at most 32 levels'],
  [`{"a":1,"deep":${nested(40)}}`, 'deep: must have at most 32 levels'],
  ['['.repeat(1_000_000), '0: must have at most 32 levels'],
  ['[1,2,3,4,5,6]', 'body: must have at most 5 elements'],
  ['{"rows":[{"a":1},{"b":[1,2,3,4,5,6]}]}', 'rows.1.b: must have at most 5 elements'],
  [members(101), 'body: must have at most 100 members'],
  [`{"x":"y","rows":[0,${members(150_000)}]}`, 'rows.1: must have at most 100 members'],
  [`{"${'x'.repeat(300)}":[1,2,3,4,5,6]}`, `${'x'.repeat(100)}: must have at most 5 elements`],
])('a larger value is refused by name: %#', (text, message) => {
  expect(refusal(text)).toContain(message);
});
