/**
 * The data folder that a restore fills: a new one, which has a mark from the first file on until the restore is done. A part
 * of a backup is never served, however the restore ended: every other start on a folder with the mark is refused.
 */
import { access, constants, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { AppError, conflict } from '../../src/core/lib/errors.ts';

const MARK = 'restore-unfinished';
const MARK_TEXT =
  'A restore began to fill this folder. While this file is here, the folder is incomplete: delete the folder.\n';
/** The lock and its replacement, which every start leaves. */
const LOCK = /^postgres\.lock/;
const { R_OK, W_OK, X_OK } = constants;

/**
 * Checks that a restore can fill the folder, and changes nothing. Throws `AppError` when it has files, is no folder, or
 * cannot be written or created.
 */
export async function assertNewFolder(dataDir: string): Promise<void> {
  const there = await assertWritable(dataDir);
  if (there === dataDir) await refuseFilled(dataDir);
}

/** Checks that files can be written to a folder, which may not exist yet. Returns what exists of its path. */
export async function assertWritable(folder: string): Promise<string> {
  const there = await findExisting(folder);
  if (!(await stat(there)).isDirectory()) throw unusable(folder, `${there} is not a folder`);
  const rights = there === folder ? R_OK | W_OK | X_OK : W_OK | X_OK;
  await access(there, rights).catch(({ code }: NodeJS.ErrnoException) => {
    throw unusable(folder, `this user may not write to ${there} (${code})`);
  });
  return there;
}

/** Marks a folder that this process has locked. Throws as `assertNewFolder` for one with files. */
export async function beginRestore(dataDir: string): Promise<void> {
  await refuseFilled(dataDir);
  await writeFile(path.join(dataDir, MARK), MARK_TEXT, { mode: 0o600, flush: true });
}

/** Removes the mark of a restore that is done. */
export async function endRestore(dataDir: string): Promise<void> {
  await rm(path.join(dataDir, MARK));
}

/** Throws `AppError` 409 `restore_unfinished` for a folder whose restore did not end; one that does not exist passes. */
export async function refuseUnfinished(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.includes(MARK)) throw unfinished(dataDir);
}

async function refuseFilled(dataDir: string): Promise<void> {
  const names = (await readdir(dataDir)).filter((name) => !LOCK.test(name));
  if (names.includes(MARK)) throw unfinished(dataDir);
  if (names.length === 0) return;
  throw conflict(
    'not_empty',
    `The data folder ${dataDir} is not empty. Name a new folder with --data-dir. Nothing was restored.`,
  );
}

/** The folder, or the nearest one above it that exists. */
async function findExisting(folder: string): Promise<string> {
  try {
    await stat(folder);
    return folder;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(code ?? '')) throw error;
    return findExisting(path.dirname(folder));
  }
}

function unfinished(dataDir: string): AppError {
  return conflict(
    'restore_unfinished',
    `A restore into the data folder ${dataDir} has not finished. Unless it is still running, delete the folder and restore again.`,
  );
}

function unusable(folder: string, why: string): AppError {
  const message = `The folder ${folder} cannot be used: ${why}. Name another one with --data-dir. Nothing was restored.`;
  return new AppError({ code: 'unusable_folder', status: 400, message });
}
