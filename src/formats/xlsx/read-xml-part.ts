/** Runs one XML part of a workbook through a handler: bytes to text, text to calls. */

import { StringDecoder } from 'node:string_decoder';
import { type XmlHandler, XmlScanner } from './xml-scanner.ts';

/**
 * Text is scanned in pieces of this length, so that the handler's output can be taken often: some twenty cells at a time,
 * each of which may refer to a long shared string.
 */
const PIECE_CHARS = 512;

/**
 * Yields after every piece that the handler has seen. Throws `AppError` 422 for broken XML. Parts are
 * UTF-8 or UTF-16 (ECMA-376 part 2); a bad byte becomes U+FFFD.
 */
export async function* scanXmlPart(
  bytes: AsyncIterable<Buffer>,
  handler: XmlHandler,
): AsyncGenerator<void> {
  const scanner = new XmlScanner(handler);
  let decode: ((chunk?: Buffer) => string) | null = null;
  for await (const chunk of bytes) {
    if (decode === null) decode = openDecoder(chunk);
    const text = decode(chunk);
    for (let at = 0; at < text.length; at += PIECE_CHARS) {
      scanner.write(text.slice(at, at + PIECE_CHARS));
      yield;
    }
  }
  if (decode !== null) scanner.write(decode());
  scanner.end();
}

/** As `scanXmlPart`, for a part whose handler keeps its results. */
export async function readXmlPart(
  bytes: AsyncIterable<Buffer>,
  handler: XmlHandler,
): Promise<void> {
  for await (const _ of scanXmlPart(bytes, handler));
}

/** UTF-16 is recognised by its byte order mark, or by the zero next to the first `<`. */
function openDecoder(head: Buffer): (chunk?: Buffer) => string {
  const [first, second] = head;
  const isBigEndian = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c);
  const isLittleEndian = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0);
  if (isBigEndian || isLittleEndian) {
    const decoder = new TextDecoder(isBigEndian ? 'utf-16be' : 'utf-16le');
    return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined });
  }
  const decoder = new StringDecoder('utf8');
  let isFirst = true;
  return (chunk) => {
    const text = chunk === undefined ? decoder.end() : decoder.write(chunk);
    if (!isFirst || text === '') return text;
    isFirst = false;
    return text.startsWith('\ufeff') ? text.slice(1) : text;
  };
}
