/** A growing buffer for assembling output: bytes are copied once, strings are encoded in place. */
export class ByteWriter {
  bytes: Buffer;
  length = 0;

  constructor(capacity: number) {
    this.bytes = Buffer.allocUnsafe(capacity);
  }

  /** Makes room for that many more bytes. */
  reserve(more: number): void {
    if (this.length + more <= this.bytes.length) return;
    const wider = Buffer.allocUnsafe(Math.max(this.length + more, this.bytes.length * 2));
    this.bytes.copy(wider, 0, 0, this.length);
    this.bytes = wider;
  }

  copy(source: Buffer, from: number, to: number): void {
    this.reserve(to - from);
    source.copy(this.bytes, this.length, from, to);
    this.length += to - from;
  }

  text(value: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.reserve(value.length * 3);
    this.length += this.bytes.write(value, this.length, 'utf8');
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  /** What was written so far; valid until the next write. */
  written(): Buffer {
    return this.bytes.subarray(0, this.length);
  }
}
