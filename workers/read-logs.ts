/** Reads the logs that `audit --log` compares. */
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { AppError } from '../src/core/lib/errors.ts';
import { readLines } from '../src/sources/text-lines.ts';

/**
 * Returns the lines of these files or pipes, of which each may be gzipped, one file after the other. Throws `AppError` 400
 * `unreadable_log` for a folder or a device, for a gzip that is damaged or cut off, and for a line of more than 64 MiB, and what
 * Node throws for a file that does not exist or is not readable.
 */
export async function* readLogs(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files) yield* readLog(file);
}

async function* readLog(file: string): AsyncGenerator<string> {
  const found = await stat(file);
  // A device may have no end.
  if (!found.isFile() && !found.isFIFO() && !found.isSocket()) {
    throw unreadable(file, 'is a folder or a device. Name the files of the log');
  }
  try {
    for await (const lines of readLines(unzip(createReadStream(file)), 'utf8')) {
      for (const { text } of lines) yield text;
    }
  } catch (error) {
    throw describe(file, error);
  }
}

/** Gives the bytes as they are, or those of a gzip. */
async function* unzip(input: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const chunks = input[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let next = await chunks.next();
  // A pipe may give a single byte at first.
  for (; next.done !== true && head.length < 2; next = await chunks.next()) {
    head = Buffer.concat([head, next.value]);
  }
  const whole = async function* (): AsyncGenerator<Buffer> {
    yield head;
    for (; next.done !== true; next = await chunks.next()) yield next.value;
  };
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  // The reader of the last stream gets the errors of all.
  yield* isGzip ? pipeline(whole(), createGunzip(), () => {}) : whole();
}

function describe(file: string, error: unknown): unknown {
  const { code = '' } = error as { code?: string };
  if (code === 'line_too_long') {
    return unreadable(file, 'has a line of more than 64 MiB, so it is not a log of the API');
  }
  if (!code.startsWith('Z_')) return error;
  return unreadable(file, 'is a gzip that is damaged or cut off. Name a whole copy of it');
}

function unreadable(file: string, why: string): AppError {
  return new AppError({ code: 'unreadable_log', status: 400, message: `${file} ${why}.` });
}
