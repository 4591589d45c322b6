/** Checksums of the chunks of a stream, whose ends are only known after their bytes have passed. */
import { addToCrc32 } from '../../core/lib/add-to-crc32.ts';

/** CRC-32 of consecutive ranges. Keeps the bytes that belong to no range yet. */
export class ChunkSums {
  #waiting: Buffer[] = [];
  /** Offset of the first kept byte. */
  #at: number;
  #crc32 = 0;

  constructor(firstByte: number) {
    this.#at = firstByte;
  }

  /** Takes the next bytes (kept, so the caller must not overwrite them). */
  push(block: Buffer): void {
    this.#waiting.push(block);
  }

  /** Adds the bytes up to the offset `to` to the open range. They must have been pushed already. */
  addTo(to: number): void {
    let left = to - this.#at;
    this.#at = to;
    let taken = 0;
    for (const [index, block] of this.#waiting.entries()) {
      if (left < block.length) {
        this.#crc32 = addToCrc32(this.#crc32, block.subarray(0, left));
        this.#waiting[index] = block.subarray(left);
        break;
      }
      this.#crc32 = addToCrc32(this.#crc32, block);
      left -= block.length;
      taken++;
    }
    this.#waiting.splice(0, taken);
  }

  /** Ends the open range at the offset `to` and begins the next one there. Returns its checksum. */
  end(to: number): number {
    this.addTo(to);
    const sum = this.#crc32;
    this.#crc32 = 0;
    return sum;
  }
}
