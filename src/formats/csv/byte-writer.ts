/** A growing buffer for assembling output: bytes are copied once, strings are encoded in place. */
import { acquireBuffer, releaseBuffer } from '../../core/lib/buffer-pool.ts';

/** Up to this length a loop is faster than the call that encodes a string. */
const SHORT_TEXT_MAX = 64;
/** The same for the call that copies bytes, which makes a view of them each time. */
const SHORT_BYTES_MAX = 256;

export class ByteWriter {
  bytes: Buffer;
  length = 0;

  constructor(capacity: number) {
    this.bytes = acquireBuffer(capacity);
  }

  /** Makes room for this many more bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const wider = acquireBuffer(this.length + more);
    this.bytes.copy(wider, 0, 0, this.length);
    releaseBuffer(this.bytes);
    this.bytes = wider;
  }

  copy(source: Buffer, from: number, to: number): void {
    this.reserve(to - from);
    if (to - from > SHORT_BYTES_MAX) source.copy(this.bytes, this.length, from, to);
    else this.#copyShort(source, from, to);
    this.length += to - from;
  }

  #copyShort(source: Buffer, from: number, to: number): void {
    const { bytes } = this;
    const shift = this.length - from;
    for (let at = from; at < to; at++) bytes[shift + at] = source[at] as number;
  }

  text(value: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.reserve(value.length * 3);
    if (value.length <= SHORT_TEXT_MAX && this.#ascii(value)) return;
    this.length += this.bytes.write(value, this.length, 'utf8');
  }

  /** Writes a text of ASCII only; for any other it writes nothing and returns false. */
  #ascii(value: string): boolean {
    const { bytes, length } = this;
    for (let at = 0; at < value.length; at++) {
      const unit = value.charCodeAt(at);
      if (unit > 0x7f) return false;
      bytes[length + at] = unit;
    }
    this.length += value.length;
    return true;
  }

  /** The bytes written so far; valid until the next write or `release`. */
  written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** Returns the buffer to the pool: call it when nothing reads the written bytes any more. */
  release(): void {
    releaseBuffer(this.bytes);
  }
}
