/** Builds the local copy of the live graph from one snapshot of the database. */
import { randomInt, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type Database, inTransaction } from '../db/client.ts';
import { type AppError, conflict, unavailable, unprocessable } from '../lib/errors.ts';
import { readFreeBytes } from '../lib/free-space.ts';
import {
  beginBuild,
  countIdentifiers,
  lockBuild,
  type PersonToCopy,
  readGraphState,
  readPeopleToCopy,
} from './copy.sql.ts';
import { hashValue } from './hash-value.ts';
import { addEntry, slotsFor } from './identifier-table.ts';
import {
  copyFiles,
  encodeManifest,
  FORMAT,
  folderNamed,
  type Manifest,
  manifestFile,
  readManifestText,
} from './manifest.ts';
import { INDEX_ENTRY_BYTES, PeopleIndexWriter } from './people-index.ts';
import { aligned, BLOCK_ALIGN, blockBytes, type CopiedPerson, writeBlock } from './person-block.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const WRITE_BYTES = 1024 * 1024;
const BLOCKS_MAX = 2 ** 32;
const SEEDS = 2 ** 32;
/** A build leaves so much of the disk free: others write there, and the embedded Postgres too. */
const FREE_BYTES_MIN = 1024 * 1024 * 1024;

export interface BuildOptions {
  /** Folder of the copy: see `copyFolder`. */
  folder: string;
  /** Text of the manifest that is replaced, null for none. When another one is there by now, nothing is built. */
  replaces?: string | null;
  /** Called after each page with the number of people copied so far. */
  onProgress?: (people: number) => void;
  /** Ends the build after the present page. */
  signal?: AbortSignal;
  /** Returns the bytes that may still be written to the disk of a folder. */
  freeBytes?: (folder: string) => Promise<number>;
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
      const table = new Uint32Array(slotsFor(await countIdentifiers(tx)) * 2);
      const copied = await copyPeople(readPeopleToCopy(tx), { building, table, seed, ...options });
      const manifest: Manifest = {
        format: FORMAT,
        ...state,
        built_at: new Date().toISOString(),
        folder: name,
        seed,
        slots: table.length / 2,
        ...copied,
        table_crc32: await writeChecked(path.join(building, copyFiles.table), bytesOf(table)),
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

type Copied = Pick<
  Manifest,
  'people' | 'identifiers' | 'people_bytes' | 'stretches' | 'index_crc32' | 'records_bytes'
>;

async function copyPeople(
  pages: AsyncIterable<PersonToCopy[]>,
  {
    building,
    table,
    seed,
    onProgress,
    signal,
    freeBytes = readFreeBytes,
  }: BuildOptions & { building: string; table: Uint32Array; seed: number },
): Promise<Copied> {
  const blocks = await openAppender(path.join(building, copyFiles.people));
  const records = await openAppender(path.join(building, copyFiles.records));
  const index = new PeopleIndexWriter();
  const hash = { place: 0, fingerprint: 0 };
  const copied = { people: 0, identifiers: 0 };
  try {
    // No block begins at 0, which is a free entry of the table.
    await blocks.append(BLOCK_ALIGN);
    for await (const page of pages) {
      signal?.throwIfAborted();
      if ((await freeBytes(building)) < FREE_BYTES_MIN) throw diskFull();
      for (const [id, held, brief, record] of page) {
        const at = records.length;
        if (record !== null) {
          const place = await records.append(record.length);
          place.buffer.set(record, place.at);
        }
        const person: CopiedPerson = {
          id: Number(id.toString('latin1')),
          identifiers: held === null ? [] : identifiersOf(held),
          brief: brief ?? new Uint8Array(),
          record: { at, bytes: record?.length ?? 0, crc32: record === null ? 0 : crc32(record) },
        };
        const bytes = blockBytes(person);
        const block = blocks.length / BLOCK_ALIGN;
        if (block >= BLOCKS_MAX) throw tooLarge();
        const begin = blocks.length;
        const place = await blocks.append(aligned(bytes));
        const end = place.at + aligned(bytes);
        place.buffer.fill(0, place.at, end);
        writeBlock(person, place.buffer, place.at, bytes);
        index.add(person.id, begin, place.buffer.subarray(place.at, end));
        // A value under two codes has one entry: its block says both.
        for (const value of new Set(person.identifiers.map((one) => one.value.toString()))) {
          hashValue(value, seed, hash);
          addEntry(table, hash, block);
          copied.identifiers++;
        }
        copied.people++;
      }
      onProgress?.(copied.people);
    }
    const entries = index.encode();
    return {
      ...copied,
      people_bytes: blocks.length,
      stretches: entries.length / INDEX_ENTRY_BYTES,
      index_crc32: await writeChecked(path.join(building, copyFiles.index), entries),
      records_bytes: records.length,
    };
  } finally {
    await blocks.close();
    await records.close();
  }
}

function tooLarge(): AppError {
  const message =
    'The brief records of all people are larger than 64 GiB, which one copy can hold.';
  return unprocessable('graph_too_large', message);
}

function diskFull(): AppError {
  const message =
    'Less than 1 GiB of the disk is free. Make room for a copy, or move ENRICH_DATA_DIR to another disk.';
  return unavailable('disk_full', message);
}

/** Parses lines `<code> <value>`. */
function identifiersOf(lines: Buffer): CopiedPerson['identifiers'] {
  const identifiers: { code: number; value: Buffer }[] = [];
  let from = 0;
  while (from < lines.length) {
    const space = lines.indexOf(SPACE, from);
    const end = lines.indexOf(NEWLINE, space);
    const to = end === -1 ? lines.length : end;
    const code = Number(lines.toString('latin1', from, space));
    identifiers.push({ code, value: lines.subarray(space + 1, to) });
    from = to + 1;
  }
  return identifiers;
}

interface Appender {
  /** Bytes appended so far. */
  readonly length: number;
  /** Appends bytes with undefined content, for the caller to fill before the next call. */
  append(bytes: number): Promise<{ buffer: Buffer; at: number }>;
  /** Writes what is left, and waits until it is on the disk. */
  close(): Promise<void>;
}

async function openAppender(file: string): Promise<Appender> {
  const handle = await open(file, 'wx', 0o600);
  let buffer = Buffer.alloc(WRITE_BYTES);
  let used = 0;
  let length = 0;
  const write = async () => {
    await handle.writeFile(buffer.subarray(0, used));
    used = 0;
  };
  return {
    get length() {
      return length;
    },
    async append(bytes) {
      if (used + bytes > buffer.length) await write();
      if (bytes > buffer.length) buffer = Buffer.alloc(bytes);
      const at = used;
      used += bytes;
      length += bytes;
      return { buffer, at };
    },
    async close() {
      try {
        await write();
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Writes a file; returns its checksum. */
async function writeChecked(file: string, bytes: Uint8Array): Promise<number> {
  await writeFile(file, bytes, { flag: 'wx', mode: 0o600, flush: true });
  return crc32(bytes);
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
