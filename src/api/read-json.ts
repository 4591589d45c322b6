/** Reads a small JSON body. */
import type { Request } from 'express';
import { AppError } from '../core/lib/errors.ts';

const BYTES_MAX = 100 * 1024;

/** The body as JSON; an empty body is `{}`. Throws `AppError` 400, 413 or 415. */
export async function readJson(request: Request): Promise<unknown> {
  const text = await readBody(request, BYTES_MAX);
  if (text === '') return {};
  if (!request.is('application/json')) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the body as application/json.',
    });
  }
  return parseJson(text);
}

/** The body as text. Throws `AppError` 413 for a longer one. */
export async function readBody(request: Request, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // A body that is too long is not read to its end; the connection must live to say so.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) {
      throw new AppError({
        code: 'body_too_large',
        status: 413,
        message: `The body holds more than ${bytesMax} bytes.`,
      });
    }
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** A text as JSON. Throws `AppError` 400. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
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
