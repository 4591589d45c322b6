/** Lines of text files, streamed. */
import { unprocessable } from '../core/lib/errors.ts';

export interface TextLine {
  /** One-based. */
  line: number;
  /** Without its end. */
  text: string;
}

/** Longer than a photo that an address book has in one line. */
export const LINE_BYTES_MAX = 64 * 1024 * 1024;

/** Reads lines that end with LF or CRLF, in batches. Throws `AppError` 422 `line_too_long`. */
export async function* readLines(
  bytes: AsyncIterable<Buffer>,
  encoding: 'latin1' | 'utf8',
): AsyncGenerator<TextLine[]> {
  /** The beginning of a line whose end has not come yet. */
  let held: Buffer[] = [];
  let heldBytes = 0;
  let line = 0;
  const take = (last: Buffer): TextLine => {
    const text = (held.length === 0 ? last : Buffer.concat([...held, last])).toString(encoding);
    [held, heldBytes] = [[], 0];
    line += 1;
    return { line, text: text.endsWith('\r') ? text.slice(0, -1) : text };
  };
  for await (const chunk of bytes) {
    const lines: TextLine[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      lines.push(take(chunk.subarray(from, end)));
      from = end + 1;
    }
    if (from < chunk.length) held.push(Buffer.from(chunk.subarray(from)));
    heldBytes += chunk.length - from;
    if (heldBytes > LINE_BYTES_MAX) throw lineTooLong(line + 1);
    if (lines.length > 0) yield lines;
  }
  if (heldBytes > 0) yield [take(Buffer.alloc(0))];
}

/** The error for a line that is longer than lines of its kind may be. */
export function lineTooLong(line: number, bytesMax = LINE_BYTES_MAX): Error {
  return unprocessable(
    'line_too_long',
    `Line ${line} of the file has more than ${bytesMax} bytes; nothing was changed. Check that it is the file of this source.`,
  );
}
