/** Detects the format of an import file: gzip by its magic bytes, then the format by its first byte. */
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export type RecordFormat = 'jsonl' | 'csv';

export interface OpenedRecords {
  format: RecordFormat;
  /** The same bytes, unzipped, from the beginning. */
  input: Readable;
}

/** A stream that begins with `{` (after a byte order mark and white space) is JSONL, otherwise CSV. */
export async function openRecords(raw: Readable): Promise<OpenedRecords> {
  const outer = await peek(raw, hasGzipMagicLength);
  const input = isGzip(outer.first)
    ? pipeline(outer.stream, createGunzip(), () => {
        // Reading the unzipped stream throws the same error; nothing else waits for it here.
      })
    : outer.stream;
  const inner = await peek(input, (first) => firstCharacter(first) !== undefined);
  const format = firstCharacter(inner.first) === '{' ? 'jsonl' : 'csv';
  return { format, input: inner.stream };
}

function hasGzipMagicLength(first: Buffer): boolean {
  return first.length >= 2;
}

function isGzip(first: Buffer): boolean {
  return first[0] === 0x1f && first[1] === 0x8b;
}

function firstCharacter(first: Buffer): string | undefined {
  return first
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf/, '')
    .trimStart()[0];
}

/** Reads until `isEnough`, and returns a stream that begins with the bytes read. */
async function peek(
  stream: Readable,
  isEnough: (first: Buffer) => boolean,
): Promise<{ first: Buffer; stream: Readable }> {
  const iterator = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer | string>;
  let first = Buffer.alloc(0);
  while (!isEnough(first)) {
    const next = await iterator.next();
    if (next.done) break;
    first = Buffer.concat([first, Buffer.from(next.value)]);
  }
  return { first, stream: Readable.from(continued(first, iterator), { objectMode: false }) };
}

async function* continued(
  first: Buffer,
  iterator: AsyncIterator<Buffer | string>,
): AsyncGenerator<Buffer | string> {
  try {
    if (first.length > 0) yield first;
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      yield next.value;
    }
  } finally {
    await iterator.return?.();
  }
}
