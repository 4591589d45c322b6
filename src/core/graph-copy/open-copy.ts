/** The open files of a local copy. Reads are synchronous: from the page cache they take less time than a promise. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { CANDIDATES_MAX } from '../enrich/candidates-max.ts';
import { addToCrc32 } from '../lib/add-to-crc32.ts';
import { hashValue } from './hash-value.ts';
import {
  fileTable,
  heldTable,
  type IdentifierTable,
  isHeld,
  PageSums,
  type ReadFile,
} from './identifier-table.ts';
import { CoveredIds, layeredRecords } from './layered-records.ts';
import {
  type Entity,
  type FileKind,
  fileKinds,
  fileName,
  fileSizes,
  type Layer,
  type Manifest,
  type RecordFiles,
  UnusableCopy,
} from './manifest.ts';
import type { OpenRecords, ReadBuffers } from './open-records.ts';
import { readUntilWhole } from './read-until-whole.ts';
import { BLOCK_ALIGN, claimedBytes, forEachCode, isWhole, LENGTH_BYTES } from './record-block.ts';
import { openRecordIndex, type RecordIndex } from './record-index.ts';

/** Bytes of the first read of a block: nearly all blocks are shorter. */
const READ_BYTES = 1024;
/** Longer than any block that an import could have made. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;

export interface OpenCopy extends Record<Entity, OpenRecords> {
  close(): void;
}

/**
 * Opens the files that a manifest names. Tables of identifiers are held in memory unless they are large, or `holdsTables` is
 * false. Throws `UnusableCopy` when the files are not what the manifest says.
 */
export async function openCopy(
  folder: string,
  manifest: Manifest,
  { holdsTables = true }: { holdsTables?: boolean } = {},
): Promise<OpenCopy> {
  const opened: number[] = [];
  const close = () => {
    for (const file of opened.splice(0)) closeSync(file);
  };
  const openLayer = async (layer: Layer, entity: Entity) => {
    const within = path.join(folder, layer.folder);
    const nameOf = (kind: FileKind) =>
      `${fileName(entity, kind)}${layer === manifest ? '' : ' of the delta'}`;
    const fileOf = (kind: FileKind): CopyFile => {
      const file = path.join(within, fileName(entity, kind));
      opened.push(openSync(file, 'r'));
      return { path: file, name: nameOf(kind), fd: opened.at(-1) ?? -1 };
    };
    const files = layer[entity];
    for (const kind of fileKinds) {
      await checkSize(
        path.join(within, fileName(entity, kind)),
        nameOf(kind),
        fileSizes(files)[kind],
      );
    }
    const blocks = fileOf('blocks');
    const table = await openTable(fileOf('identifiers'), files, holdsTables);
    const { forEach } = await openIndex(fileOf('index'), blocks, files);
    const records = { ...readerOf(table, blocks, fileOf('further'), layer.seed), forEach };
    return { records, covered: await readCovered(fileOf('covered'), files) };
  };
  const openRecords = async (entity: Entity): Promise<OpenRecords> => {
    const build = await openLayer(manifest, entity);
    if (manifest.delta === null) return build.records;
    const delta = await openLayer(manifest.delta, entity);
    const { further_bytes: furtherFrom } = manifest[entity];
    return layeredRecords(build.records, delta.records, delta.covered, furtherFrom);
  };
  try {
    const people = await openRecords('people');
    return { people, companies: await openRecords('companies'), close };
  } catch (error) {
    close();
    throw error;
  }
}

/** An open file, and how a message names it. */
export interface CopyFile {
  path: string;
  name: string;
  fd: number;
}

async function checkSize(file: string, name: string, expected: number): Promise<void> {
  const size = (await stat(file).catch(() => null))?.size ?? null;
  if (size === expected) return;
  const found = size === null ? 'missing' : `${size} bytes long instead of ${expected}`;
  throw new UnusableCopy(`its file ${name} is ${found}`);
}

async function readCovered(
  file: CopyFile,
  { covered_crc32: expected }: RecordFiles,
): Promise<CoveredIds> {
  const ids = await readFile(file.path);
  if (addToCrc32(0, ids) !== expected) throw damaged(file);
  return new CoveredIds(new Float64Array(new Uint8Array(ids).buffer));
}

