/** The table of identifiers that is too large for memory is read from its file, a page at a time. */
import { expect, test } from 'vitest';
import { hashValue } from './hash-value.ts';
import { addEntry, fileTable, heldTable, PageSums, slotsFor } from './identifier-table.ts';

const VALUES = 500;
const seed = 7;
const values = Array.from({ length: 2 * VALUES }, (_, index) => `p${index}@list.example`);

function hashOf(value: string) {
  const hash = { place: 0, fingerprint: 0 };
  hashValue(value, seed, hash);
  return hash;
}

const table = new Uint32Array(slotsFor(VALUES) * 2);
for (const [index, value] of values.slice(0, VALUES).entries()) {
  addEntry(table, hashOf(value), index + 1);
}
const slots = table.length / 2;
const sums = new PageSums(slots);
// In pieces that are no pages.
for (let from = 0; from < table.byteLength; from += 1000) {
  sums.add(Buffer.from(table.buffer, from, Math.min(1000, table.byteLength - from)));
}

/** The table in a file that has these bytes by now. */
const inFile = (bytes: Buffer) =>
  fileTable(
    (to, position) => {
      if (bytes.subarray(position).copy(to) < to.length) throw new Error('cut');
    },
    slots,
    sums,
    () => new Error('damaged'),
  );
const cutAt = (bytes: number) => inFile(Buffer.from(table.buffer, 0, bytes));

function found(one: ReturnType<typeof heldTable>, value: string): number[] {
  const blocks = new Uint32Array(100);
  return Array.from(blocks.subarray(0, one.find(hashOf(value), blocks)));
}

test('finds what the same table in memory finds', () => {
  const [file, held] = [cutAt(table.byteLength), heldTable(table)];
  for (const [index, value] of values.entries()) {
    expect(found(file, value)).toEqual(found(held, value));
    if (index < VALUES) expect(found(file, value)).toContain(index + 1);
  }
});

test('says when the file became shorter, instead of finding no one', () => {
  const file = cutAt(table.byteLength / 2);
  const refused = values.filter((value) => {
    try {
      return found(file, value).length < found(heldTable(table), value).length;
    } catch {
      return false;
    }
  });
  expect(refused).toEqual([]);
  const last = values.find((value) => hashOf(value).place > 2 ** 32 * 0.9) ?? '';
  expect(() => found(file, last)).toThrow('cut');
});

test.each([0, 0.3, 0.6, 0.999])(
  'says that bit %d of the file has changed, instead of finding others',
  (share) => {
    const bytes = Buffer.from(new Uint8Array(table.buffer));
    const at = Math.floor(share * bytes.length);
    bytes[at] = (bytes[at] ?? 0) ^ 4;
    const file = inFile(bytes);
    const wrong = values.filter((value) => {
      try {
        return `${found(file, value)}` !== `${found(heldTable(table), value)}`;
      } catch {
        return false;
      }
    });
    expect(wrong).toEqual([]);
    const place = (value: string) => (hashOf(value).place / 2 ** 32) * table.byteLength;
    const near = values.find((value) => Math.abs(place(value) - at) < 64) ?? '';
    expect(() => found(file, near)).toThrow('damaged');
  },
);
