/** Free space on the disk of a folder. */
import { statfs } from 'node:fs/promises';

/** Below this, Postgres cannot be relied on to write: four segments of its log. */
export const DISK_FULL_BYTES = 64 * 1024 * 1024;

/** Of Node and of Postgres (disk_full). */
const spaceCodes = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** Returns the bytes that an ordinary user may still write there. Throws when the folder does not exist. */
export async function readFreeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Returns true for an error of the embedded server, or of its files in `folder`, that a full disk causes. */
export async function isForWantOfSpace(error: unknown, folder: string): Promise<boolean> {
  const { code, message } = error as { code?: string; message?: string };
  if (code !== undefined && spaceCodes.has(code)) return true;
  if (code !== 'embedded_postgres_failed') return false;
  if (/No space left on device|Disk quota exceeded/.test(message ?? '')) return true;
  return (await readFreeBytes(folder)) < DISK_FULL_BYTES;
}
