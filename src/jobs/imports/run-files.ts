/**
 * The files of a run on the disk of the worker that has claimed it: adapters read them more than once, and zips from their end.
 */
import { createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { streamObject } from '../../core/storage/object-sum.ts';
import type { ImportRun } from './import-run.ts';

const FOLDER_PREFIX = 'enrich-import-';
/** No run takes so long: what is older was left by a worker that died. */
const LEFT_MS_MIN = 24 * 60 * 60 * 1000;

/**
 * Runs work with the paths of the files, each under its own name, which adapters recognise and which may hold the day.
 * Deletes them afterwards. Throws as `streamObject`, before the work, for a file that is not as it was received.
 */
export async function withFiles<T>(
  store: Pick<ObjectStore, 'getStream'>,
  run: Pick<ImportRun, 'id' | 'files'>,
  signal: AbortSignal,
  work: (paths: string[]) => Promise<T>,
): Promise<T> {
  const ofRun = `${FOLDER_PREFIX}${run.id}-`;
  // What a worker of this machine that died, or lost its claim, has left.
  for (const { folder } of await listOwnFolders(tmpdir(), ofRun)) await deleteFolder(folder);
  // Its name cannot be foreseen: another user of the machine may make a folder of any name here, and read what is written there.
  const ofClaim = await mkdtemp(path.join(tmpdir(), ofRun));
  try {
    const paths: string[] = [];
    for (const [place, { name, key, bytes, crc32 }] of run.files.entries()) {
      const folder = path.join(ofClaim, String(place));
      await mkdir(folder, { mode: 0o700 });
      const file = path.join(folder, name);
      const blocks =
        crc32 === undefined ? store.getStream(key) : streamObject(store, key, { bytes, crc32 });
      await pipeline(blocks, createWriteStream(file, { mode: 0o600 }), { signal });
      paths.push(file);
    }
    return await work(paths);
  } finally {
    await deleteFolder(ofClaim);
  }
}

/** Deletes what workers of this machine that died have left, when it is a day old. */
export async function deleteLeftFiles(folder = tmpdir(), now = Date.now()): Promise<void> {
  for (const left of await listOwnFolders(folder, FOLDER_PREFIX)) {
    if (now - left.mtimeMs > LEFT_MS_MIN) await deleteFolder(left.folder);
  }
}

const deleteFolder = (folder: string) => rm(folder, { recursive: true, force: true });

/** The folders whose names begin so and which belong to this user: others are theirs to delete. */
async function listOwnFolders(
  parent: string,
  prefix: string,
): Promise<{ folder: string; mtimeMs: number }[]> {
  const own: { folder: string; mtimeMs: number }[] = [];
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue;
    const folder = path.join(parent, name);
    const found = await lstat(folder).catch(() => null);
    if (found?.isDirectory() && found.uid === (process.getuid?.() ?? found.uid)) {
      own.push({ folder, mtimeMs: found.mtimeMs });
    }
  }
  return own;
}
