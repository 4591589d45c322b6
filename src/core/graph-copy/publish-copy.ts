/** Publishes the local copy: other machines fetch it from the object store instead of reading all of the graph. */
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { type AppError, conflict } from '../lib/errors.ts';
import { lockBuild } from './copy.sql.ts';
import { placeOf } from './copy-folder.ts';
import {
  copyBytes,
  filesOf,
  lastLayer,
  type Manifest,
  parseManifest,
  readManifestText,
  UnusableCopy,
} from './manifest.ts';
import {
  type Claim,
  claimPublishing,
  deletePublished,
  finishPublishing,
  renewPublishing,
} from './published.sql.ts';
import {
  type Piece,
  PUBLISHED_PREFIX,
  type PublishedContext,
  pieceName,
  piecesOf,
  sha256In,
  sha256Of,
} from './published-objects.ts';

const LOCK_PAUSE_MS = 250;
/** Before the first piece nothing is lost: a build or a roll forward replaces the copy anyway. */
const FIRST_TRIES = 40;
/** Afterwards a publication waits half an hour for another process, and keeps its lease. */
const TRIES_MAX = 7_200;

export interface PublishOptions {
  folder: string;
  /** Text of the manifest of the copy. */
  text: string;
  /** The state of the graph up to which people who withdrew are overwritten in its files. */
  wipedTo: number;
  /** Id of the published copy; null when there is none. */
  replaces: string | null;
  signal?: AbortSignal | undefined;
}

/**
 * Publishes the copy of a folder in place of the published one, of which it uses the objects that are the same. Returns the
 * number of objects that it wrote. Throws `AppError` 409 `copy_is_published` while another worker publishes one, when either copy
 * was replaced; 409 `publication_ended` when it has lost its lease or its base, as by an erasure; `UnusableCopy` for files that
 * are damaged. A publication that fails leaves the published copy as it was. Objects that no longer count are left to
 * `deleteUnnamedObjects`.
 */
export async function publishCopy(
  context: PublishedContext,
  { folder, text, wipedTo, replaces, signal }: PublishOptions,
): Promise<number> {
  const { sql } = context;
  const manifest = parseManifest(text);
  const files = await openFiles(sql, folder, text, manifest);
  try {
    const { number, token } = lastLayer(manifest);
    const claim = await claimPublishing(sql, { number, token, wipedTo, replaces });
    if (claim === null) throw another('Another worker publishes a copy, or this one is behind.');
    const { id } = claim;
    try {
      const renew = async (tx: Sql) => {
        signal?.throwIfAborted();
        if (!(await renewPublishing(tx, id))) throw ended();
      };
      const all = piecesOf(filesOf(manifest));
      const { pieces, written } = await writePieces(context, claim, all, (piece) =>
        whileLocked(sql, folder, { tries: TRIES_MAX, before: renew }, () =>
          readPiece(files, piece),
        ),
      );
      await finish(sql, claim, { manifest: text, bytes: copyBytes(manifest), pieces });
      return written;
    } catch (error) {
      // Otherwise the lease expires.
      await deletePublished(sql, id).catch(() => {});
      throw error;
    }
  } finally {
    for (const file of files.values()) await file.close();
  }
}

/** Opens the files of a copy: a roll forward may delete them meanwhile, and they stay readable. */
async function openFiles(
  sql: Database,
  folder: string,
  text: string,
  manifest: Manifest,
): Promise<Map<string, FileHandle>> {
  return whileLocked(sql, folder, { tries: FIRST_TRIES }, async () => {
    if ((await readManifestText(folder)) !== text) throw another('The copy was replaced.');
    const opened = new Map<string, FileHandle>();
    for (const { file } of filesOf(manifest)) {
      opened.set(file, await open(path.join(folder, file), 'r'));
    }
    return opened;
  });
}

/** Runs `work` while no process writes to the folder: of a person who is being overwritten it would see half. */
async function whileLocked<T>(
  sql: Database,
  folder: string,
  { tries, before = async () => {} }: { tries: number; before?: (tx: Sql) => Promise<void> },
  work: () => Promise<T>,
): Promise<T> {
  const place = await placeOf(folder);
  for (let tried = 0; tried < tries; tried++) {
    const done = await inTransaction(sql, async (tx) => {
      await before(tx);
      return (await lockBuild(tx, place)) ? { value: await work() } : null;
    });
    if (done !== null) return done.value;
    await setTimeout(LOCK_PAUSE_MS);
  }
  throw another('Another process writes to the folder of the copy.');
}

async function readPiece(
  files: ReadonlyMap<string, FileHandle>,
  { file, from, bytes }: Piece,
): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(bytes);
  const read = await files.get(file)?.read(buffer, 0, bytes, from);
  if (read?.bytesRead !== bytes) throw new UnusableCopy(`its file ${file} is shorter`);
  return buffer;
}

/** Returns the names of all pieces, and how many of them had to be written. */
async function writePieces(
  { store }: PublishedContext,
  { id, base }: Claim,
  all: Iterable<Piece>,
  read: (piece: Piece) => Promise<Buffer>,
): Promise<{ pieces: string[]; written: number }> {
  const known = new Map((base?.pieces ?? []).map((name) => [sha256In(name), name]));
  const pieces: string[] = [];
  let written = 0;
  for (const piece of all) {
    const bytes = await read(piece);
    const sha256 = sha256Of(bytes);
    const name = known.get(sha256) ?? pieceName(id, sha256);
    if (!known.has(sha256)) {
      await store.put(PUBLISHED_PREFIX + name, [bytes]);
      known.set(sha256, name);
      written++;
    }
    pieces.push(name);
  }
  return { pieces, written };
}

/** The new copy counts in the same moment in which its base ends: it uses objects of it, which must not have been deleted. */
async function finish(
  sql: Database,
  { id, base }: Claim,
  published: Parameters<typeof finishPublishing>[2],
): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const isBase = base === null || (await deletePublished(tx, base.id));
    if (!isBase || !(await finishPublishing(tx, id, published))) {
      throw ended();
    }
  });
}

function ended(): AppError {
  return conflict('publication_ended', 'The published copy, or the lease, has ended meanwhile.');
}

function another(message: string): AppError {
  return conflict('copy_is_published', message);
}
