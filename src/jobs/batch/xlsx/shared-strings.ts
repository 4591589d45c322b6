/**
 * The strings that cells refer to by number (ECMA-376 part 1, 18.4.9). Any cell may refer to any of
 * them, so they stay in memory while the sheet is read: as UTF-8 pages outside the JavaScript heap.
 */

import { assert, must } from '../../../core/lib/assert.ts';
import { readXmlPart } from './read-xml-part.ts';
import { StringItem } from './string-item.ts';
import { unreadableXlsx } from './xlsx-errors.ts';

const pageBytes = 1024 * 1024;

/** What one string costs beside its text: where it starts and how long it is. */
const indexBytes = 12;

export class SharedStrings {
  readonly #bytesMax: number;
  readonly #pages: Buffer[] = [];
  #used = pageBytes;
  #bytes = 0;
  #count = 0;
  /** Page number times `pageBytes` plus the place in the page; each string lies whole in one. */
  #starts = new Float64Array(1024);
  #lengths = new Uint32Array(1024);

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Throws `AppError` 422 when all strings together are more than allowed. */
  add(text: string): void {
    const length = Buffer.byteLength(text);
    assert(length <= pageBytes, 'a string fits into a page');
    this.#bytes += length + indexBytes;
    if (this.#bytes > this.#bytesMax) {
      throw unreadableXlsx(`its texts take more than ${this.#bytesMax} bytes`);
    }
    this.#grow();
    if (length > 0) this.#write(text, length);
    this.#lengths[this.#count] = length;
    this.#count++;
  }

  /** The string of this number, or null when there is none. */
  at(index: number): string | null {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return null;
    const length = must(this.#lengths[index], 'its length');
    if (length === 0) return '';
    const start = must(this.#starts[index], 'its start');
    const from = start % pageBytes;
    const page = must(this.#pages[Math.floor(start / pageBytes)], 'its page');
    return page.toString('utf8', from, from + length);
  }

  #write(text: string, length: number): void {
    if (this.#used + length > pageBytes) {
      this.#pages.push(Buffer.allocUnsafeSlow(pageBytes));
      this.#used = 0;
    }
    must(this.#pages.at(-1), 'the page').write(text, this.#used, 'utf8');
    this.#starts[this.#count] = (this.#pages.length - 1) * pageBytes + this.#used;
    this.#used += length;
  }

  #grow(): void {
    if (this.#count < this.#starts.length) return;
    const starts = new Float64Array(this.#count * 2);
    starts.set(this.#starts);
    this.#starts = starts;
    const lengths = new Uint32Array(this.#count * 2);
    lengths.set(this.#lengths);
    this.#lengths = lengths;
  }
}

/** Reads the part that holds them. Throws `AppError` 422 when it is broken or holds too much. */
export async function readSharedStrings(
  bytes: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<SharedStrings> {
  const strings = new SharedStrings(bytesMax);
  const item = new StringItem();
  await readXmlPart(bytes, {
    open: (name) => item.open(name),
    text: (piece) => item.text(piece),
    close: (name) => {
      item.close(name);
      if (name === 'si') strings.add(item.take());
    },
  });
  return strings;
}
