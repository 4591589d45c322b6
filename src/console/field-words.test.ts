import { expect, test } from 'vitest';
import { toSentence } from './field-words.ts';

test.each([
  ['is required', 'Fill in this field.'],
  ['must be at least 1', 'Enter 1 or more.'],
  ['must be at most 60, the limit of the key that creates it', 'Enter 60 or less.'],
  ['must have at most 100 characters', 'Use at most 100 characters.'],
  ['must be a whole number', 'Enter a whole number.'],
  ['must be a number', 'Enter a whole number.'],
  ['must begin with https://', 'This must begin with https://.'],
  [
    'has a host name for which no address is found',
    'This has a host name for which no address is found.',
  ],
  ['Enter your password.', 'Enter your password.'],
])('%s: %s', (message, sentence) => {
  expect(toSentence(message)).toBe(sentence);
});
