import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { afterEach, expect, test } from 'vitest';
import { SharedStrings } from './shared-strings.ts';

const mebibyte = 1024 * 1024;
let open: SharedStrings | null = null;
afterEach(() => open?.close());

const spillFiles = async () =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('enrich-spill-'));

/** A different string for every number, some of them of the maximum length of a cell. */
function textOf(index: number): string {
  if (index % 5000 === 7) return `${index}${'€'.repeat(32_767 - 6)}`;
  return index % 3 === 0 ? '' : `text ${index} ż`;
}

test('strings beyond the memory limit are read from the file, in any order', async () => {
  const count = 150_000;
  open = new SharedStrings({
    sharedStringBytesMax: 256 * mebibyte,
    sharedStringMemoryBytes: 2 * mebibyte,
  });
  for (let index = 0; index < count; index++) {
    open.add(textOf(index));
    if (index % 100 === 0) await open.spill();
  }
  await open.spill();
  for (let index = 0; index < count; index++) {
    if (open.at(index) !== textOf(index)) expect.fail(`string ${index} comes back changed`);
  }
  // 7,919 is a prime: every number once, each far from the previous one.
  for (let step = 0, index = 0; step < count; step++, index = (index + 7919) % count) {
    if (open.at(index) !== textOf(index)) expect.fail(`string ${index} comes back changed`);
  }
  expect([open.at(-1), open.at(count), open.at(0.5)]).toEqual([null, null, null]);
});

test('the file has no name, so that a killed process leaves nothing', async () => {
  const before = await spillFiles();
  open = new SharedStrings({
    sharedStringBytesMax: 256 * mebibyte,
    sharedStringMemoryBytes: 2 * mebibyte,
  });
  for (let index = 0; index < 500; index++) open.add('x'.repeat(32_767));
  await open.spill();
  expect(open.at(499)).toHaveLength(32_767);
  expect(await spillFiles()).toEqual(before);
});
