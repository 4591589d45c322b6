/** Free space on the disk of a folder. */
import { statfs } from 'node:fs/promises';

/** Below this, Postgres cannot be relied on to write: four segments of its log. */
export const DISK_FULL_BYTES = 64 * 1024 * 1024;

/** Returns the bytes that an ordinary user may still write there. Throws when the folder does not exist. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
