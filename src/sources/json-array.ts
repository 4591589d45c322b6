/** The elements of a JSON file that is one array, streamed; a file of lines of objects is read the same way. */
import { isUtf8 } from 'node:buffer';
import { isTooDeep, JSON_LEVELS_MAX } from '../core/graph/import/json-depth.ts';
import { unprocessable } from '../core/lib/errors.ts';

/** As of a line of JSON. Parsed, an element may take twenty times as much memory. */
const ELEMENT_BYTES_MAX = 16 * 1024 * 1024;
const [QUOTE, BACKSLASH, OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [
  34, 92, 123, 125, 91, 93,
];

/** Yields the objects of the array. Throws `AppError` 422 for a file that is cut off or is not such an array. */
export async function* readJsonArray(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<Record<string, unknown>> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let depth = 0;
  let count = 0;
  let isInText = false;
  let isEscaped = false;
  let isEnded = false;
  for await (const chunk of bytes) {
    let from = depth > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
      } else if (byte === QUOTE) isInText = true;
      else if (byte === OPEN_BRACE || (byte === OPEN_BRACKET && depth > 0)) {
        if (depth === 0) from = at;
        depth += 1;
      } else if (byte === CLOSE_BRACKET && depth === 0) isEnded = true;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1;
        if (depth > 0) continue;
        count += 1;
        yield parse(Buffer.concat([...held, chunk.subarray(from, at + 1)]), count);
        [held, heldBytes, from] = [[], 0, -1];
      }
    }
    if (from < 0) continue;
    held.push(Buffer.from(chunk.subarray(from)));
    heldBytes += chunk.length - from;
    if (heldBytes > ELEMENT_BYTES_MAX) throw tooLong(count + 1);
  }
  if (!isEnded || depth !== 0) throw notAnArray();
}

function parse(bytes: Buffer, count: number): Record<string, unknown> {
  const text = decode(bytes);
  const element = parseElement(text);
  if (!isTooDeep(text, element)) return element;
  throw unprocessable(
    'unreadable_json',
    `Element ${count} of the array has more than ${JSON_LEVELS_MAX} levels; nothing was changed. Check that it is the file of this source.`,
  );
}

/** Of another encoding, names would be read with signs in place of letters. */
function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw notAnArray();
}

function parseElement(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    throw notAnArray();
  }
}

function tooLong(element: number): Error {
  return unprocessable(
    'line_too_long',
    `Element ${element} of the array has more than ${ELEMENT_BYTES_MAX} bytes; nothing was changed. Check that it is the file of this source.`,
  );
}

function notAnArray(): Error {
  return unprocessable(
    'unreadable_json',
    'The file is not a whole JSON array in UTF-8: it is cut off or damaged. Nothing was changed; download it again.',
  );
}
