/** The files of a source: plain, gzip or zip, with zips inside zips; every byte that is read is checked. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import yauzl from 'yauzl';
import { AppError, unprocessable } from '../core/lib/errors.ts';

/** One document: a file, or a member of a zip. */
export interface SourcePart {
  /** Name without folders; that of a member inside a zip inside a zip has both: `a_CIC.zip!accounts/b.xhtml`. */
  name: string;
  bytes: AsyncIterable<Buffer>;
}

/** A zip inside a zip is read into memory: those of accounts have some hundred kilobytes. */
const NESTED_BYTES_MAX = 64 * 1024 * 1024;
/** A file that unpacks to more than this many times its size is a bomb: registers unpack to ten times theirs. */
const RATIO_MAX = 200;
/** Below this size the ratio says nothing. */
const RATIO_FROM_BYTES = 16 * 1024 * 1024;
/** A zip that contains itself has no last one. */
const NESTED_ZIPS_MAX = 3;
/** Members of one zip; a month of accounts has some three hundred thousand. */
const MEMBERS_MAX = 1_000_000;
/** Bytes of the beginning that recognise a file. */
export const HEAD_BYTES = 64 * 1024;

/** Returns the SHA-256 of the files, one after the other. */
export async function hashFiles(files: readonly string[]): Promise<Buffer> {
  const hash = createHash('sha256');
  for (const file of files) for await (const chunk of createReadStream(file)) hash.update(chunk);
  return hash.digest();
}

/**
 * Yields the parts of a file in their order, without folders and the rubbish of macOS. Throws `AppError` 422
 * `unreadable_archive` for an archive that is cut off or damaged, when it reaches the damage.
 */
export async function* openParts(file: string): AsyncGenerator<SourcePart> {
  const name = path.basename(file);
  const head = await readHead(file, 4);
  if (isZip(head)) {
    const zip = await blame(name, () =>
      yauzl.openPromise(file, { lazyEntries: true, autoClose: false }),
    );
    yield* readZip(zip, name, 0);
  } else if (head[0] === 0x1f && head[1] === 0x8b) {
    const { size } = await stat(file);
    yield { name: name.replace(/\.gz$/i, ''), bytes: gunzip(createReadStream(file), size, name) };
  } else {
    yield { name, bytes: createReadStream(file) };
  }
}

/** Returns the first bytes of the first part of a file, for recognising its source. */
export async function readPartHead(file: string): Promise<{ name: string; head: Buffer }> {
  for await (const part of openParts(file)) {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of part.bytes) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= HEAD_BYTES) break;
    }
    return { name: part.name, head: Buffer.concat(chunks).subarray(0, HEAD_BYTES) };
  }
  return { name: '', head: Buffer.alloc(0) };
}

async function readHead(file: string, bytes: number): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

function isZip(head: Buffer): boolean {
  return (
    head.subarray(0, 4).equals(Buffer.from([0x50, 0x4b, 3, 4])) ||
    head.subarray(0, 4).equals(Buffer.from([0x50, 0x4b, 5, 6]))
  );
}

async function* readZip(
  zip: yauzl.ZipFile,
  archive: string,
  depth: number,
): AsyncGenerator<SourcePart> {
  try {
    if (zip.entryCount > MEMBERS_MAX) throw tooMany(archive);
    // Members may all be the same bytes of the archive.
    const unpacked = { bytes: 0 };
    const entries = zip.eachEntry()[Symbol.asyncIterator]();
    // One by one: all of them are as large as the directory, which may be most of the file.
    const nextEntry = () => blame(archive, () => entries.next());
    for (let next = await nextEntry(); next.done !== true; next = await nextEntry()) {
      const entry = next.value;
      const { fileName } = entry;
      if (fileName.endsWith('/') || /(^|\/)(__MACOSX\/|\._|\.DS_Store$)/.test(fileName)) continue;
      const bytes = readMember(zip, entry, archive, unpacked);
      if (!/\.zip$/i.test(fileName)) {
        yield { name: fileName, bytes };
        continue;
      }
      if (depth === NESTED_ZIPS_MAX) throw tooDeep(archive);
      const inner = await blame(archive, () => readAll(bytes, archive));
      const nested = await blame(fileName, () =>
        yauzl.fromBufferPromise(inner, { lazyEntries: true }),
      );
      for await (const part of readZip(nested, fileName, depth + 1)) {
        yield { ...part, name: `${fileName}!${part.name}` };
      }
    }
  } finally {
    zip.close();
  }
}

async function* readMember(
  zip: yauzl.ZipFile,
  entry: yauzl.Entry,
  archive: string,
  unpacked: { bytes: number },
): AsyncGenerator<Buffer> {
  let checksum = 0;
  try {
    let bytes = 0;
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      bytes += (chunk as Buffer).length;
      unpacked.bytes += (chunk as Buffer).length;
      assertNoBomb(bytes, entry.compressedSize, archive);
      assertNoBomb(unpacked.bytes, zip.fileSize, archive);
      checksum = crc32(chunk as Buffer, checksum);
      yield chunk as Buffer;
    }
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(archive, error);
  }
  if (checksum !== entry.crc32) throw unreadable(archive);
}

async function readAll(bytes: AsyncIterable<Buffer>, archive: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size > NESTED_BYTES_MAX) throw unreadable(archive);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* gunzip(raw: Readable, size: number, name: string): AsyncGenerator<Buffer> {
  const unzipped = pipeline(raw, createGunzip({ chunkSize: 256 * 1024 }), () => {
    // Reading the unzipped stream throws the same error.
  });
  try {
    let bytes = 0;
    for await (const chunk of unzipped as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      assertNoBomb(bytes, size, name);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(name, error);
  }
}

function assertNoBomb(bytes: number, packedBytes: number, archive: string): void {
  if (bytes <= RATIO_FROM_BYTES || bytes <= packedBytes * RATIO_MAX) return;
  throw unprocessable(
    'unreadable_archive',
    `The archive ${archive} unpacks to more than ${RATIO_MAX} times its size; nothing was changed. Unpack it first if it is the right file.`,
  );
}

async function blame<T>(archive: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof AppError ? error : unreadable(archive, error);
  }
}

function tooMany(archive: string): AppError {
  return unprocessable(
    'unreadable_archive',
    `The archive ${archive} has more than ${MEMBERS_MAX} files; nothing was changed. Unzip it, and import its files in parts.`,
  );
}

function tooDeep(archive: string): AppError {
  return unprocessable(
    'unreadable_archive',
    `The archive ${archive} has archives in archives, more than ${NESTED_ZIPS_MAX} deep; nothing was changed. Unzip it first.`,
  );
}

function unreadable(archive: string, cause?: unknown): AppError {
  return unprocessable(
    'unreadable_archive',
    `The archive ${archive} is cut off or damaged; nothing was changed. Download it again.`,
    { cause },
  );
}
