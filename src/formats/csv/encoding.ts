/**
 * Text encodings of uploads: guessing one from a sample, and turning it into UTF-8.
 *
 * Order of the guess: byte order mark; zero bytes at one parity (UTF-16 without a mark); UTF-8, even with a few
 * damaged bytes; otherwise the likeliest of the older encodings.
 */

import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { invalidParameter } from '../../core/lib/errors.ts';
import { guessLegacyEncoding } from './legacy-encoding.ts';
import { CR, LF, RECORD_BYTES_MAX } from './record-reader.ts';
import { decodeWindows1252, type Encoding } from './windows-1252.ts';

export interface DetectedEncoding {
  encoding: Encoding;
  /** Bytes of the byte order mark at the start of the file: 0, 2 or 3. */
  bom: number;
  /** True when nothing in the bytes proves the encoding. */
  isGuess: boolean;
}

/** With this share of zero bytes on one side a text is UTF-16, unless its newlines are narrow. */
const ZERO_SHARE_SURE = 0.2;
/**
 * With this share it may be UTF-16 (for example Chinese text), when its newlines are wide and its bytes are not
 * UTF-8; those of a list with a few stray NULs are.
 */
const ZERO_SHARE_POSSIBLE = 0.01;
/** The other side of UTF-16 has almost no zero bytes. */
const ZERO_SHARE_OTHER_SIDE_MAX = 0.1;

/**
 * Detects the encoding of a file from its first bytes.
 * @param isWhole false when the file continues after the sample, so that a multi-byte character may be cut at its
 * end
 */
export function detectEncoding(sample: Buffer, isWhole: boolean): DetectedEncoding {
  const mark = byteOrderMark(sample);
  if (mark !== null) return { ...mark, isGuess: false };
  const utf16 = utf16ByZeros(sample);
  if (utf16 !== null) return { encoding: utf16, bom: 0, isGuess: true };
  const bytes = isWhole ? sample : sample.subarray(0, completeUtf8Length(sample));
  if (isUtf8(bytes)) return { encoding: 'utf-8', bom: 0, isGuess: false };
  const { good, bad } = countNonAscii(bytes);
  const encoding = good > bad ? 'utf-8' : guessLegacyEncoding(sample);
  return { encoding, bom: 0, isGuess: true };
}

/**
 * Parses the name of an encoding, by any label of the Encoding Standard (`latin1`, `utf8`, ...). Throws `AppError`
 * 400 for an unknown one.
 */
export function parseEncoding(label: string): Encoding {
  try {
    return new TextDecoder(label.trim()).encoding;
  } catch (cause) {
    throw invalidParameter(
      'encoding',
      `"${label}" is not a known encoding. Use for example utf-8, windows-1252 or utf-16le`,
      { cause },
    );
  }
}

/** Returns the length of the byte order mark of `encoding`, when the sample begins with it. */
export function markLength(sample: Buffer, encoding: Encoding): number {
  const mark = byteOrderMark(sample);
  return mark?.encoding === encoding ? mark.bom : 0;
}

/**
 * Converts a file, fed after its byte order mark, to UTF-8 piece by piece. UTF-8 passes unchanged, including
 * damaged bytes: their records are decoded individually as Windows-1252. When Windows-1252 is only a guess, lines
 * that are valid UTF-8 pass unchanged too, since the sample that led to the guess may have been the one damaged
 * part.
 */
export class Transcoder {
  readonly #encoding: Encoding;
  readonly #isGuess: boolean;
  readonly #decoder: TextDecoder;
  #carry: Buffer = Buffer.alloc(0);

  constructor(source: { encoding: Encoding; isGuess: boolean }) {
    this.#encoding = source.encoding;
    this.#isGuess = source.isGuess;
    this.#decoder = new TextDecoder(source.encoding, { ignoreBOM: true });
  }

