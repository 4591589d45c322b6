/** The open files of a local copy. Reads are synchronous: from the page cache they take less time than a promise. */
import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { CANDIDATES_MAX } from '../enrich/outcomes.ts';
import { acquireBuffer } from '../lib/buffer-pool.ts';
import { addToCrc32 } from '../storage/object-sum.ts';
import { hashValue } from './hash-value.ts';
import { fileTable, heldTable, type IdentifierTable, isHeld } from './identifier-table.ts';
import { copyFiles, fileSizes, type Manifest, UnusableCopy } from './manifest.ts';
import { openPeopleIndex, type PeopleIndex } from './people-index.ts';
import {
  BLOCK_ALIGN,
  type CopiedPerson,
  claimedBytes,
  forEachCode,
  isWhole,
  LENGTH_BYTES,
  type VisitCode,
} from './person-block.ts';

/** Bytes of the first read of a block: nearly all blocks are shorter. */
const READ_BYTES = 1024;
/** Longer than any block that an import could have made. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;
const BUFFER_BYTES = 2 * 1024 * 1024;

const fileNames = Object.keys(copyFiles) as (keyof typeof copyFiles)[];

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

/** An open copy. Every read throws `UnusableCopy` for bytes that are not as they were written. */
export interface OpenCopy {
  /**
   * Calls `visit` for each person of the copy who holds the value, with the code and the begin of the person's block in
   * the last of `buffers`, which keep it. Returns false when there may be more of them than a look-up returns.
   */
  find(value: string, buffers: ReadBuffers, visit: VisitCode): boolean;
  /** Calls `visit` for each of these people whom the copy holds, as `PeopleIndex.forEach`. */
  forEachPerson: PeopleIndex['forEach'];
  /** Reads a full record. Returns where it begins in the last buffer; it is as long as it claims. */
  record(record: CopiedPerson['record'], buffers: ReadBuffers): number;
  close(): void;
}

/** Opens the files that a manifest names. Throws `UnusableCopy` when they are not what it says. */
export async function openCopy(folder: string, manifest: Manifest): Promise<OpenCopy> {
  const fileOf = (name: keyof typeof copyFiles) =>
    path.join(folder, manifest.folder, copyFiles[name]);
  await checkSizes(fileOf, manifest);
  const opened: number[] = [];
  const close = () => {
    for (const file of opened.splice(0)) closeSync(file);
  };
  try {
    const openFile = (name: keyof typeof copyFiles) => {
      const file = openSync(fileOf(name), 'r');
      opened.push(file);
      return file;
    };
    const table = await openTable(fileOf('table'), openFile('table'), manifest);
    const people = openFile('people');
    const files = { people, records: openFile('records') };
    const { forEach } = await openIndex(fileOf('index'), people, manifest);
    return { ...readerOf(table, files, manifest.seed), forEachPerson: forEach, close };
  } catch (error) {
    close();
    throw error;
  }
}

type FileOf = (name: keyof typeof copyFiles) => string;

async function checkSizes(fileOf: FileOf, manifest: Manifest): Promise<void> {
  const sizes = fileSizes(manifest);
  for (const name of fileNames) {
    const size = (await stat(fileOf(name)).catch(() => null))?.size ?? null;
    if (size === sizes[name]) continue;
    const found = size === null ? 'missing' : `${size} bytes long instead of ${sizes[name]}`;
    throw new UnusableCopy(`its file ${copyFiles[name]} is ${found}`);
  }
}

/** Checks the whole table: a changed entry would hide a person, and nothing else would notice. */
async function openTable(
  name: string,
  file: number,
  { slots, table_crc32: expected }: Manifest,
): Promise<IdentifierTable> {
  const held = isHeld(slots) ? await readFile(name) : null;
  let sum = held === null ? 0 : crc32(held);
  if (held === null) {
    for await (const bytes of createReadStream(name, { highWaterMark: 1 << 20 })) {
      sum = addToCrc32(sum, bytes as Buffer);
    }
  }
  if (sum !== expected) throw damaged('table');
  if (held === null) return fileTable(file, slots);
  return heldTable(new Uint32Array(held.buffer, held.byteOffset, slots * 2));
}

async function openIndex(
  name: string,
  people: number,
  { index_crc32: expected, people_bytes: bytes }: Manifest,
): Promise<PeopleIndex> {
  const entries = await readFile(name);
  if (crc32(entries) !== expected) throw damaged('index');
  const read = (buffer: Buffer, position: number) => {
    const to = { buffer, at: 0, bytes: buffer.length };
    if (readAt(people, 'people', to, position) !== buffer.length) throw damaged('people');
  };
  return openPeopleIndex(entries, bytes, read, () => damaged('people'));
}

function readerOf(
  table: IdentifierTable,
  files: { people: number; records: number },
  seed: number,
): Pick<OpenCopy, 'find' | 'record'> {
  const hash = { place: 0, fingerprint: 0 };
  const blocks = new Uint32Array(CANDIDATES_MAX);
  return {
    find(value, buffers, visit) {
      hashValue(value, seed, hash);
      const count = table.find(hash, blocks);
      for (let index = 0; index < count; index++) {
        const place = blocks[index] ?? 0;
        // Two values of one person may have the same fingerprint.
        if (index > 0 && blocks.indexOf(place) < index) continue;
        const { buffer, at } = readBlock(files.people, place * BLOCK_ALIGN, buffers);
        const held = forEachCode(buffer, at, value, visit);
        if (held > 0) buffers.keep(claimedBytes(buffer, at));
      }
      return count < CANDIDATES_MAX;
    },

    record({ at: position, bytes, crc32: expected }, buffers) {
      const { buffer, at } = buffers.room(bytes);
      const read = readAt(files.records, 'records', { buffer, at, bytes }, position);
      if (read !== bytes || crc32(buffer.subarray(at, at + bytes)) !== expected) {
        throw damaged('records');
      }
      buffers.keep(bytes);
      return at;
    },
  };
}

function damaged(name: keyof typeof copyFiles): UnusableCopy {
  return new UnusableCopy(`its file ${copyFiles[name]} is damaged`);
}

/** Reads a block into the buffers, without keeping it there. */
function readBlock(
  file: number,
  position: number,
  buffers: ReadBuffers,
): { buffer: Buffer; at: number } {
  let { buffer, at } = buffers.room(READ_BYTES);
  let read = readAt(file, 'people', { buffer, at, bytes: READ_BYTES }, position);
  const bytes = read < LENGTH_BYTES ? 0 : claimedBytes(buffer, at);
  if (bytes === 0 || bytes > BLOCK_BYTES_MAX) throw damaged('people');
  if (bytes > READ_BYTES) {
    ({ buffer, at } = buffers.room(bytes));
    read = readAt(file, 'people', { buffer, at, bytes }, position);
  }
  if (read < bytes || !isWhole(buffer, at, bytes)) throw damaged('people');
  return { buffer, at };
}

function readAt(
  file: number,
  name: keyof typeof copyFiles,
  to: { buffer: Buffer; at: number; bytes: number },
  position: number,
): number {
  try {
    return readSync(file, to.buffer, to.at, to.bytes, position);
  } catch (error) {
    throw new UnusableCopy(
      `its file ${copyFiles[name]} cannot be read: ${(error as Error).message}`,
    );
  }
}
