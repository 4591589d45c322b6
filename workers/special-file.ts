import { stat } from 'node:fs/promises';

/**
 * Returns true for a path that exists and is neither a file nor a folder: a device such as `/dev/null`, a pipe, a terminal. It is
 * written to, never replaced: renamed to `/dev/null`, a file would take the place of the device for the whole machine.
 */
export async function isSpecialFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && !found.isFile() && !found.isDirectory();
}
