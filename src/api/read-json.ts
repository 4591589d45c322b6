/** Reads a small JSON body. */
import type { Request } from 'express';
import { AppError } from '../core/lib/errors.ts';

const BYTES_MAX = 100 * 1024;

/** The body as JSON; an empty body is `{}`. Throws `AppError` 400, 413 or 415. */
export async function readJson(request: Request): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > BYTES_MAX) {
      throw new AppError({
        code: 'body_too_large',
        status: 413,
        message: `The body holds more than ${BYTES_MAX} bytes.`,
      });
    }
    chunks.push(chunk as Buffer);
  }
  if (bytes === 0) return {};
  if (!request.is('application/json')) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the body as application/json.',
    });
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new AppError({
      code: 'invalid_parameter',
      status: 400,
      message: 'The body is no JSON.',
      errors: [{ field: 'body', message: 'is no JSON' }],
      cause,
    });
  }
}
