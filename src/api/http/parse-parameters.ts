/** Checks the parameters of a call (query, path and JSON body) against their schemas. */
import type { z } from 'zod';
import { type FieldError, invalidParameters, notFound } from '../../core/lib/errors.ts';
import { isUuid } from '../../core/lib/ids.ts';
import { describeIssue } from './issue-words.ts';

/** Maximum number of invalid parameters named in an error, and characters of each name. */
export const ERRORS_MAX = 20;
const NAME_SHOWN_MAX = 100;

/**
 * Checks parameters against their schema. Throws `AppError` 400 `invalid_parameter` that names the first invalid or unknown
 * parameters, and one with a NUL, which Postgres cannot store in a text.
 */
export function parseParameters<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = parseValues(schema, values);
  // The raw values first: their path has the caller's names.
  const withNul = pathOfNul(values) ?? pathOfNul(parsed);
  if (withNul === null) return parsed;
  throw invalidParameters([
    { field: fieldOf(withNul), message: 'must not contain the character NUL' },
  ]);
}

/** As `parseParameters`, for data, which may contain any character. */
export function parseValues<Schema extends z.ZodType>(
  schema: Schema,
  values: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(values, { error: describeIssue });
  if (parsed.success) return parsed.data;
  const errors = parsed.error.issues.slice(0, ERRORS_MAX).flatMap(issueDetails);
  throw invalidParameters(errors.slice(0, ERRORS_MAX));
}

/** Returns the id of a path. Throws `AppError` 404 for one that is not a UUID: nothing has such an id. */
export function parseId(noun: string, id: string): string {
  if (isUuid(id)) return id;
  throw notFound(`${noun} ${id}`);
}

/** Returns the path of a text with a NUL inside a value; null without one. */
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
    const message = 'is not a recognised parameter';
    return issue.keys.slice(0, ERRORS_MAX).map((name) => ({ field: fieldOf([name]), message }));
  }
  return [{ field: fieldOf(issue.path), message: issue.message }];
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.join('.').slice(0, NAME_SHOWN_MAX) || 'body';
}
