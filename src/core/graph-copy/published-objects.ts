/**
 * The objects of published copies: `graph-copies/<id of the copy that was written>/<SHA-256 of the bytes>`. Files are cut into
 * pieces, so that the next published copy writes those alone that differ. The checksums in the manifest stay the same
 * when people are overwritten.
 */
import { createHash } from 'node:crypto';
import type { Database } from '../db/client.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { filesOf } from './manifest.ts';
import { deleteAllPublished, readNamed } from './published.sql.ts';

/** The folder of all published copies. */
export const PUBLISHED_PREFIX = 'graph-copies/';
/** A part of the form of published copies: raise `FORMAT` with it. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Keys of other forms are of other programs. */
const OBJECT_KEY = /^graph-copies\/([0-9a-f-]{36})\/[0-9a-f]{64}$/;

export interface PublishedContext {
  sql: Database;
  store: ObjectStore;
}

/** A piece of a file: the last one is shorter than the others. */
export interface Piece {
  /** Path in the folder of the copy. */
  file: string;
  from: number;
  bytes: number;
}

/** Yields the pieces of files, in order. An empty file has none. */
export function* piecesOf(files: ReturnType<typeof filesOf>): Generator<Piece> {
  for (const { file, bytes } of files) {
    for (let from = 0; from < bytes; from += PIECE_BYTES) {
      yield { file, from, bytes: Math.min(PIECE_BYTES, bytes - from) };
    }
  }
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Returns the name of an object in `PUBLISHED_PREFIX`. */
export function pieceName(id: string, sha256: string): string {
  return `${id}/${sha256}`;
}

/** Returns the checksum in the name of an object. */
export function sha256In(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}

/**
 * Ends all published copies, or those that may have people who withdrew up to the state `before`, and deletes their objects. A
 * worker that writes one notices before its next piece.
 */
export async function withdrawPublished(context: PublishedContext, before?: number): Promise<void> {
  await deleteAllPublished(context.sql, before);
  await deleteUnnamedObjects(context);
}

/**
 * Deletes the objects of published copies that have ended, of killed workers and of other histories of the database. A copy's
 * row comes before its first object, and no id comes again: what is listed before it is looked for in vain counts for nothing.
 */
export async function deleteUnnamedObjects({ sql, store }: PublishedContext): Promise<void> {
  const listed = new Map<string, string[]>();
  for await (const key of store.list(PUBLISHED_PREFIX)) {
    const [, folder] = OBJECT_KEY.exec(key) ?? [];
    if (folder === undefined) continue;
    const names = listed.get(folder) ?? [];
    listed.set(folder, names);
    names.push(key.slice(PUBLISHED_PREFIX.length));
  }
  if (listed.size === 0) return;
  const { pieces, written } = await readNamed(sql);
  const named = new Set(pieces);
  for (const [folder, names] of listed) {
    if (written.includes(folder)) continue;
    const unnamed = names.filter((name) => !named.has(name));
    if (unnamed.length === names.length) await store.deletePrefix(`${PUBLISHED_PREFIX}${folder}/`);
    else for (const name of unnamed) await store.delete(PUBLISHED_PREFIX + name);
  }
}
