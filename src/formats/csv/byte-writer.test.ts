import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteWriter } from './byte-writer.ts';

test('any texts and bytes are read back unchanged, whatever the buffer contained before', () => {
  const piece = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const writer = new ByteWriter(1);
      for (const one of pieces) {
        if (typeof one === 'string') writer.text(one);
        else writer.copy(one, 0, one.length);
      }
      expect(writer.written()).toEqual(Buffer.concat(pieces.map((one) => Buffer.from(one))));
      writer.release();
    }),
  );
});

test('a released buffer is reused, one in use is not', () => {
  const first = new ByteWriter(100);
  first.text('first');
  const second = new ByteWriter(100);
  expect(second.bytes === first.bytes).toBe(false);
  first.release();
  // The pool of this process may hold buffers of others.
  const next = Array.from({ length: 20 }, () => new ByteWriter(50).bytes);
  expect(next.includes(first.bytes)).toBe(true);
  expect(next.includes(second.bytes)).toBe(false);
});
