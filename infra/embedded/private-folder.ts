/** Closes the data folder to other users of the machine: it contains customers' lists and results. */
import { chmod, mkdir, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

const GROUP_AND_OTHERS = 0o077;

/**
 * Makes the data folder, and those that lead to it, unless they exist. A recursive `mkdir` of Node never ends where the system
 * makes no folders, as below `/proc`.
 */
export async function makeDataFolder(dataDir: string): Promise<void> {
  try {
    await mkdir(dataDir, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(dataDir)).isDirectory()) return;
    const parent = path.dirname(dataDir);
    if (code !== 'ENOENT' || (await stat(parent).catch(() => null)) !== null) throw error;
    await makeDataFolder(parent);
    await makeDataFolder(dataDir);
  }
}

/**
 * From this call on, files that the process writes are private to its owner. Closes an existing folder to other
 * users: itself, and files in it that others may read. A folder of another owner is not changed,
 * and is logged. Any number of processes may call this concurrently and be interrupted.
 */
export async function closeDataFolder(
  dataDir: string,
  log: (line: string) => void = () => {},
): Promise<void> {
  process.umask(GROUP_AND_OTHERS);
  try {
    const folder = await stat(dataDir);
    await close(dataDir, folder.mode, (await isEnteredByOther(dataDir)) ? 0o711 : 0o700);
    for (const entry of await readdir(dataDir, { withFileTypes: true })) {
      const file = path.join(dataDir, entry.name);
      // The server manages the modes of its own files.
      if (entry.isFile()) await close(file, (await stat(file)).mode, 0o600);
      else if (!entry.name.startsWith('postgres')) await closeTree(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EPERM') log(`The modes of ${dataDir} stay as they are: ${error}`);
    else if (code !== 'ENOENT') throw error;
  }
}

/** Without user namespaces for root, another user's server has to traverse the folder to its files. */
async function isEnteredByOther(dataDir: string): Promise<boolean> {
  const cluster = await stat(path.join(dataDir, 'postgres')).catch(() => null);
  return process.geteuid?.() === 0 && cluster !== null && cluster.uid !== 0;
}

/** Closes the content of the folder, then the folder: a closed folder needs no second walk. */
async function closeTree(folder: string): Promise<void> {
  const info = await stat(folder);
  if (!info.isDirectory() || (info.mode & GROUP_AND_OTHERS) === 0) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    // A file may be deleted or renamed meanwhile; new ones are private already.
    if (entry.isDirectory()) await closeTree(file).catch(ignoreMissing);
    else if (entry.isFile()) await chmod(file, 0o600).catch(ignoreMissing);
  }
  await chmod(folder, 0o700);
}

async function close(file: string, mode: number, wanted: number): Promise<void> {
  if ((mode & 0o777) !== wanted) await chmod(file, wanted).catch(ignoreMissing);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
