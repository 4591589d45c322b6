/** Fetches the published copy into the folder of this machine, where it counts as one that was built. */
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { type AppError, conflict } from '../lib/errors.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { isObjectMissing, objectsDamaged } from '../storage/object-sum.ts';
import { beginFetch } from './copy.sql.ts';
import { makeLayerFolder, replaceCopy } from './copy-folder.ts';
import { copyBytes, filesOf, type Manifest, parseManifest, UnusableCopy } from './manifest.ts';
import { deletePublished, type PublishedCopy, readPieces } from './published.sql.ts';
import {
  type Piece,
  PUBLISHED_PREFIX,
  type PublishedContext,
  piecesOf,
  sha256In,
  sha256Of,
} from './published-objects.ts';
import { assertRoom, type WriteOptions } from './write-records.ts';

export type FetchOptions = { folder: string } & Pick<WriteOptions, 'signal' | 'freeBytes'>;

/**
 * Fetches a published copy into a folder that has none. Returns its manifest. It has people who withdrew since: a reader
 * overwrites them before it answers. Throws as `buildCopy`, 409 `copy_is_built` also when the published copy was replaced
 * meanwhile; `UnusableCopy` when it has another form, or an object that is missing or damaged: then it ends, and one is published
 * again. A fetch that fails leaves no files.
 */
export async function fetchCopy(
  context: PublishedContext,
  published: PublishedCopy,
  { folder, signal, freeBytes }: FetchOptions,
): Promise<Manifest> {
  const { sql } = context;
  const manifest = parseManifest(published.manifest);
  const objects = await readPieces(sql, published.id);
  if (objects === null) throw replaced();
  const write = async (_tx: unknown, _files: string, name: string) => {
    const layer = manifest.delta === null ? null : await makeLayerFolder(folder);
    const own = {
      ...manifest,
      folder: name,
      delta: manifest.delta && { ...manifest.delta, folder: layer ?? '' },
    };
    await assertRoom(folder, freeBytes, copyBytes(own));
    let next = 0;
    for (const one of filesOf(own)) {
      await writeFile(path.join(folder, one.file), async (append) => {
        for (const piece of piecesOf([one])) {
          signal?.throwIfAborted();
          await assertRoom(folder, freeBytes);
          await append(await readPiece(context.store, objects[next++] ?? '', piece));
        }
      });
    }
    return own;
  };
  try {
    return await replaceCopy(sql, { folder, replaces: null }, write, beginFetch);
  } catch (error) {
    if (!(error instanceof BrokenObject)) throw error;
    if (!(await deletePublished(sql, published.id))) throw replaced();
    objectsDamaged.inc({ found: error.found });
    throw new UnusableCopy(error.message);
  }
}

/** Writes a new file, and waits until it is on the disk. */
async function writeFile(
  file: string,
  write: (append: (bytes: Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  const handle: FileHandle = await open(file, 'wx', 0o600);
  try {
    await write((bytes) => handle.writeFile(bytes));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Why a fetch ends, unless the published copy was replaced. */
class BrokenObject extends Error {
  override readonly name = 'BrokenObject';
  readonly found: 'damaged' | 'missing';

  constructor(key: string, found: 'damaged' | 'missing') {
    super(`the object ${key} of the published copy is ${found}`);
    this.found = found;
  }
}

/** Reads an object, a second time in case it was damaged in transit. Throws `BrokenObject`. */
async function readPiece(
  store: ObjectStore,
  name: string,
  { bytes: length }: Piece,
): Promise<Buffer> {
  const key = PUBLISHED_PREFIX + name;
  try {
    for (let tries = 0; tries < 2; tries++) {
      // One byte more: an object that has grown is damaged too.
      const bytes = await store.get(key, { from: 0, to: length + 1 });
      if (bytes.length === length && sha256Of(bytes) === sha256In(name)) return bytes;
    }
  } catch (error) {
    throw isObjectMissing(error) ? new BrokenObject(key, 'missing') : error;
  }
  throw new BrokenObject(key, 'damaged');
}

function replaced(): AppError {
  return conflict('copy_is_built', 'The published copy was replaced meanwhile.');
}
