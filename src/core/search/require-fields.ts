/** Adds to a filter that fields are known. Pure. */
import { AppError, invalidParameter } from '../lib/errors.ts';
import { parseFilter } from './parse.ts';

/**
 * Returns the filter of the people whose `fields` are known as well.
 * @param fields names of parameters of a search; null for none
 * @throws AppError 400 `invalid_parameter` for a filter or a field that is not valid, and for a field that the filter
 *   names itself
 */
export function requireFields(filter: string, fields: readonly string[] | null): string {
  if (fields === null) return filter;
  const named = new Set(parseFilter(filter).conditions.map(({ parameter }) => parameter));
  const both = fields.find((field) => named.has(field));
  if (both !== undefined) {
    throw invalidParameter('required', `the filter names ${both} itself; send it only once`);
  }
  return [filter, ...[...new Set(fields)].map(knownCondition)].join('&');
}

/** The condition that a field is known. Throws `AppError` for a name that is no field of a search, or cannot be unknown. */
function knownCondition(field: string): string {
  const condition = `${encodeURIComponent(field)}=*`;
  try {
    parseFilter(condition);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const why = cause.errors[0]?.message ?? cause.message;
    throw invalidParameter('required', `${JSON.stringify(field)}: ${why}`);
  }
  return condition;
}
