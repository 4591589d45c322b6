import { expect, test } from 'vitest';
import { z } from 'zod';
import { parseParameters } from './parse-parameters.ts';

const schema = z.strictObject({
  email: z.string().optional(),
  operation: z.enum(['a', 'b']).optional(),
  mode: z.literal('live').optional(),
  limit: z.coerce.number().int().min(1).max(1_000).optional(),
  count: z.number().int().min(0).optional(),
  name: z.string().min(1).max(20).optional(),
  fields: z.array(z.string()).max(2).optional(),
  id: z.uuid().optional(),
  day: z.iso.date().optional(),
  flag: z.boolean().optional(),
  owner: z.object({ name: z.string() }).optional(),
  mapping: z.record(z.string(), z.string()).optional(),
  filter: z.union([z.string(), z.array(z.string())]).optional(),
  cursor: z.string().regex(/^x$/, 'is not a cursor of this call').optional(),
});

test.each([
  [{ email: ['a', 'b'] }, 'email', 'must be given once'],
  [{ email: 1 }, 'email', 'must be a text'],
  [{ operation: 'c' }, 'operation', 'must be one of `a`, `b`'],
  [{ mode: 'test' }, 'mode', 'must be `live`'],
  [{ limit: 'many' }, 'limit', 'must be a number'],
  [{ limit: '1.5' }, 'limit', 'must be a whole number'],
  [{ limit: '1001' }, 'limit', 'must be at most 1,000'],
  [{ count: -1 }, 'count', 'must be at least 0'],
  [{ name: '' }, 'name', 'must have at least 1 character'],
  [{ name: 'x'.repeat(21) }, 'name', 'must have at most 20 characters'],
  [{ fields: ['a', 'b', 'c'] }, 'fields', 'must have at most 2 items'],
  [{ id: '1' }, 'id', 'must be a UUID'],
  [{ day: 'today' }, 'day', 'must be a date such as 2026-01-31'],
  [{ flag: 'yes' }, 'flag', 'must be `true` or `false`'],
  [{ owner: [] }, 'owner', 'must be an object'],
  [{ mapping: ['a'] }, 'mapping', 'must be an object'],
  [{ filter: 1 }, 'filter', 'has none of the accepted forms'],
  [{ cursor: 'y' }, 'cursor', 'is not a cursor of this call'],
])('%o: %s %s', (values, field, message) => {
  expect(() => parseParameters(schema, values)).toThrow(
    expect.objectContaining({ errors: [expect.objectContaining({ field, message })] }),
  );
});

test('what is absent is required', () => {
  const wanted = z.strictObject({ operation: z.string() });
  expect(() => parseParameters(wanted, {})).toThrow(
    expect.objectContaining({ errors: [{ field: 'operation', message: 'is required' }] }),
  );
});
