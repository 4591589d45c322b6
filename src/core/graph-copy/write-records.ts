/** Writes the files of one kind of record of a local copy. */
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { type AppError, unavailable, unprocessable } from '../lib/errors.ts';
import { readFreeBytes } from '../lib/free-space.ts';
import type { RecordToCopy } from './copy.sql.ts';
import { hashValue } from './hash-value.ts';
import { addEntry, ENTRY_BYTES, slotsFor } from './identifier-table.ts';
import { type Entity, type FileKind, fileName, type RecordFiles } from './manifest.ts';
import { aligned, BLOCK_ALIGN, blockBytes, type CopiedRecord, writeBlock } from './record-block.ts';
import { INDEX_ENTRY_BYTES, RecordIndexWriter } from './record-index.ts';

const SPACE = 0x20;
const NEWLINE = 0x0a;
const WRITE_BYTES = 1024 * 1024;
const BLOCKS_MAX = 2 ** 32;
/** Node has no larger array of bytes, and the whole table is written as one. */
const TABLE_BYTES_MAX = 2 ** 32 - 1;
/** A build leaves so much of the disk free: others write there, and the embedded Postgres too. */
const FREE_BYTES_MIN = 1024 * 1024 * 1024;

export interface WriteOptions {
  /** Called after each page with the number of records written so far. */
  onProgress?: (entity: Entity, records: number) => void;
  /** Ends the build after the present page. */
  signal?: AbortSignal;
  /** Returns the bytes that may still be written to the disk of a folder. */
  freeBytes?: (folder: string) => Promise<number>;
}

interface FilesToWrite {
  folder: string;
  entity: Entity;
  /** Of the hash of values. */
  seed: number;
  /** Number of identifiers of all records, at least. */
  identifiers: number;
  /** Ids about which a delta knows, ascending; none of a build. */
  covered: Float64Array;
  /** The place of the first further text: those of a delta follow those of its build. */
  furtherFrom: number;
}

/**
 * Writes all files of a kind of record to a folder that has none of them. Throws `AppError` 422 `graph_too_large`, 503
 * `disk_full`, and may leave some of the files then.
 */
export async function writeRecords(
  pages: AsyncIterable<RecordToCopy[]>,
  {
    folder,
    entity,
    seed,
    identifiers,
    covered,
    furtherFrom,
    onProgress,
    signal,
    freeBytes,
  }: FilesToWrite & WriteOptions,
): Promise<RecordFiles> {
  const fileOf = (kind: FileKind) => path.join(folder, fileName(entity, kind));
  const slots = slotsFor(identifiers);
  if (slots * ENTRY_BYTES > TABLE_BYTES_MAX) {
    throw tooLarge(
      `The ${entity} have ${identifiers} identifiers, which are more than one copy can hold.`,
    );
  }
  const table = new Uint32Array(slots * 2);
  const index = new RecordIndexWriter();
  const hash = { place: 0, fingerprint: 0 };
  const blocks = await openAppender(fileOf('blocks'));
  const further = await openAppender(fileOf('further'));
  const written = { count: 0, identifiers: 0 };
  try {
    // No block begins at 0, which is a free entry of the table.
    await blocks.append(BLOCK_ALIGN);
    for await (const page of pages) {
      signal?.throwIfAborted();
      await assertRoom(folder, freeBytes);
      for (const row of page) {
        const place = await appendText(further, row[3]);
        place.at += furtherFrom;
        const record = recordOf(row, place);
        const bytes = blockBytes(record);
        const block = blocks.length / BLOCK_ALIGN;
        if (block >= BLOCKS_MAX) {
          throw tooLarge(
            `The short records of all ${entity} are larger than 64 GiB, the maximum of one copy.`,
          );
        }
        const begin = blocks.length;
        const { buffer, at } = await blocks.append(aligned(bytes));
        const end = at + aligned(bytes);
        buffer.fill(0, at, end);
        writeBlock(record, buffer, at, bytes);
        index.add(record.id, begin, buffer.subarray(at, end));
        // A value under two codes has one entry: its block says both.
        for (const value of new Set(record.identifiers.map((one) => one.value.toString()))) {
          hashValue(value, seed, hash);
          addEntry(table, hash, block);
          written.identifiers++;
        }
        written.count++;
      }
      onProgress?.(entity, written.count);
    }
  } finally {
    await blocks.close();
    await further.close();
  }
  const entries = index.encode();
  return {
    ...written,
    slots,
    table_crc32: await writeChecked(fileOf('identifiers'), bytesOf(table)),
    blocks_bytes: blocks.length,
    stretches: entries.length / INDEX_ENTRY_BYTES,
    index_crc32: await writeChecked(fileOf('index'), entries),
    further_bytes: further.length,
    covered: covered.length,
    covered_crc32: await writeChecked(fileOf('covered'), bytesOf(covered)),
  };
}

function tooLarge(message: string): AppError {
  return unprocessable('graph_too_large', message);
}

/** Throws `AppError` 503 `disk_full` when less of the disk is free than a copy must leave, and these bytes. */
export async function assertRoom(
  folder: string,
  freeBytes: (folder: string) => Promise<number> = readFreeBytes,
  needed = 0,
): Promise<void> {
  if ((await freeBytes(folder)) >= FREE_BYTES_MIN + needed) return;
  const message =
    'Less than 1 GiB of the disk is free, or would be with the copy. Free some space, or move ENRICH_DATA_DIR to another disk.';
  throw unavailable('disk_full', message);
}

function recordOf(
  [id, held, text, , employer]: RecordToCopy,
  further: CopiedRecord['further'],
): CopiedRecord {
  return {
    id: Number(id.toString('latin1')),
    identifiers: held === null ? [] : identifiersOf(held),
    employer: employer === null ? 0 : Number(employer.toString('latin1')),
    text: text ?? new Uint8Array(),
    further,
  };
}

/** Parses lines `<code> <value>`. */
function identifiersOf(lines: Buffer): CopiedRecord['identifiers'] {
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

/** Appends a text, null for none. Returns its place. */
async function appendText(file: Appender, text: Buffer | null): Promise<CopiedRecord['further']> {
  const at = file.length;
  if (text === null) return { at, bytes: 0, crc32: 0 };
  const place = await file.append(text.length);
  place.buffer.set(text, place.at);
  return { at, bytes: text.length, crc32: crc32(text) };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Writes a file; returns its checksum. */
async function writeChecked(file: string, bytes: Uint8Array): Promise<number> {
  await writeFile(file, bytes, { flag: 'wx', mode: 0o600, flush: true });
  return crc32(bytes);
}