/** Checks the whole table: a changed entry would hide a record. One that is not held is checked again, a page with each read. */
async function openTable(
  file: CopyFile,
  { slots, table_crc32: expected }: RecordFiles,
  holds: boolean,
): Promise<IdentifierTable> {
  if (holds && isHeld(slots)) {
    const held = await readFile(file.path);
    if (crc32(held) !== expected) throw damaged(file);
    return heldTable(new Uint32Array(held.buffer, held.byteOffset, slots * 2));
  }
  let sum = 0;
  const sums = new PageSums(slots);
  for await (const bytes of createReadStream(file.path, { highWaterMark: 1 << 20 })) {
    sum = addToCrc32(sum, bytes as Buffer);
    sums.add(bytes as Buffer);
  }
  if (sum !== expected) throw damaged(file);
  return fileTable(readerOfAll(file), slots, sums, () => damaged(file));
}

/** Opens the index of a file of blocks. Throws `UnusableCopy` when it is damaged. */
export async function openIndex(
  file: CopyFile,
  blocks: CopyFile,
  { index_crc32: expected, blocks_bytes: bytes }: RecordFiles,
): Promise<RecordIndex> {
  const entries = await readFile(file.path);
  if (crc32(entries) !== expected) throw damaged(file);
  return openRecordIndex(entries, bytes, readerOfAll(blocks), () => damaged(blocks));
}

/** Reads as many bytes as the buffer has, or throws `UnusableCopy`. */
function readerOfAll(file: CopyFile): ReadFile {
  return (buffer, position) => {
    if (readAt(file, buffer, 0, buffer.length, position) !== buffer.length) throw damaged(file);
  };
}

function readerOf(
  table: IdentifierTable,
  blocks: CopyFile,
  furtherFile: CopyFile,
  seed: number,
): Pick<OpenRecords, 'find' | 'readFurther'> {
  const hash = { place: 0, fingerprint: 0 };
  const found = new Uint32Array(CANDIDATES_MAX);
  return {
    find(value, buffers, visit) {
      hashValue(value, seed, hash);
      const count = table.find(hash, found);
      for (let index = 0; index < count; index++) {
        const place = found[index] ?? 0;
        // Two values of one record may have the same fingerprint.
        if (index > 0 && found.indexOf(place) < index) continue;
        const buffer = readBlock(blocks, place * BLOCK_ALIGN, buffers);
        const { at } = buffers;
        const held = forEachCode(buffer, at, value, visit);
        if (held > 0) buffers.keep(claimedBytes(buffer, at));
      }
      return count < CANDIDATES_MAX;
    },

    readFurther({ at: position, bytes, crc32: expected }, buffers) {
      const buffer = buffers.room(bytes);
      const { at } = buffers;
      const read = readAt(furtherFile, buffer, at, bytes, position);
      if (read !== bytes || crc32(buffer.subarray(at, at + bytes)) !== expected) {
        throw damaged(furtherFile);
      }
      buffers.keep(bytes);
      return at;
    },
  };
}

function damaged({ name }: CopyFile): UnusableCopy {
  return new UnusableCopy(`its file ${name} is damaged`);
}

/** Reads a block to the room of the last buffer, which it returns, without keeping it there. */
function readBlock(file: CopyFile, position: number, buffers: ReadBuffers): Buffer {
  // A list reads one for each match: an object or a function for each read would take longer than the read.
  if (!readOnce(file, position, buffers)) {
    const isRead = readUntilWhole(() => readOnce(file, position, buffers));
    if (!isRead) throw damaged(file);
  }
  return buffers.room(0);
}

/** Returns false for a block that is not whole. */
function readOnce(file: CopyFile, position: number, buffers: ReadBuffers): boolean {
  let buffer = buffers.room(READ_BYTES);
  let read = readAt(file, buffer, buffers.at, READ_BYTES, position);
  const bytes = read < LENGTH_BYTES ? 0 : claimedBytes(buffer, buffers.at);
  if (bytes === 0 || bytes > BLOCK_BYTES_MAX) return false;
  if (bytes > READ_BYTES) {
    buffer = buffers.room(bytes);
    read = readAt(file, buffer, buffers.at, bytes, position);
  }
  return read >= bytes && isWhole(buffer, buffers.at, bytes);
}

/** Reads `bytes` bytes to `at` in the buffer; fewer at the end of the file. */
function readAt(
  { fd, name }: CopyFile,
  buffer: Buffer,
  at: number,
  bytes: number,
  position: number,
): number {
  try {
    return readSync(fd, buffer, at, bytes, position);
  } catch (error) {
    throw new UnusableCopy(`its file ${name} cannot be read: ${(error as Error).message}`);
  }
}
