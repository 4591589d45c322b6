/** The open files of a local copy. Reads are synchronous: from the page cache they take less time than a promise. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { CANDIDATES_MAX } from '../enrich/outcomes.ts';
import { acquireBuffer } from '../lib/buffer-pool.ts';
import { addToCrc32 } from '../storage/object-sum.ts';
import { hashValue } from './hash-value.ts';
import {
  fileTable,
  heldTable,
  type IdentifierTable,
  isHeld,
  type ReadFile,
} from './identifier-table.ts';
import {
  type Entity,
  type FileKind,
  fileKinds,
  fileName,
  fileSizes,
  type Manifest,
  type RecordFiles,
  UnusableCopy,
} from './manifest.ts';
import {
  BLOCK_ALIGN,
  type CopiedRecord,
  claimedBytes,
  forEachCode,
  isWhole,
  LENGTH_BYTES,
  type VisitCode,
} from './record-block.ts';
import { openRecordIndex, type RecordIndex } from './record-index.ts';

/** Bytes of the first read of a block: nearly all blocks are shorter. */
const READ_BYTES = 1024;
/** Longer than any block that an import could have made. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;
const BUFFER_BYTES = 2 * 1024 * 1024;

/** Storage of what one request reads. */
export class ReadBuffers {
  readonly #kept: Buffer[] = [];
  #used = 0;

  /** The index of the buffer that was read into last; -1 for none. */
  get last(): number {
    return this.#kept.length - 1;
  }

  /** Returns a place with room for so many bytes; `keep` keeps what was written there. */
  room(bytes: number): { buffer: Buffer; at: number } {
    let buffer = this.#kept.at(-1);
    if (buffer === undefined || this.#used + bytes > buffer.length) {
      buffer = acquireBuffer(Math.max(bytes, BUFFER_BYTES));
      this.#kept.push(buffer);
      this.#used = 0;
    }
    return { buffer, at: this.#used };
  }

  keep(bytes: number): void {
    this.#used += bytes;
  }

  /** Returns the buffers, which are empty from then on. */
  take(): ArrayBuffer[] {
    return this.#kept.splice(0).map(({ buffer }) => buffer as ArrayBuffer);
  }
}

/** The records of one kind. Every read throws `UnusableCopy` for bytes that are not as they were written. */
export interface OpenRecords {
  /**
   * Calls `visit` for each record that has the value, with the code and the begin of the record's block in the last of
   * `buffers`, which keep it. Returns false when there may be more of them than a look-up returns.
   */
  find(value: string, buffers: ReadBuffers, visit: VisitCode): boolean;
  /** Calls `visit` for each of these records that the copy holds, as `RecordIndex.forEach`. */
  forEach: RecordIndex['forEach'];
  /** Reads a further text. Returns where it begins in the last buffer; it is as long as it claims. */
  readFurther(further: CopiedRecord['further'], buffers: ReadBuffers): number;
}

export interface OpenCopy extends Record<Entity, OpenRecords> {
  close(): void;
}

/** Opens the files that a manifest names. Throws `UnusableCopy` when they are not what it says. */
export async function openCopy(folder: string, manifest: Manifest): Promise<OpenCopy> {
  const opened: number[] = [];
  const close = () => {
    for (const file of opened.splice(0)) closeSync(file);
  };
  const openRecords = async (entity: Entity): Promise<OpenRecords> => {
    const name = (kind: FileKind) => fileName(entity, kind);
    const fileOf = (kind: FileKind): CopyFile => {
      const file = path.join(folder, manifest.folder, name(kind));
      opened.push(openSync(file, 'r'));
      return { path: file, name: name(kind), fd: opened.at(-1) ?? -1 };
    };
    const files = manifest[entity];
    await checkSizes(path.join(folder, manifest.folder), name, files);
    const blocks = fileOf('blocks');
    const table = await openTable(fileOf('identifiers'), files);
    const { forEach } = await openIndex(fileOf('index'), blocks, files);
    return { ...readerOf(table, blocks, fileOf('further'), manifest.seed), forEach };
  };
  try {
    const people = await openRecords('people');
    return { people, companies: await openRecords('companies'), close };
  } catch (error) {
    close();
    throw error;
  }
}

interface CopyFile {
  path: string;
  name: string;
  fd: number;
}

async function checkSizes(
  folder: string,
  name: (kind: FileKind) => string,
  files: RecordFiles,
): Promise<void> {
  const sizes = fileSizes(files);
  for (const kind of fileKinds) {
    const size = (await stat(path.join(folder, name(kind))).catch(() => null))?.size ?? null;
    if (size === sizes[kind]) continue;
    const found = size === null ? 'missing' : `${size} bytes long instead of ${sizes[kind]}`;
    throw new UnusableCopy(`its file ${name(kind)} is ${found}`);
  }
}

/** Checks the whole table: a changed entry would hide a record, and nothing else would notice. */
async function openTable(
  file: CopyFile,
  { slots, table_crc32: expected }: RecordFiles,
): Promise<IdentifierTable> {
  const held = isHeld(slots) ? await readFile(file.path) : null;
  let sum = held === null ? 0 : crc32(held);
  if (held === null) {
    for await (const bytes of createReadStream(file.path, { highWaterMark: 1 << 20 })) {
      sum = addToCrc32(sum, bytes as Buffer);
    }
  }
  if (sum !== expected) throw damaged(file);
  if (held === null) return fileTable(readerOfAll(file), slots);
  return heldTable(new Uint32Array(held.buffer, held.byteOffset, slots * 2));
}

async function openIndex(
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
    const to = { buffer, at: 0, bytes: buffer.length };
    if (readAt(file, to, position) !== buffer.length) throw damaged(file);
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
        const { buffer, at } = readBlock(blocks, place * BLOCK_ALIGN, buffers);
        const held = forEachCode(buffer, at, value, visit);
        if (held > 0) buffers.keep(claimedBytes(buffer, at));
      }
      return count < CANDIDATES_MAX;
    },

    readFurther({ at: position, bytes, crc32: expected }, buffers) {
      const { buffer, at } = buffers.room(bytes);
      const read = readAt(furtherFile, { buffer, at, bytes }, position);
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

/** Reads a block into the buffers, without keeping it there. */
function readBlock(
  file: CopyFile,
  position: number,
  buffers: ReadBuffers,
): { buffer: Buffer; at: number } {
  let { buffer, at } = buffers.room(READ_BYTES);
  let read = readAt(file, { buffer, at, bytes: READ_BYTES }, position);
  const bytes = read < LENGTH_BYTES ? 0 : claimedBytes(buffer, at);
  if (bytes === 0 || bytes > BLOCK_BYTES_MAX) throw damaged(file);
  if (bytes > READ_BYTES) {
    ({ buffer, at } = buffers.room(bytes));
    read = readAt(file, { buffer, at, bytes }, position);
  }
  if (read < bytes || !isWhole(buffer, at, bytes)) throw damaged(file);
  return { buffer, at };
}

function readAt(
  { fd, name }: CopyFile,
  to: { buffer: Buffer; at: number; bytes: number },
  position: number,
): number {
  try {
    return readSync(fd, to.buffer, to.at, to.bytes, position);
  } catch (error) {
    throw new UnusableCopy(`its file ${name} cannot be read: ${(error as Error).message}`);
  }
}
