/** The folder of a local copy: who may change it, and what belongs in it. */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { conflict } from '../lib/errors.ts';
import { beginBuild, lockBuild } from './copy.sql.ts';
import {
  encodeManifest,
  foldersNamed,
  type Manifest,
  manifestFile,
  readManifestText,
} from './manifest.ts';

export interface Replacing {
  /** Folder of the copy: see `copyFolder`. */
  folder: string;
  /** Text of the manifest that is replaced, null for none. When another one is there by now, nothing is written. */
  replaces?: string | null;
}

/**
 * Runs `write` in a transaction, with a new folder for files. The manifest that it returns takes the place of the present one,
 * and files that it does not name are deleted. One process of a folder at a time: throws `AppError` 409 `copy_is_built` while
 * another one writes, or when the present copy is not the one that `replaces` names. When `write` fails, the present copy stays.
 * The transaction is one snapshot of the graph, unless `begin` makes it another one.
 */
export async function replaceCopy(
  sql: Database,
  { folder, replaces }: Replacing,
  write: (tx: Sql, files: string, name: string) => Promise<Manifest>,
  begin: (tx: Sql) => Promise<void> = beginBuild,
): Promise<Manifest> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return inTransaction(sql, async (tx) => {
    await begin(tx);
    if (!(await lockBuild(tx, await placeOf(folder)))) {
      throw conflict(
        'copy_is_built',
        'Another process is building this copy. Wait until it has ended.',
      );
    }
    if (replaces !== undefined && (await readManifestText(folder)) !== replaces) {
      throw conflict('copy_is_built', 'Another process has built this copy meanwhile.');
    }
    const name = await makeLayerFolder(folder);
    try {
      const manifest = await write(tx, path.join(folder, name), name);
      const text = encodeManifest(manifest);
      await publish(folder, text);
      await deleteOthers(folder, text);
      return manifest;
    } catch (error) {
      await deleteOthers(folder, await readManifestText(folder));
      throw error;
    }
  });
}

/** Makes a folder for the files of a layer; returns its name. */
export async function makeLayerFolder(folder: string): Promise<string> {
  const name = `build-${randomUUID()}`;
  await mkdir(path.join(folder, name), { mode: 0o700 });
  return name;
}

/** Deletes what killed processes left in a folder of copies, unless one writes to it. */
export async function deleteHalfBuilds(sql: Database, folder: string): Promise<void> {
  // A process that begins meanwhile finds the lock taken: it is seldom held in vain.
  if ((await listOthers(folder, await readManifestText(folder))).length === 0) return;
  await inTransaction(sql, async (tx) => {
    if (!(await lockBuild(tx, await placeOf(folder)))) return;
    await deleteOthers(folder, await readManifestText(folder));
  });
}

/** Names a folder: processes of one place exclude each other, also in containers that share it. */
export async function placeOf(folder: string): Promise<string> {
  const { ino, birthtimeMs } = await stat(folder);
  return `${ino} ${birthtimeMs}`;
}

/** Makes the written files the copy, at one moment: the manifest names them. */
async function publish(folder: string, text: string): Promise<void> {
  const file = manifestFile(folder);
  await writeFile(`${file}.part`, text, { mode: 0o600, flush: true });
  await rename(`${file}.part`, file);
}

/** Deletes what a manifest does not name. Processes that read it keep their open files. */
async function deleteOthers(folder: string, text: string | null): Promise<void> {
  for (const other of await listOthers(folder, text)) {
    await rm(path.join(folder, other), { recursive: true, force: true });
  }
}

/** Lists what is in the folder besides a manifest and the files that it names. */
async function listOthers(folder: string, text: string | null): Promise<string[]> {
  const all = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const named = [path.basename(manifestFile(folder)), ...foldersNamed(text ?? '')];
  return all.filter((other) => !named.includes(other));
}
