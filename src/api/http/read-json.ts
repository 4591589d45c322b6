/** Reads small JSON bodies. */
import type { Request } from 'express';
import { AppError, invalidParameter } from '../../core/lib/errors.ts';
import { holdBody } from './held-bytes.ts';
import { assertJsonBounds, endOfString } from './json-bounds.ts';

const BYTES_MAX = 100 * 1024;
/** The longest list inside a body, unless a call allows more. */
const ELEMENTS_MAX = 1000;
/** Pieces of a body that are joined at once: one of a single byte takes half a kilobyte of memory. */
const PIECES_MAX = 256;

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
  const joined: Buffer[] = [];
  let pieces: Buffer[] = [];
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
    pieces.push(chunk as Buffer);
    if (pieces.length < PIECES_MAX) continue;
    joined.push(Buffer.concat(pieces));
    pieces = [];
  }
  return Buffer.concat([...joined, ...pieces]).toString('utf8');
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

/** As `parseJson`. Throws `SyntaxError`. */
function parseExactly(text: string): unknown {
  const value = JSON.parse(text) as unknown;
  // Fifteen digits are always exact.
  return /\d[\d.]{15}/.test(text) ? JSON.parse(quoteInexact(text)) : value;
}

const NUMBER = /-?\d[\d.eE+-]*/y;

/** Writes each number of a JSON document that JavaScript would change as a string. */
function quoteInexact(text: string): string {
  let quoted = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') {
      at = endOfString(text, at);
      continue;
    }
    NUMBER.lastIndex = at;
    const [number] = NUMBER.exec(text) ?? [];
    if (number === undefined) continue;
    const end = at + number.length;
    if (!isExact(number)) {
      quoted += `${text.slice(from, at)}"${number}"`;
      from = end;
    }
    at = end - 1;
  }
  return quoted + text.slice(from);
}

/** Digits of the largest integer up to which every one is exact, and its sign. */
const EXACT_CHARACTERS_MAX = 17;

/** Returns false for an integer whose digits JavaScript may change. */
function isExact(number: string): boolean {
  if (/[.eE]/.test(number)) return true;
  return number.length <= EXACT_CHARACTERS_MAX && Number.isSafeInteger(Number(number));
}
