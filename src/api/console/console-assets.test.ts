/** The first page of the console takes little memory, whoever asks for it. */
import { expect, test, vi } from 'vitest';
import { buildIfStale } from '../../../tests/e2e/compiled-code.ts';
import { readConsoleAssets } from './console-assets.ts';

const compressions = vi.hoisted(() => ({ open: 0, most: 0 }));

vi.mock('node:zlib', async (original) => {
  const zlib = await original<typeof import('node:zlib')>();
  type Done = (error: Error | null, bytes: Buffer) => void;
  const counted =
    (compress: (bytes: Buffer, options: object, done: Done) => void) =>
    (bytes: Buffer, options: object, done: Done) => {
      compressions.open++;
      compressions.most = Math.max(compressions.most, compressions.open);
      compress(bytes, options, (error, compressed) => {
        compressions.open--;
        done(error, compressed);
      });
    };
  return { ...zlib, gzip: counted(zlib.gzip), brotliCompress: counted(zlib.brotliCompress) };
});

test('its files are compressed one after the other, each in two encodings', async () => {
  await buildIfStale();
  const { files } = await readConsoleAssets();
  expect(files.size).toBeGreaterThan(50);
  expect(compressions.most).toBe(2);
});
