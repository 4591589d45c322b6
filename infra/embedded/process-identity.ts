/**
 * Identifies other processes, for which a bare pid is not enough, because the system reuses a pid after its
 * process ended. Reads /proc on Linux, and uses `ps` on other systems.
 */
import { execFile } from 'node:child_process';
import { readFile, readlink, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { must } from '../../src/core/lib/assert.ts';

const run = promisify(execFile);

/**
 * Returns the start of the process as text that is equal for two calls only if they saw the same process of the
 * same boot. Null when no such process lives; a zombie counts as dead.
 */
export async function readProcessStart(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') return await readProcessStartByPs(pid);
  // Field 2 of proc_pid_stat(5) is a name that may contain spaces and brackets, so count the fields after its
  // closing bracket: state (field 3) comes first, the start time (field 22) twentieth.
  const stat = await readTextOrNull(`/proc/${pid}/stat`);
  if (stat === null) return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  const boot = await readTextOrNull('/proc/sys/kernel/random/boot_id');
  return `${must(fields[19], 'start time in /proc/<pid>/stat')} ${boot?.trim() ?? ''}`;
}

/**
 * Returns device and inode of a folder, as text: a copy has different ones, a folder that was renamed or mounted
 * elsewhere the same. After the next boot the device may have another number. Throws when the folder does not exist.
 */
export async function readFolderIdentity(folder: string): Promise<string> {
  const { dev, ino } = await stat(folder, { bigint: true });
  return `${dev}:${ino}`;
}

/** True when a live process with this pid is a PostgreSQL server (or part of one) on this folder. */
export async function servesDataFolder(pid: number, dataFolder: string): Promise<boolean> {
  if ((await readProcessStart(pid)) === null) return false;
  const command = await readCommandLine(pid);
  if (!command.includes('postgres')) return false;
  if (process.platform === 'linux') {
    // Every process of a server runs in its data folder, however the folder was spelled.
    const folder = await readlink(`/proc/${pid}/cwd`).catch(() => null);
    if (folder !== null) return folder === dataFolder;
  }
  return `${command} `.includes(` -D ${dataFolder} `);
}

async function readCommandLine(pid: number): Promise<string> {
  if (process.platform !== 'linux') return await ps(pid, 'command=');
  return (await readTextOrNull(`/proc/${pid}/cmdline`))?.replaceAll('\0', ' ').trim() ?? '';
}

async function readProcessStartByPs(pid: number): Promise<string | null> {
  const answer = await ps(pid, 'stat=,lstart=');
  return answer === '' || answer.startsWith('Z') ? null : answer.replace(/^\S+\s+/, '');
}

/** Returns the output of `ps` about one process, empty when it does not exist. */
async function ps(pid: number, columns: string): Promise<string> {
  const words = ['LC_ALL=C', 'TZ=UTC', 'ps', '-ww', '-o', columns, '-p', String(pid)];
  const answer = await run('env', words).catch((error: { code?: unknown }) => {
    if (error.code === 1) return { stdout: '' };
    throw error;
  });
  return answer.stdout.trim();
}

/** Returns the text of a file under /proc; null when the process has ended, even during the read. */
async function readTextOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}
