/**
 * The form of a backup: a gzipped tar of `manifest.json`, the rows of each table in pieces, the stored objects, and
 * `end.json`, encrypted by age (https://age-encryption.org/v1) when there is a passphrase. Without its end a file was
 * cut off. Tar, gzip and age are readable by other programs, also in ten years.
 */
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { createGunzip, createGzip } from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { extract, type Pack } from 'tar-stream';
import { z } from 'zod';
import { AppError } from '../../core/lib/errors.ts';

export const manifestSchema = z.object({
  format: z.literal(1),
  created_at: z.string(),
  /** The applied migrations: rows only fit the schema that they come from. */
  schema: z.array(z.object({ name: z.string(), sha256: z.string() })),
  tables: z.array(z.object({ name: z.string(), columns: z.array(z.string()) })),
  sequences: z.array(z.object({ name: z.string(), last: z.int().positive() })),
});
export type Manifest = z.output<typeof manifestSchema>;

export const endSchema = z.object({ pieces: z.number(), objects: z.number(), missing: z.number() });
export type End = z.output<typeof endSchema>;

/** The first bytes of every file of age. */
const AGE_MAGIC = 'age-encryption.org/v1';

/** Fast: most bytes are results, which the next half of a day makes worthless. */
const GZIP_LEVEL = 1;

/** Called with each line of progress. */
export type OnProgress = (line: string) => void;

/** Files up to this size are read and written whole, several at once: most are small, and take little but waiting. */
export const SMALL_BYTES_MAX = 256 * 1024;
export const SMALL_AT_ONCE = 16;

/** Files between two lines of progress. */
const FILES_REPORTED = 1000;

/** True for the number of files after which a line of progress is printed. */
export function isReported(files: number, all?: number): boolean {
  return files % FILES_REPORTED === 0 || files === all;
}

/** Returns the stream of a tar as the bytes of the file. */
export async function sealed(tar: Pack, passphrase: string | null): Promise<Readable> {
  const zipped = tar.pipe(createGzip({ level: GZIP_LEVEL }));
  tar.on('error', (error) => zipped.destroy(error));
  if (passphrase === null) return zipped;
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  const source = Readable.toWeb(zipped) as unknown as globalThis.ReadableStream<Uint8Array>;
  const stream = await encrypter.encrypt(source);
  return Readable.fromWeb(stream as unknown as ReadableStream);
}

/** One entry of a backup. Its bytes must be read before the next entry comes. */
export interface Entry {
  name: string;
  size: number;
  bytes: AsyncIterable<Buffer> & Readable;
}

/**
 * Reads the entries of a backup in their order. `open` is called twice: for the first bytes, and for all of them. Throws
 * `AppError` 422 `backup_encrypted` without the passphrase or with another one, and errors of zlib, tar and age for bytes
 * that are no backup, were damaged or cut off.
 */
export async function* readEntries(
  open: () => Readable,
  passphrase: string | null,
): AsyncGenerator<Entry> {
  const head = await firstBytes(open(), AGE_MAGIC.length);
  const isEncrypted = head.toString('latin1') === AGE_MAGIC;
  const plain = isEncrypted ? await decrypted(open(), passphrase) : open();
  const tar = extract();
  const unzipped = createGunzip();
  plain.on('error', (error) => unzipped.destroy(error)).pipe(unzipped);
  unzipped.on('error', (error) => tar.destroy(error)).pipe(tar);
  try {
    for await (const entry of tar) {
      const { name, size } = entry.header;
      yield { name, size: size ?? 0, bytes: entry as unknown as Entry['bytes'] };
    }
  } finally {
    plain.destroy();
  }
}

async function decrypted(file: Readable, passphrase: string | null): Promise<Readable> {
  if (passphrase === null) throw encrypted('is encrypted: set ENRICH_BACKUP_PASSPHRASE');
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  const source = Readable.toWeb(file) as unknown as globalThis.ReadableStream<Uint8Array>;
  const stream = await decrypter.decrypt(source).catch((cause: unknown) => {
    throw encrypted('cannot be opened with this passphrase', cause);
  });
  return Readable.fromWeb(stream as unknown as ReadableStream);
}

async function firstBytes(file: Readable, count: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of file) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes >= count) break;
  }
  return Buffer.concat(pieces).subarray(0, count);
}

function encrypted(what: string, cause?: unknown): AppError {
  const message = `The backup ${what}.`;
  return new AppError({ code: 'backup_encrypted', status: 422, message, cause });
}

/** Returns the error of a file that is not a complete backup. */
export function unreadable(cause: unknown): AppError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `The file is not a complete backup of this service: ${why}. Nothing was restored.`;
  return new AppError({ code: 'backup_unreadable', status: 422, message, cause });
}
