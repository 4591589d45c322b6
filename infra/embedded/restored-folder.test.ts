/** A restore fills only a new folder, and what it did not finish is never served. */
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from './data-folder-lock.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import {
  assertNewFolder,
  assertWritable,
  beginRestore,
  endRestore,
  refuseUnfinished,
} from './restored-folder.ts';

let root: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'restored-folder-'));
  folder = path.join(root, 'new');
});
afterEach(() => rm(root, { recursive: true }));

describe('a restore', () => {
  it('may fill a folder that is absent or empty, and does not make it', async () => {
    await assertNewFolder(path.join(folder, 'deeper'));
    expect(await readdir(root)).toEqual([]);
    await mkdir(folder);
    await assertNewFolder(folder);
    // The lock of a start that came to nothing.
    await (await lockDataFolder(folder)).release();
    await assertNewFolder(folder);
  });

  it('is refused in a folder with files, which it leaves as they are', async () => {
    await mkdir(folder);
    await writeFile(path.join(folder, 'mine'), '');
    const refused = {
      code: 'not_empty',
      message: `The data folder ${folder} is not empty. Name a new folder with --data-dir. Nothing was restored.`,
    };
    await expect(assertNewFolder(folder)).rejects.toMatchObject(refused);
    // Files that came while the backup was read.
    const start = startEmbeddedPostgres({ dataDir: folder, restores: true });
    await expect(start).rejects.toMatchObject(refused);
    expect((await readdir(folder)).sort()).toEqual(['mine', 'postgres.lock']);
  });

  it('is refused in place of a file, and below one', async () => {
    await writeFile(folder, '');
    const refused = {
      code: 'unusable_folder',
      message: expect.stringContaining(`${folder} is not a folder`),
    };
    await expect(assertNewFolder(folder)).rejects.toMatchObject(refused);
    await expect(assertNewFolder(path.join(folder, 'below'))).rejects.toMatchObject(refused);
  });

  // Root may write everywhere.
  it.skipIf(process.geteuid?.() === 0)('is refused where this user may not write', async () => {
    await mkdir(folder, { mode: 0o500 });
    for (const one of [folder, path.join(folder, 'below')]) {
      await expect(assertWritable(one)).rejects.toMatchObject({
        code: 'unusable_folder',
        message: expect.stringContaining(`may not write to ${folder} (EACCES)`),
      });
    }
    await chmod(folder, 0o700);
  });
});

describe('the folder of a restore that did not finish', () => {
  const refused = {
    code: 'restore_unfinished',
    message: expect.stringContaining(
      'Unless it is still running, delete the folder and restore again.',
    ),
  };

  it('starts no server, and takes no second restore, until it is done', async () => {
    await mkdir(folder);
    await beginRestore(folder);
    for (const restores of [false, true]) {
      const start = startEmbeddedPostgres({ dataDir: folder, restores });
      await expect(start).rejects.toMatchObject(refused);
    }
    await expect(assertNewFolder(folder)).rejects.toMatchObject(refused);
    expect((await readdir(folder)).sort()).toEqual(['postgres.lock', 'restore-unfinished']);
    await endRestore(folder);
    await refuseUnfinished(folder);
    await refuseUnfinished(path.join(folder, 'absent'));
  });
});
