/** The expected failures of reading and writing a workbook, each with what to do. */

import { AppError, unprocessable } from '../../core/lib/errors.ts';

const WHAT_TO_DO = 'Save the sheet as CSV (in Excel: "CSV UTF-8") and upload that.';
/** Names of parts are chosen by the file, and may be long. */
const REASON_CHARS_MAX = 200;

/** The bytes are not a workbook that can be read here, such as `.xls` or one with a password. */
export function notXlsx(kind: string, message: string, whatToDo = WHAT_TO_DO): AppError {
  return new AppError({
    code: 'unsupported_media_type',
    status: 415,
    message: `${message} ${whatToDo}`,
    extensions: { detected: kind },
  });
}

/**
 * The workbook as a whole cannot be read.
 * @param reason a clause: what is wrong, e.g. `its zip archive is broken`
 */
export function unreadableXlsx(reason: string, cause?: unknown): AppError {
  return unprocessable(
    'unreadable_xlsx',
    `This workbook cannot be read: ${reason.slice(0, REASON_CHARS_MAX)}. ${WHAT_TO_DO}`,
    { cause },
  );
}

/** More rows, or more bytes of text, than a list may have. */
export function xlsxTooLarge(message: string, extensions: Record<string, unknown>): AppError {
  return new AppError({ code: 'file_too_large', status: 413, message, extensions });
}

/** A result that no workbook can hold. */
export function notForXlsx(reason: string): AppError {
  return unprocessable(
    'not_as_xlsx',
    `This result does not fit into a workbook: ${reason}. Download it with format=csv or format=csv-safe.`,
  );
}