  push(bytes: Buffer): Buffer {
    if (this.#encoding === 'utf-8') return bytes;
    if (this.#encoding !== 'windows-1252') {
      return Buffer.from(this.#decoder.decode(bytes, { stream: true }));
    }
    if (!this.#isGuess) return Buffer.from(decodeWindows1252(bytes));
    const held = Buffer.concat([this.#carry, bytes]);
    const lastNewline = Math.max(held.lastIndexOf(LF), held.lastIndexOf(CR));
    // A line beyond the record limit is unreadable in any encoding: no need to hold it whole.
    const lineEnd = held.length - lastNewline > RECORD_BYTES_MAX ? held.length : lastNewline + 1;
    this.#carry = held.subarray(lineEnd);
    return linesToUtf8(held.subarray(0, lineEnd));
  }

  /** Returns the bytes held back; call it once after the last `push`. */
  finish(): Buffer {
    if (this.#encoding === 'utf-8') return Buffer.alloc(0);
    if (this.#encoding === 'windows-1252') return linesToUtf8(this.#carry);
    return Buffer.from(this.#decoder.decode());
  }
}

function byteOrderMark(sample: Buffer): { encoding: Encoding; bom: number } | null {
  const [first, second, third] = sample;
  if (first === 0xef && second === 0xbb && third === 0xbf) return { encoding: 'utf-8', bom: 3 };
  if (first === 0xff && second === 0xfe) return { encoding: 'utf-16le', bom: 2 };
  if (first === 0xfe && second === 0xff) return { encoding: 'utf-16be', bom: 2 };
  return null;
}

/** In UTF-16 the delimiters, digits and newlines have a zero byte, always on the same side. */
function utf16ByZeros(sample: Buffer): Encoding | null {
  let even = 0;
  let odd = 0;
  for (let at = sample.indexOf(0); at >= 0; at = sample.indexOf(0, at + 1)) {
    if (at % 2 === 0) even++;
    else odd++;
  }
  const most = Math.max(even, odd);
  if (Math.min(even, odd) > most * ZERO_SHARE_OTHER_SIDE_MAX) return null;
  const share = most / (sample.length / 2);
  // Letters of a Western alphabet are valid UTF-8 in both forms: then nearly all newlines decide.
  const isNarrowToo = isUtf8(sample.subarray(0, completeUtf8Length(sample)));
  const isWide =
    share >= ZERO_SHARE_SURE
      ? !isNarrowToo || wideNewlineShare(sample) >= 0.75
      : share >= ZERO_SHARE_POSSIBLE && !isNarrowToo && wideNewlineShare(sample) >= 0.25;
  if (!isWide) return null;
  return odd > even ? 'utf-16le' : 'utf-16be';
}

/** Returns the share of LF and CR bytes next to a zero byte; 1 when there are none. */
function wideNewlineShare(sample: Buffer): number {
  let all = 0;
  let wide = 0;
  for (const newline of [LF, CR]) {
    for (let at = sample.indexOf(newline); at >= 0; at = sample.indexOf(newline, at + 1)) {
      all++;
      if (at % 2 === 0 ? sample[at + 1] === 0 : sample[at - 1] === 0) wide++;
    }
  }
  return all === 0 ? 1 : wide / all;
}

/** Returns the length without a multi-byte character that the end of the sample cuts. */
function completeUtf8Length(sample: Buffer): number {
  const { length } = sample;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = sample[length - back] as number;
    if (byte < 0x80) return length;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return needed > back ? length - back : length;
  }
  return length;
}

/** Non-ASCII characters that are valid UTF-8, and places that are not. */
function countNonAscii(bytes: Buffer): { good: number; bad: number } {
  let good = 0;
  let bad = 0;
  for (const character of bytes.toString('utf8')) {
    if (character === '\ufffd') bad++;
    else if (character > '\x7f') good++;
  }
  return { good, bad };
}

/** Each line that is not valid UTF-8 is decoded as Windows-1252; the others stay. */
function linesToUtf8(bytes: Buffer): Buffer {
  if (isUtf8(bytes)) return bytes;
  const lines: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    let to = from;
    while (to < bytes.length && bytes[to] !== LF && bytes[to] !== CR) to++;
    to = Math.min(to + 1, bytes.length);
    const line = bytes.subarray(from, to);
    lines.push(isUtf8(line) ? line : Buffer.from(decodeWindows1252(line)));
    from = to;
  }
  return Buffer.concat(lines);
}
