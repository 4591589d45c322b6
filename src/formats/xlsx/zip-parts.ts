/**
 * Reads the parts of a workbook, which is a zip archive (ECMA-376 part 2). yauzl reads the directory at the
 * archive's end; the members are streamed from storage by range, so nothing is held or spooled. Every unzipped
 * byte is counted, and checked against the directory.
 */

import { pipeline, type Readable } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import yauzl from 'yauzl';
import { AppError } from '../../core/lib/errors.ts';
import type { ByteRange } from '../../core/storage/object-store.ts';
import type { XlsxLimits } from './limits.ts';
import { notXlsx, unreadableXlsx } from './xlsx-errors.ts';

/** An uploaded file that can be read by range from object storage. */
export interface XlsxSource {
  bytes: number;
  get(range: ByteRange): Promise<Buffer>;
  getStream(range: ByteRange): Readable;
}

export interface ZipParts {
  has(name: string): boolean;
  /**
   * Returns the unzipped bytes of one part. Throws `AppError` when it is missing, damaged, a bomb, or larger than
   * `bytesMax`.
   */
  read(name: string, bytesMax?: number): AsyncGenerator<Buffer>;
}

const STORED = 0;
const DEFLATED = 8;

/**
 * Reads the archive's directory. Throws `AppError` 422 for a broken archive or one with more members or a larger
 * directory than allowed, 415 for an encrypted member. Errors of the storage are passed on unchanged, and so are
 * those of `assertWanted`, which is called before each block that is unzipped.
 */
export async function openZipParts(
  source: XlsxSource,
  limits: XlsxLimits,
  assertWanted: () => void,
): Promise<ZipParts> {
  const reader = new WindowReader(source, limits.directoryBytesMax);
  const entries = new Map<string, yauzl.Entry>();
  const zip = await reader.blame(() =>
    yauzl.fromRandomAccessReaderPromise(reader, source.bytes, {
      lazyEntries: true,
      autoClose: false,
    }),
  );
  if (zip.entryCount > limits.entriesMax) {
    throw unreadableXlsx(`its archive has more than ${limits.entriesMax} members`);
  }
  await reader.blame(async () => {
    for await (const entry of zip.eachEntry()) {
      // Up to 16,000 objects, which are not read again.
      entry.extraFields = [];
      entries.set(partKey(entry.fileName), entry);
    }
  });
  const budget = { bytes: limits.unzippedBytesMax };
  return {
    has: (name) => entries.has(partKey(name)),
    read: (name, bytesMax = limits.unzippedBytesMax) => {
      const entry = entries.get(partKey(name));
      if (entry === undefined) throw unreadableXlsx(`its part ${name} is missing`);
      if (entry.uncompressedSize > bytesMax) {
        throw unreadableXlsx(`its part ${name} is larger than ${bytesMax} bytes`);
      }
      return readEntry({ source, reader, zip, limits, budget, assertWanted }, entry);
    },
  };
}

/** Part names are compared without regard to the case of ASCII letters (ECMA-376 part 2, 6.2.2). */
function partKey(name: string): string {
  return name.toLowerCase().replace(/^\/+/, '');
}

interface OpenArchive {
  source: XlsxSource;
  reader: WindowReader;
  zip: yauzl.ZipFile;
  limits: XlsxLimits;
  /** Bytes of the whole archive that may still be unzipped. */
  budget: { bytes: number };
  assertWanted: () => void;
}

