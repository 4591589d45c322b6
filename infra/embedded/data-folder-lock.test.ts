import { appendFile, cp, mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockDataFolder } from './data-folder-lock.ts';
import { readFolderIdentity, readProcessStart } from './process-identity.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'data-folder-lock-'));
  file = path.join(folder, 'postgres.lock');
});
afterEach(() => rm(folder, { recursive: true }));

it('is granted to just one of many concurrent requests, and again after its release', async () => {
  const asked = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataFolder(folder)));
  const given = asked.filter((result) => result.status === 'fulfilled');
  expect(given).toHaveLength(1);
  await given[0]?.value.release();
  await (await lockDataFolder(folder)).release();
});

it('waits briefly for a holder that is ending', async () => {
  const first = await lockDataFolder(folder);
  const second = lockDataFolder(folder);
  await first.release();
  await (await second).release();
});

it('names the process that holds the lock', async () => {
  const start = await readProcessStart(process.ppid);
  const identity = await readFolderIdentity(folder);
  await appendFile(
    file,
    `${JSON.stringify({ claim: 'a', pid: process.ppid, start, folder: identity })}\n`,
  );
  await expect(lockDataFolder(folder)).rejects.toMatchObject({
    code: 'data_folder_in_use',
    extensions: { pid: process.ppid },
  });
});

it.each([
  ['a pid that another program has by now', { claim: 'a', pid: process.ppid, start: 'long ago' }],
  ['a process that is gone', { claim: 'a', pid: 2 ** 22 + 1, start: 'long ago' }],
])('is not held by a claim of %s', async (_what, claim) => {
  const identity = await readFolderIdentity(folder);
  await appendFile(file, `${JSON.stringify({ ...claim, folder: identity })}\n`);
  await (await lockDataFolder(folder)).release();
});

it('is not held by a process that is gone when the device of the folder has another number', async () => {
  const inode = (await readFolderIdentity(folder)).split(':')[1];
  const claim = { claim: 'a', pid: 2 ** 22 + 1, start: 'long ago', folder: `1:${inode}` };
  await appendFile(file, `${JSON.stringify(claim)}\n`);
  await (await lockDataFolder(folder)).release();
});

describe('in a copy of the folder', () => {
  let copy: string;
  beforeEach(async () => {
    copy = path.join(folder, 'copy');
    await mkdir(copy);
  });

  it('is refused while the process that used the original lives, and granted afterwards', async () => {
    const lock = await lockDataFolder(folder);
    await cp(file, path.join(copy, 'postgres.lock'));
    await expect(lockDataFolder(copy)).rejects.toMatchObject({
      code: 'data_folder_copied',
      message: expect.stringContaining(`delete ${copy}/postgres.lock`),
      extensions: { pid: process.pid },
    });
    await lock.release();
    await cp(file, path.join(copy, 'postgres.lock'));
    await (await lockDataFolder(copy)).release();
  });

  it('is refused also when the process that used the original is gone, as on another machine', async () => {
    const claim = { claim: 'a', pid: 2 ** 22 + 1, start: 'long ago' };
    const identity = await readFolderIdentity(folder);
    await appendFile(file, `${JSON.stringify({ ...claim, folder: identity })}\n`);
    await cp(file, path.join(copy, 'postgres.lock'));
    await expect(lockDataFolder(copy)).rejects.toMatchObject({ code: 'data_folder_copied' });
    // A second start is refused too: the first has released its own claim alone.
    await expect(lockDataFolder(copy)).rejects.toMatchObject({ code: 'data_folder_copied' });
    // After a start and an orderly stop of the original, its copy is whole.
    await (await lockDataFolder(folder)).release();
    await cp(file, path.join(copy, 'postgres.lock'));
    await (await lockDataFolder(copy)).release();
  });

  it('is granted when a snapshot came without its lock', async () => {
    const lock = await lockDataFolder(folder);
    await (await lockDataFolder(copy)).release();
    await lock.release();
  });
});

it('stays held in a folder that was renamed', async () => {
  await lockDataFolder(folder);
  await rename(folder, `${folder}-moved`);
  folder = `${folder}-moved`;
  await expect(lockDataFolder(folder)).rejects.toMatchObject({ code: 'data_folder_in_use' });
});

it('survives a line that a crash left half-written', async () => {
  await appendFile(file, '{"claim":"a","pi');
  const lock = await lockDataFolder(folder);
  await expect(lockDataFolder(folder)).rejects.toMatchObject({ code: 'data_folder_in_use' });
  await lock.release();
});

it('keeps its file short and private, and stays held meanwhile', async () => {
  await appendFile(file, '{"release":"nobody"}\n'.repeat(10_000));
  const lock = await lockDataFolder(folder);
  expect((await readFile(file, 'utf8')).length).toBeLessThan(1_000);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await expect(lockDataFolder(folder)).rejects.toMatchObject({ code: 'data_folder_in_use' });
  await lock.release();
  await (await lockDataFolder(folder)).release();
});
