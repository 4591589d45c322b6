/**
 * A file next to the database that reserves space for the moment when the disk is full. Postgres ends when it
 * cannot write its log, and needs space to recover what was committed. Deleting the ballast gives it that space,
 * so that the service runs again for long enough to delete old files.
 */
import { randomBytes } from 'node:crypto';
import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { readFreeBytes } from '../../src/core/lib/free-space.ts';
import { readCredentials } from './postgres-credentials.ts';

const blockBytes = 1024 * 1024;
const ballastBlocks = 64;
/** Minimum free room to create the ballast: it must not be the file that fills the disk. */
const roomBytesMin = 4 * ballastBlocks * blockBytes;

/** Creates the ballast when it is missing and there is room; returns whether it exists. Never throws. */
export async function ensureBallast(dataDir: string): Promise<boolean> {
  const file = await ballastFile(dataDir);
  try {
    const size = await stat(file).then(
      (found) => found.size,
      () => null,
    );
    if (size === ballastBlocks * blockBytes) return true;
    // Half-written by a start that was killed.
    if (size !== null) await rm(file);
    if ((await readFreeBytes(path.dirname(file))) < roomBytesMin) return false;
    await using handle = await open(file, 'w', 0o600);
    // Random, because some file systems store zeros or repeated blocks without using space.
    for (let block = 0; block < ballastBlocks; block++) {
      await handle.writeFile(randomBytes(blockBytes));
    }
    return true;
  } catch {
    await rm(file, { force: true }).catch(() => {});
    return false;
  }
}

/** Deletes the ballast; returns whether it existed. */
export async function releaseBallast(dataDir: string): Promise<boolean> {
  const file = await ballastFile(dataDir);
  return await rm(file).then(
    () => true,
    () => false,
  );
}

/** Next to the cluster, because the space is needed on that disk. */
async function ballastFile(dataDir: string): Promise<string> {
  const stored = await readCredentials(dataDir).catch(() => null);
  return `${stored?.dataFolder ?? path.join(dataDir, 'postgres')}.ballast`;
}