async function* readEntry(archive: OpenArchive, entry: yauzl.Entry): AsyncGenerator<Buffer> {
  checkEntry(archive, entry);
  const { fileDataStart: from } = await archive.reader.blame(() =>
    archive.zip.readLocalFileHeaderPromise(entry, { minimal: true }),
  );
  if (entry.uncompressedSize === 0) return;
  archive.budget.bytes -= entry.uncompressedSize;
  let bytes = 0;
  let checksum = 0;
  const range = { from, to: from + entry.compressedSize };
  for await (const chunk of unzip(archive.source, range, entry.compressionMethod)) {
    archive.assertWanted();
    bytes += chunk.length;
    if (bytes > entry.uncompressedSize) break;
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (bytes !== entry.uncompressedSize || checksum !== entry.crc32) {
    throw unreadableXlsx(`its part ${entry.fileName} is damaged`);
  }
}

/** The directory's sizes are checked against the limits here, and the bytes against the sizes later. */
function checkEntry({ limits, budget }: OpenArchive, entry: yauzl.Entry): void {
  if (entry.isEncrypted()) throw notXlsx('encrypted', 'This workbook is encrypted.');
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw unreadableXlsx(`its part ${entry.fileName} is compressed in an unusual way`);
  }
  const { uncompressedSize, compressedSize } = entry;
  if (uncompressedSize > budget.bytes) {
    throw unreadableXlsx(`it unzips to more than ${limits.unzippedBytesMax} bytes`);
  }
  if (
    uncompressedSize > limits.ratioFromBytes &&
    uncompressedSize > compressedSize * limits.ratioMax
  ) {
    throw unreadableXlsx(`its parts grow to more than ${limits.ratioMax} times their size`);
  }
}

async function* unzip(
  source: XlsxSource,
  range: ByteRange,
  method: number,
): AsyncGenerator<Buffer> {
  const zipped = source.getStream(range);
  if (method === STORED) {
    yield* zipped;
    return;
  }
  const inflate = createInflateRaw({ chunkSize: 64 * 1024 });
  // A failing read destroys the inflater with its error, which the loop below then throws.
  pipeline(zipped, inflate, () => {});
  try {
    yield* inflate;
  } catch (error) {
    throw isZlibError(error) ? unreadableXlsx('its zip archive is broken', error) : error;
  } finally {
    zipped.destroy();
  }
}

function isZlibError(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' && code.startsWith('Z_');
}

/** The directory is read in hundreds of small pieces: one window serves most, storage the rest. */
const WINDOW_BYTES = 256 * 1024;

/** The reader of yauzl: the directory with its end record, and the headers of the opened members. */
class WindowReader extends yauzl.RandomAccessReader {
  readonly #source: XlsxSource;
  readonly #bytesMax: number;
  #bytesRead = 0;
  #window: Buffer = Buffer.alloc(0);
  #windowFrom = 0;
  #storeError: unknown = null;

  constructor(source: XlsxSource, bytesMax: number) {
    super();
    this.#source = source;
    this.#bytesMax = bytesMax;
  }

  override read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
    done: (error: Error | null) => void,
  ): void {
    this.#bytesRead += length;
    if (this.#bytesRead > this.#bytesMax) {
      done(unreadableXlsx(`its archive's directory takes more than ${this.#bytesMax} bytes`));
      return;
    }
    this.#bytes(position, length).then(
      (bytes) => {
        bytes.copy(into, offset);
        done(bytes.length === length ? null : new Error('the archive ends early'));
      },
      (error: unknown) => {
        this.#storeError = error;
        done(error instanceof Error ? error : new Error('the storage failed'));
      },
    );
  }

  /** Runs a step of yauzl: its errors are the archive's fault, unless the storage failed. */
  async blame<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (this.#storeError !== null) throw this.#storeError;
      throw error instanceof AppError ? error : unreadableXlsx('its zip archive is broken', error);
    }
  }

  async #bytes(from: number, length: number): Promise<Buffer> {
    const inWindow = from - this.#windowFrom;
    if (inWindow < 0 || inWindow + length > this.#window.length) {
      const to = Math.min(this.#source.bytes, from + Math.max(length, WINDOW_BYTES));
      this.#window = await this.#source.get({ from, to: Math.max(from, to) });
      this.#windowFrom = from;
    }
    const at = from - this.#windowFrom;
    return this.#window.subarray(at, at + length);
  }
}
