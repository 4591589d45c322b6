/** Lines of text files, streamed. */
export interface TextLine {
  /** One-based. */
  line: number;
  /** Without its end. */
  text: string;
}

/** Reads lines that end with LF or CRLF, in batches. */
export async function* readLines(
  bytes: AsyncIterable<Buffer>,
  encoding: 'latin1' | 'utf8',
): AsyncGenerator<TextLine[]> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 0;
  const decode = (from: Buffer): string => {
    const text = from.toString(encoding);
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  };
  for await (const chunk of bytes) {
    const whole = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const lines: TextLine[] = [];
    let from = 0;
    for (let end = whole.indexOf(10); end >= 0; end = whole.indexOf(10, from)) {
      line += 1;
      lines.push({ line, text: decode(whole.subarray(from, end)) });
      from = end + 1;
    }
    rest = Buffer.from(whole.subarray(from));
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [{ line: line + 1, text: decode(rest) }];
}
