/** Filters inside the body of a request. */
import { AppError } from '../lib/errors.ts';
import { parseFilter } from './parse.ts';

/** Throws `AppError` 400 for a filter that cannot be parsed; its errors are named as parts of it: `filter.gender`. */
export function checkFilter(filter: string): void {
  try {
    parseFilter(filter);
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const { code, status, message } = cause;
    const inFilter = ({ field }: { field?: string }) =>
      field === undefined ? 'filter' : `filter.${field}`;
    const errors = cause.errors.map((error) => ({ ...error, field: inFilter(error) }));
    throw new AppError({ code, status, message: `filter: ${message}`, errors, cause });
  }
}
