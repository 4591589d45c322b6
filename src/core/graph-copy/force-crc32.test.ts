import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forceCrc32 } from './force-crc32.ts';

test('bytes get any checksum by their last four, and the others stay', () => {
  const property = fc.property(
    fc.uint8Array({ maxLength: 300 }),
    fc.nat(2 ** 32 - 1),
    (text, sum) => {
      const bytes = Buffer.concat([text, Buffer.alloc(4, 0xff)]);
      forceCrc32(bytes, sum);
      expect(crc32(bytes)).toBe(sum);
      expect(bytes.subarray(0, -4).equals(text)).toBe(true);
    },
  );
  fc.assert(property, { numRuns: 2000 });
});
