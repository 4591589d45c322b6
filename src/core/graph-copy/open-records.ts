/** Records of a copy as they are read, and storage of what is read. */
import { acquireBuffer } from '../lib/buffer-pool.ts';
import type { CopiedRecord, VisitCode } from './record-block.ts';
import type { RecordIndex } from './record-index.ts';

const BUFFER_BYTES = 2 * 1024 * 1024;

/** Storage of what one request reads. */
export class ReadBuffers {
  readonly #kept: Buffer[] = [];
  #used = 0;

  /** The index of the buffer that was read into last; -1 for none. */
  get last(): number {
    return this.#kept.length - 1;
  }

  /** Returns where the room of the last buffer begins. */
  get at(): number {
    return this.#used;
  }

  /** Returns the last buffer, with room for so many bytes from `at` on; `keep` keeps what was written there. */
  room(bytes: number): Buffer {
    let buffer = this.#kept[this.last];
    if (buffer === undefined || this.#used + bytes > buffer.length) {
      buffer = acquireBuffer(Math.max(bytes, BUFFER_BYTES));
      this.#kept.push(buffer);
      this.#used = 0;
    }
    return buffer;
  }

  keep(bytes: number): void {
    this.#used += bytes;
  }

  /** Returns the buffers, which are empty from then on. */
  take(): ArrayBuffer[] {
    return this.#kept.splice(0).map(({ buffer }) => buffer as ArrayBuffer);
  }
}

/** The records of one kind. Every read throws `UnusableCopy` for bytes that are not as they were written. */
export interface OpenRecords {
  /**
   * Calls `visit` for each record that has the value, with the code and the begin of the record's block in the last of
   * `buffers`, which keep it. Returns false when there may be more of them than a look-up returns.
   */
  find(value: string, buffers: ReadBuffers, visit: VisitCode): boolean;
  /** Calls `visit` for each of these records that the copy holds, as `RecordIndex.forEach`. */
  forEach: RecordIndex['forEach'];
  /** Reads a further text. Returns where it begins in the last buffer; it is as long as it claims. */
  readFurther(further: CopiedRecord['further'], buffers: ReadBuffers): number;
}
