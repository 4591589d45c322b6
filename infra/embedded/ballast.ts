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

const BLOCK_BYTES = 1024 * 1024;
const BALLAST_BLOCKS = 64;
/** Minimum free room to create the ballast: it must not be the file that fills the disk. */
const ROOM_BYTES_MIN = 4 * BALLAST_BLOCKS * BLOCK_BYTES;

/** Creates the ballast when it is missing and there is room; returns whether it exists. Never throws. */
export async function ensureBallast(dataDir: string): Promise<boolean> {
  const file = await ballastFile(dataDir);
  try {
    const size = await stat(file).then(
      (found) => found.size,
      () => null,
    );
    if (size === BALLAST_BLOCKS * BLOCK_BYTES) return true;
    // Half-written by a start that was killed.
    if (size !== null) await rm(file);
    if ((await readFreeBytes(path.dirname(file))) < ROOM_BYTES_MIN) return false;
    await using handle = await open(file, 'w', 0o600);
    // Random, because some file systems store zeros or repeated blocks without using space.
    for (let block = 0; block < BALLAST_BLOCKS; block++) {
      await handle.writeFile(randomBytes(BLOCK_BYTES));
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
