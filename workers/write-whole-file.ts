import { open, rename, rm, stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { conflict } from '../src/core/lib/errors.ts';

/**
 * Writes a file that has its name once it is whole and on the disk. Nothing of it stays when it fails. Throws `AppError` 409
 * `written_twice` when another process has begun to write a file of this name meanwhile: of two at once, neither takes the
 * other's bytes for its own.
 */
export async function writeWholeFile(file: string, bytes: Readable): Promise<void> {
  const partial = `${file}.partial`;
  // What a killed process has left.
  await rm(partial, { force: true });
  // A new file of ours: one that another user of the machine put there would be theirs to read.
  const handle = await open(partial, 'wx', 0o600);
  const { ino } = await handle.stat();
  const isOurs = async () => (await stat(partial).catch(() => null))?.ino === ino;
  try {
    await pipeline(bytes, handle.createWriteStream({ flush: true }));
    if (!(await isOurs())) throw writtenTwice(file);
    await rename(partial, file);
  } catch (error) {
    if (await isOurs()) await rm(partial, { force: true });
    throw error;
  }
}

function writtenTwice(file: string) {
  const message = `${file}: another process has begun to write a file of this name, and this one was not kept. Repeat it with another name.`;
  return conflict('written_twice', message);
}
