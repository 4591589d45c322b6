/**
 * Bytes that are appended once and then read at random. The first ones stay in memory, the others are spilled to a
 * temporary file. The file is unlinked as soon as it is open, so the operating system deletes it however the
 * process ends.
 */

import { randomUUID } from 'node:crypto';
import { readSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { assert, must } from '../../core/lib/assert.ts';
import { unavailable } from '../../core/lib/errors.ts';

const PAGE_BYTES = 1024 * 1024;
/**
 * Room for the longest text of a cell in UTF-8, and read-ahead for forward readers, as the cells of most sheets
 * are.
 */
const WINDOW_BYTES = 128 * 1024;

export class SpilledBytes {
  readonly #pagesInMemory: number;
  /** In order; null for a page in the file. */
  readonly #pages: (Buffer | null)[] = [];
  /** Number of full pages, from `#pagesInMemory` on, that are in the file. */
  #pagesWritten = 0;
  #length = 0;
  #file: FileHandle | null = null;
  /** The last bytes read from the file. */
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #windowFrom = 0;
  #windowTo = 0;

  /** `memoryBytes` stay in memory, rounded down to whole MiB, at least one MiB. */
  constructor(memoryBytes: number) {
    this.#pagesInMemory = Math.max(1, Math.floor(memoryBytes / PAGE_BYTES));
  }

  /** Bytes appended so far. */
  get length(): number {
    return this.#length;
  }

  append(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const inPage = this.#length % PAGE_BYTES;
      if (inPage === 0) this.#pages.push(Buffer.allocUnsafeSlow(PAGE_BYTES));
      const page = must(this.#pages.at(-1), 'the page being filled');
      const copied = bytes.copy(page, inPage, at);
      this.#length += copied;
      at += copied;
    }
  }

  /**
   * Writes full pages beyond the memory's share to the file. Call it after every few appends. Throws
   * `AppError` 503 `unavailable` when the file cannot be written.
   */
  async spill(): Promise<void> {
    const fullPages = Math.floor(this.#length / PAGE_BYTES);
    for (let page = this.#pagesInMemory + this.#pagesWritten; page < fullPages; page++) {
      await this.#writePage(must(this.#pages[page], 'a page not yet written'));
      this.#pages[page] = null;
      this.#pagesWritten++;
    }
  }

  /** Returns the UTF-8 text of bytes `from` to `to`, exclusive. */
  text(from: number, to: number): string {
    const page = this.#pages[Math.floor(from / PAGE_BYTES)] ?? null;
    const start = from % PAGE_BYTES;
    if (page !== null && start + to - from <= PAGE_BYTES) {
      return page.toString('utf8', start, start + to - from);
    }
    return this.#read(from, to).toString('utf8');
  }

  /** Returns the 64-bit floating-point number that was appended at `at`, little-endian. */
  double(at: number): number {
    const page = this.#pages[Math.floor(at / PAGE_BYTES)] ?? null;
    const start = at % PAGE_BYTES;
    if (page !== null && start + 8 <= PAGE_BYTES) return page.readDoubleLE(start);
    return this.#read(at, at + 8).readDoubleLE(0);
  }

  /** Releases memory and file. */
  async close(): Promise<void> {
    this.#pages.length = 0;
    await this.#file?.close();
  }

  async #writePage(page: Buffer): Promise<void> {
    try {
      this.#file ??= await openUnlinked();
      const position = this.#pagesWritten * PAGE_BYTES;
      for (let at = 0; at < PAGE_BYTES; ) {
        at += (await this.#file.write(page, at, PAGE_BYTES - at, position + at)).bytesWritten;
      }
    } catch (cause) {
      throw unavailable(
        'unavailable',
        'The service has no room for temporary files at the moment. Try again later, or save the sheet as CSV and upload that.',
        { cause },
      );
    }
  }

  /** Returns the bytes of a range, valid until the next call. Ranges may cross pages. */
  #read(from: number, to: number): Buffer {
    const firstInFile = this.#pagesInMemory * PAGE_BYTES;
    const firstBehind = firstInFile + this.#pagesWritten * PAGE_BYTES;
    if (from >= firstInFile && to <= firstBehind) return this.#readFile(from, to);
    const bytes = Buffer.allocUnsafe(to - from);
    for (let at = from; at < to; ) {
      const page = Math.floor(at / PAGE_BYTES);
      const end = Math.min(to, (page + 1) * PAGE_BYTES);
      const inPage = at - page * PAGE_BYTES;
      const source = this.#pages[page]?.subarray(inPage, inPage + end - at);
      (source ?? this.#readFile(at, end)).copy(bytes, at - from);
      at = end;
    }
    return bytes;
  }

  /**
   * Synchronous, while the cells that need it are scanned: recently written data is mostly still in the system's
   * cache.
   */
  #readFile(from: number, to: number): Buffer {
    if (from < this.#windowFrom || to > this.#windowTo) this.#moveWindow(from, to);
    return this.#window.subarray(from - this.#windowFrom, to - this.#windowFrom);
  }

  #moveWindow(from: number, to: number): void {
    assert(to - from <= WINDOW_BYTES, 'a range in the file fits into the window');
    const isForward = from >= this.#windowFrom && from <= this.#windowTo + WINDOW_BYTES;
    const { fd } = must(this.#file, 'the file');
    const firstInFile = this.#pagesInMemory * PAGE_BYTES;
    const behind = firstInFile + this.#pagesWritten * PAGE_BYTES;
    const end = isForward ? Math.min(from + WINDOW_BYTES, behind) : to;
    const read = readSync(fd, this.#window, 0, end - from, from - firstInFile);
    assert(read === end - from, 'the file holds what was written to it');
    this.#windowFrom = from;
    this.#windowTo = end;
  }
}

/** An unlinked file: closing it, or the end of the process, deletes it. */
async function openUnlinked(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `enrich-spill-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await unlink(name);
  return file;
}
