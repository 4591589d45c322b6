/** Words for schema issues: says what is wrong with a value and what to send instead, where the schema says nothing. */
import type { z } from 'zod';

const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  date: 'a date',
};

const formats: Record<string, string> = {
  uuid: 'a UUID',
  date: 'a date such as 2026-01-31',
  datetime: 'a time such as 2026-01-31T12:00:00Z',
  url: 'a URL',
  email: 'an email address',
};

/** Returns the words for an issue, which follow the name of the field; undefined to keep those of its schema. */
export function describeIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      if (Array.isArray(issue.input) && !['array', 'object', 'record'].includes(issue.expected)) {
        return 'must be given once';
      }
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => `\`${String(value)}\``).join(', ')}`;
    case 'invalid_format':
      return `must be ${formats[issue.format] ?? 'in the documented form'}`;
    case 'too_small':
      return `must ${isSized(issue.origin) ? 'have' : 'be'} at least ${amount(issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${isSized(issue.origin) ? 'have' : 'be'} at most ${amount(issue.maximum, issue.origin)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return 'has none of the accepted forms';
    default:
      return undefined;
  }
}

const units: Record<string, string> = { string: 'character', array: 'item', set: 'item' };

function isSized(origin: string): boolean {
  return origin in units;
}

/** `1 character`, `20 items`, or the bare number. */
function amount(bound: number | bigint | Date, origin: string): string {
  const unit = units[origin];
  const number = bound instanceof Date ? bound.toISOString() : bound.toLocaleString('en');
  return unit === undefined ? number : `${number} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}
