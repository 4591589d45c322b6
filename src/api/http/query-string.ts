import type { Request } from 'express';
import { AppError } from '../../core/lib/errors.ts';

/**
 * Returns the raw query string without `?`. Node decodes the bytes of a URL as Latin-1; callers that do not
 * percent-encode them send UTF-8. Throws `AppError` 400 for other bytes.
 */
export function queryString(request: Request): string {
  const at = request.originalUrl.indexOf('?');
  const sent = at === -1 ? '' : request.originalUrl.slice(at + 1);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(sent, 'latin1'));
  } catch (cause) {
    throw new AppError({
      code: 'invalid_parameter',
      status: 400,
      message: 'The query string is not UTF-8: percent-encode its values.',
      cause,
    });
  }
}
