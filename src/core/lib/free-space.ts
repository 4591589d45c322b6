/** Room on the disk of a folder. */
import { statfs } from 'node:fs/promises';

/** With less than this Postgres cannot be relied on to write: four segments of its log. */
export const DISK_FULL_BYTES = 64 * 1024 * 1024;

/** Bytes that an ordinary user may still write there. Throws when there is no such folder. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
