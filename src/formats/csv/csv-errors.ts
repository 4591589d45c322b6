/** The expected failures of reading a CSV file, each with the line and what to do. */

import { AppError, unprocessable } from '../../core/lib/errors.ts';

/**
 * The file as a whole cannot be read as CSV (a single bad line is an `invalid` row instead).
 * @param line one-based physical line of the canonical file
 * @param message one sentence: what is wrong and what to do
 */
export function unreadableCsv(line: number, message: string): AppError {
  return unprocessable('unreadable_csv', `Line ${line}: ${message}`, {
    extensions: { line },
    errors: [{ line, message }],
  });
}

/** More data rows than a batch may have; `line` is the start of the first excess row. */
export function tooManyRows(line: number, rowsMax: number): AppError {
  const message = `The file has more than ${rowsMax} rows. Split it into several files.`;
  return new AppError({
    code: 'too_many_rows',
    status: 413,
    message,
    extensions: { line, rows_max: rowsMax },
    errors: [{ line, message }],
  });
}

/** The bytes are another kind of file, such as a workbook or an image. */
export function unsupportedFile(kind: string, message: string): AppError {
  return new AppError({
    code: 'unsupported_media_type',
    status: 415,
    message,
    extensions: { detected: kind, line: 1 },
    errors: [{ line: 1, message }],
  });
}
