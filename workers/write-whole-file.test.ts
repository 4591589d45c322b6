import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Signal } from '../tests/support/signal.ts';
import { writeWholeFile } from './write-whole-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-whole-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Bytes of which the second half comes when `more` is raised. */
function halves(first: string, second: string) {
  const [begun, more] = [new Signal(), new Signal()];
  const bytes = Readable.from(
    (async function* () {
      yield Buffer.from(first);
      begun.raise();
      await more.raised;
      yield Buffer.from(second);
    })(),
  );
  return { bytes, begun, more };
}

test('of two that are written at once, a file has all bytes of one, and the other is refused', async () => {
  const file = path.join(folder, 'backup');
  const [first, second] = [halves('aa', 'aa'), halves('bb', 'bb')];
  const early = writeWholeFile(file, first.bytes);
  await first.begun.raised;
  const late = writeWholeFile(file, second.bytes);
  await second.begun.raised;
  first.more.raise();
  await expect(early).rejects.toMatchObject({ code: 'written_twice' });
  expect(await readdir(folder)).toEqual(['backup.partial']);
  second.more.raise();
  await late;
  expect(await readdir(folder)).toEqual(['backup']);
  expect(await readFile(file, 'utf8')).toBe('bbbb');
});

test('one that fails leaves the earlier file, and nothing of its own', async () => {
  const file = path.join(folder, 'backup');
  await writeWholeFile(file, Readable.from([Buffer.from('old')]));
  const failing = Readable.from(
    (async function* () {
      yield Buffer.from('new');
      throw new Error('disk full');
    })(),
  );
  await expect(writeWholeFile(file, failing)).rejects.toThrow('disk full');
  expect(await readdir(folder)).toEqual(['backup']);
  expect(await readFile(file, 'utf8')).toBe('old');
});
