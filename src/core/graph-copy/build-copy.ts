/** Builds the local copy of the live graph from one snapshot of the database. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Database, inTransaction } from '../db/client.ts';
import { conflict } from '../lib/errors.ts';
import {
  beginBuild,
  countIdentifiers,
  lockBuild,
  readGraphState,
  readRecordsToCopy,
} from './copy.sql.ts';
import {
  type Entity,
  encodeManifest,
  FORMAT,
  folderNamed,
  type Manifest,
  manifestFile,
  readManifestText,
} from './manifest.ts';
import { type WriteOptions, writeRecords } from './write-records.ts';

const SEEDS = 2 ** 32;

export interface BuildOptions extends WriteOptions {
  /** Folder of the copy: see `copyFolder`. */
  folder: string;
  /** Text of the manifest that is replaced, null for none. When another one is there by now, nothing is built. */
  replaces?: string | null;
}

/**
 * Builds a copy in its folder, which takes the place of an earlier one when it is whole. Returns its manifest. Throws
 * `AppError` 409 `copy_is_built` while another process builds it, or when one has replaced the copy that `replaces`
 * names, 422 `graph_too_large`, 503 `disk_full`. A build that fails leaves the earlier copy as it was.
 */
export async function buildCopy(sql: Database, options: BuildOptions): Promise<Manifest> {
  const { folder, replaces } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return inTransaction(sql, async (tx) => {
    await beginBuild(tx);
    if (!(await lockBuild(tx, await placeOf(folder)))) {
      throw conflict('copy_is_built', 'Another process builds this copy. Wait until it has ended.');
    }
    if (replaces !== undefined && (await readManifestText(folder)) !== replaces) {
      throw conflict('copy_is_built', 'Another process has built this copy meanwhile.');
    }
    const state = await readGraphState(tx);
    const name = `build-${randomUUID()}`;
    const building = path.join(folder, name);
    try {
      await mkdir(building, { mode: 0o700 });
      const seed = randomInt(SEEDS - 1);
      const identifiers = await countIdentifiers(tx);
      const write = (entity: Entity) =>
        writeRecords(readRecordsToCopy(tx, entity), {
          ...options,
          ...{ folder: building, entity, seed, identifiers: identifiers[entity] },
        });
      const manifest: Manifest = {
        format: FORMAT,
        ...state,
        built_at: new Date().toISOString(),
        folder: name,
        seed,
        people: await write('people'),
        companies: await write('companies'),
      };
      await publish(folder, manifest);
      await deleteOthers(folder, name);
      return manifest;
    } catch (error) {
      await rm(building, { recursive: true, force: true });
      throw error;
    }
  });
}

/** Deletes what killed builds left in a folder of copies, unless one runs. */
export async function deleteHalfBuilds(sql: Database, folder: string): Promise<void> {
  // A build that begins meanwhile finds the lock taken: it is seldom held in vain.
  if ((await listOthers(folder, await readName(folder))).length === 0) return;
  await inTransaction(sql, async (tx) => {
    if (!(await lockBuild(tx, await placeOf(folder)))) return;
    await deleteOthers(folder, await readName(folder));
  });
}

/** Returns the folder of files that the manifest names; null without one. */
async function readName(folder: string): Promise<string | null> {
  const text = await readManifestText(folder);
  return text === null ? null : folderNamed(text);
}

/** Names a folder: builds of one place exclude each other, also in containers that share it. */
export async function placeOf(folder: string): Promise<string> {
  const { ino, birthtimeMs } = await stat(folder);
  return `${ino} ${birthtimeMs}`;
}

/** Makes the built files the copy, at one moment: the manifest names them. */
async function publish(folder: string, manifest: Manifest): Promise<void> {
  const file = manifestFile(folder);
  await writeFile(`${file}.part`, encodeManifest(manifest), { mode: 0o600, flush: true });
  await rename(`${file}.part`, file);
}

/** Deletes earlier copies, and what killed builds left. Processes that read one keep their open files. */
async function deleteOthers(folder: string, name: string | null): Promise<void> {
  for (const other of await listOthers(folder, name)) {
    await rm(path.join(folder, other), { recursive: true, force: true });
  }
}

/** Lists what is in the folder besides the manifest and the files that it names. */
async function listOthers(folder: string, name: string | null): Promise<string[]> {
  const manifest = path.basename(manifestFile(folder));
  const all = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  return all.filter((other) => other !== name && other !== manifest);
}
