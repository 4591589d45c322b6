/** Parameters of a call: query strings, paths and JSON bodies, checked against their schemas. */
import type { z } from 'zod';
import { type FieldError, invalidParameters, notFound } from '../core/lib/errors.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * Checks parameters against their schema. Throws `AppError` 400 `invalid_parameter` that names each
 * parameter that is wrong, unknown ones too, and those that hold a NUL, which no database text can hold.
 */
export function parseParameters<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = parseValues(schema, values);
  // As it was sent first: that names the parameter as the caller does.
  const withNul = pathOfNul(values) ?? pathOfNul(parsed);
  if (withNul === null) return parsed;
  throw invalidParameters([
    { field: withNul.join('.') || 'body', message: 'must not hold the character NUL' },
  ]);
}

/** As `parseParameters`, for values that are data and not parameters: any character may be in them. */
export function parseValues<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw invalidParameters(parsed.error.issues.flatMap(issueDetails));
}

/** Returns the id of a path. Throws `AppError` 404 for one that is not a UUID: nothing has such an id. */
export function parseId(noun: string, id: string): string {
  if (UUID.test(id)) return id;
  throw notFound(`${noun} ${id}`);
}

/** The path of a text with a NUL in a value; null when there is none. */
function pathOfNul(value: unknown): string[] | null {
  if (typeof value === 'string') return value.includes('\0') ? [] : null;
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (name.includes('\0')) return [];
    const inside = pathOfNul(member);
    if (inside !== null) return [name, ...inside];
  }
  return null;
}

function issueDetails(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((field) => ({ field, message: 'is not a recognised parameter' }));
  }
  return [{ field: issue.path.join('.') || 'body', message: issue.message }];
}
