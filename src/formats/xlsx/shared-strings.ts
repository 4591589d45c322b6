/**
 * The strings that cells refer to by number (ECMA-376 part 1, 18.4.9). Any cell may refer to any of them, so they
 * are kept while the sheet is read: the first in memory, outside the JavaScript heap, the others in a temporary
 * file. Writers number strings in order of appearance: those of many cells come first.
 */

import type { XlsxLimits } from './limits.ts';
import { scanXmlPart } from './read-xml-part.ts';
import { SpilledBytes } from './spilled-bytes.ts';
import { StringItem } from './string-item.ts';
import { unreadableXlsx } from './xlsx-errors.ts';

/** The cost of one string besides its text: its end. */
const INDEX_BYTES = 8;
/** The index's share of the memory. */
const INDEX_SHARE = 1 / 4;

type StringLimits = Pick<XlsxLimits, 'sharedStringBytesMax' | 'sharedStringMemoryBytes'>;

export class SharedStrings {
  readonly #bytesMax: number;
  readonly #texts: SpilledBytes;
  /** The end of each string in `#texts`. */
  readonly #ends: SpilledBytes;
  readonly #end = Buffer.alloc(INDEX_BYTES);
  #count = 0;

  constructor({ sharedStringBytesMax, sharedStringMemoryBytes }: StringLimits) {
    this.#bytesMax = sharedStringBytesMax;
    this.#texts = new SpilledBytes(sharedStringMemoryBytes * (1 - INDEX_SHARE));
    this.#ends = new SpilledBytes(sharedStringMemoryBytes * INDEX_SHARE);
  }

  /**
   * Appends a string. Await `spill` after some of them. Throws `AppError` 422 when all strings together exceed the
   * limit.
   */
  add(text: string): void {
    this.#texts.append(Buffer.from(text));
    this.#end.writeDoubleLE(this.#texts.length);
    this.#ends.append(this.#end);
    this.#count++;
    if (this.#texts.length + this.#ends.length > this.#bytesMax) {
      throw unreadableXlsx(`its texts take more than ${this.#bytesMax} bytes`);
    }
  }

  /** Moves what does not fit into memory to the file. Throws `AppError` 503 when it cannot be written. */
  async spill(): Promise<void> {
    await this.#texts.spill();
    await this.#ends.spill();
  }

  /** Returns the string of this number; null when there is none. */
  at(index: number): string | null {
    if (!Number.isInteger(index) || index < 0 || index >= this.#count) return null;
    const from = index === 0 ? 0 : this.#ends.double((index - 1) * INDEX_BYTES);
    return this.#texts.text(from, this.#ends.double(index * INDEX_BYTES));
  }

  /** Releases memory and file. */
  async close(): Promise<void> {
    await this.#texts.close();
    await this.#ends.close();
  }
}

/**
 * Reads the part with the strings into `strings`. Throws `AppError` 422 when it is broken or too large, 503 when
 * there is no room for temporary files.
 */
export async function readSharedStrings(
  bytes: AsyncIterable<Buffer>,
  strings: SharedStrings,
): Promise<void> {
  const item = new StringItem();
  const scanned = scanXmlPart(bytes, {
    open: (name) => item.open(name),
    text: (piece) => item.text(piece),
    close: (name) => {
      item.close(name);
      if (name === 'si') strings.add(item.take());
    },
  });
  for await (const _ of scanned) await strings.spill();
}
