/** Uploads are split into parts that use the memory of one. */
import { expect, test } from 'vitest';
import { inParts, PART_BYTES } from './s3-upload.ts';

async function* blocksOf(bytes: number, blockBytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += blockBytes) {
    yield Buffer.alloc(Math.min(blockBytes, bytes - at), (at / blockBytes) % 251);
  }
}

test.each([
  [0, [0]],
  [1000, [1000]],
  [PART_BYTES, [PART_BYTES]],
  [PART_BYTES + 1, [PART_BYTES, 1]],
  [4 * PART_BYTES, Array(4).fill(PART_BYTES)],
])('%i bytes are in parts of %j bytes, in order', async (bytes, lengths) => {
  const found: number[] = [];
  const last: boolean[] = [];
  let at = 0;
  for await (const part of inParts(blocksOf(bytes, 1000))) {
    found.push(part.bytes.length);
    last.push(part.isLast);
    const first = Math.floor(at / 1000) % 251;
    if (part.bytes.length > 0) expect(part.bytes[0]).toBe(first);
    at += part.bytes.length;
  }
  expect(found).toEqual(lengths);
  expect(last).toEqual(lengths.map((_, place) => place === lengths.length - 1));
});

test('all parts are in the same memory', async () => {
  const memory = new Set<ArrayBufferLike>();
  for await (const { bytes } of inParts(blocksOf(6 * PART_BYTES, 100_000)))
    memory.add(bytes.buffer);
  expect(memory.size).toBe(1);
});
