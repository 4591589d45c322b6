/** Reads small JSON bodies. */
import type { Request } from 'express';
import { AppError, invalidParameter } from '../core/lib/errors.ts';
import { holdBody } from './held-bytes.ts';
import { assertJsonBounds } from './json-bounds.ts';

const BYTES_MAX = 100 * 1024;
/** The longest list inside a body, unless a call allows more. */
const ELEMENTS_MAX = 1000;

/**
 * Returns the body as JSON; an empty body is `{}`. Throws `AppError` 400 or 415, and as `readBody` and `parseJson`.
 */
export async function readJson(
  request: Request,
  { bytesMax = BYTES_MAX, elementsMax = ELEMENTS_MAX } = {},
): Promise<unknown> {
  const text = await readBody(request, bytesMax);
  if (text === '') return {};
  if (!request.is('application/json')) {
    throw new AppError({
      code: 'unsupported_media_type',
      status: 415,
      message: 'Send the body as application/json.',
    });
  }
  return parseJson(text, elementsMax);
}

/** Returns the body as text. Throws `AppError` 413 for a longer one, 429 or 503 when bodies take too much memory. */
export async function readBody(request: Request, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  const hold = holdBody(request);
  let bytes = 0;
  // A body that is too long is not read to its end; the connection stays open for the response.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > bytesMax) {
      throw new AppError({
        code: 'body_too_large',
        status: 413,
        message: `The body must have at most ${bytesMax} bytes.`,
      });
    }
    hold((chunk as Buffer).length);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Parses JSON. A number that JavaScript cannot represent exactly becomes the text of its digits: a cell keeps it as
 * sent, and an option rejects it. Throws `AppError` 400, also as `assertJsonBounds`.
 */
export function parseJson(text: string, elementsMax = ELEMENTS_MAX): unknown {
  assertJsonBounds(text, elementsMax);
  try {
    return parseExactly(text);
  } catch (cause) {
    throw invalidParameter('body', 'is not valid JSON', { cause });
  }
}

/** Strings and numbers of a JSON document. */
const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

function parseExactly(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  // Fifteen digits are always exact, and in a parsed document every string is terminated.
  if (!/\d[\d.]{15}/.test(text)) return value;
  return JSON.parse(text.replace(TOKEN, (part) => (isExact(part) ? part : `"${part}"`)));
}

/** Returns false for an integer whose digits JavaScript may change. */
function isExact(part: string): boolean {
  return part.startsWith('"') || !/^-?\d{16,}$/.test(part) || Number.isSafeInteger(Number(part));
}
