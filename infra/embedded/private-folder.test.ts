import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeDataFolder } from './private-folder.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'private-folder-'));
});
afterAll(() => rm(root, { recursive: true }));

describe('a data folder', () => {
  it('is made once, with those that lead to it, by many processes at once', async () => {
    const folder = path.join(root, 'a', 'b', 'c');
    await Promise.all(Array.from({ length: 20 }, () => makeDataFolder(folder)));
    expect((await stat(folder)).mode & 0o777).toBe(0o700);
    await makeDataFolder(folder);
  });

  it('is refused in place of a file, and below one', async () => {
    const file = path.join(root, 'file');
    await writeFile(file, '');
    await expect(makeDataFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeDataFolder(path.join(file, 'below'))).rejects.toMatchObject({
      code: 'ENOTDIR',
    });
  });

  // A recursive `mkdir` of Node never ends there.
  it.runIf(process.platform === 'linux').each(['/proc/nope', '/proc/nope/deeper'])(
    'is refused where the system makes no folders (%s)',
    async (folder) => {
      await expect(makeDataFolder(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    },
  );
});
