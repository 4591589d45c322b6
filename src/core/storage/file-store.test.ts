import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe } from 'vitest';
import { openFileStore } from './file-store.ts';
import { testObjectStore } from './object-store.test-suite.ts';

describe('files in a folder', () => {
  testObjectStore(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'enrich-files-'));
    const files = async () => {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
        .sort();
    };
    return {
      store: openFileStore(folder),
      everything: files,
      async bytesTaken() {
        const sizes = await Promise.all(
          (await files()).map(async (file) => (await stat(path.join(folder, file))).size),
        );
        return sizes.reduce((sum, size) => sum + size, 0);
      },
      // The buffer of a file's own writer, and a block on either side of it.
      heldBytesMax: 1024 * 1024,
      close: () => rm(folder, { recursive: true, force: true }),
    };
  });
});
