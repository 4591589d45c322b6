/** The first page of the console takes little memory, whoever asks for it. */
import { expect, test, vi } from 'vitest';
import { buildIfStale } from '../../../tests/e2e/compiled-code.ts';
import { readConsoleAssets } from './console-assets.ts';

const compressions = vi.hoisted(() => ({ open: 0, most: 0, failing: false }));

vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>();
  type Done = (error: Error | null, bytes: Buffer) => void;
  const counted =
    (compress: (bytes: Buffer, options: object, done: Done) => void) =>
    (bytes: Buffer, options: object, done: Done) => {
      if (compressions.failing) return done(new Error('too many open files'), Buffer.alloc(0));
      compressions.open++;
      compressions.most = Math.max(compressions.most, compressions.open);
      compress(bytes, options, (error, compressed) => {
        compressions.open--;
        done(error, compressed);
      });
    };
  return { ...zlib, gzip: counted(zlib.gzip), brotliCompress: counted(zlib.brotliCompress) };
});

test('files that could not be read for one caller are read for the next one', async () => {
  await buildIfStale();
  compressions.failing = true;
  await expect(readConsoleAssets()).rejects.toThrow('too many open files');
  compressions.failing = false;
  expect((await readConsoleAssets()).files.size).toBeGreaterThan(50);
});

test('its files are compressed one after the other, each in two encodings', async () => {
  await buildIfStale();
  const { files } = await readConsoleAssets();
  expect(files.size).toBeGreaterThan(50);
  expect(compressions.most).toBe(2);
});
