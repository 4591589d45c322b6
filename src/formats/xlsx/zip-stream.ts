/**
 * Writes a zip archive as a stream (APPNOTE.TXT 6.3.10): members are deflated as they come, followed by sizes and
 * checksum (4.3.9), and the directory comes last. Only the directory is held. Without zip64, whose streamed form
 * not every spreadsheet reads: an archive stays below 4 GiB.
 */

import { pipeline, Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { notForXlsx } from './xlsx-errors.ts';

export interface ZipMember {
  name: string;
  bytes: AsyncIterable<Buffer> | Iterable<Buffer>;
}

interface WrittenMember {
  name: Buffer;
  offset: number;
  checksum: number;
  bytes: number;
  zippedBytes: number;
}

const FIELD_MAX = 0xffff_ffff;
const VERSION_NEEDED = 20;
/** Bit 3: sizes follow the data. Bit 11: the name is UTF-8. */
const FLAGS = (1 << 3) | (1 << 11);
const DEFLATE_METHOD = 8;
/** 1 January 1980, the earliest date: the same rows give the same bytes. */
const DOS_DATE = (1 << 5) | 1;

/** Throws `AppError` 422 when the archive, or one member unzipped, would reach 4 GiB. */
export async function* zipStream(members: Iterable<ZipMember>): AsyncGenerator<Buffer> {
  const written: WrittenMember[] = [];
  let offset = 0;
  for (const { name, bytes } of members) {
    const member = { name: Buffer.from(name), offset, checksum: 0, bytes: 0, zippedBytes: 0 };
    const header = localHeader(member);
    yield header;
    for await (const zipped of deflate(bytes, member)) {
      member.zippedBytes += zipped.length;
      checkMemberBytes(offset + member.zippedBytes);
      yield zipped;
    }
    const descriptor = dataDescriptor(member);
    yield descriptor;
    offset += header.length + member.zippedBytes + descriptor.length;
    written.push(member);
  }
  const directory = Buffer.concat(written.map(directoryEntry));
  checkMemberBytes(offset + directory.length);
  yield directory;
  yield directoryEnd(written.length, offset, directory.length);
}

async function* deflate(source: ZipMember['bytes'], member: WrittenMember): AsyncGenerator<Buffer> {
  const counted = async function* () {
    for await (const chunk of source) {
      member.bytes += chunk.length;
      member.checksum = crc32(chunk, member.checksum);
      checkMemberBytes(member.bytes);
      yield chunk;
    }
  };
  const deflater = createDeflateRaw({ chunkSize: 64 * 1024 });
  // A failing source destroys the deflater with its error, which the loop below then throws.
  pipeline(Readable.from(counted()), deflater, () => {});
  yield* deflater;
}

/** Returns true for a size that an archive and its members may have. */
export function isMemberSize(bytes: number): boolean {
  return bytes < FIELD_MAX;
}

/** Throws `AppError` 422 for a size of 4 GiB or more. */
export function checkMemberBytes(bytes: number): void {
  if (!isMemberSize(bytes)) throw notForXlsx('it takes more than 4 GiB');
}

/** APPNOTE 4.3.7. */
function localHeader({ name }: WrittenMember): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x0403_4b50, 0);
  header.writeUInt16LE(VERSION_NEEDED, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(DEFLATE_METHOD, 8);
  header.writeUInt16LE(DOS_DATE, 12);
  header.writeUInt16LE(name.length, 26);
  return Buffer.concat([header, name]);
}

/** APPNOTE 4.3.9, with its usual signature. */
function dataDescriptor({ checksum, zippedBytes, bytes }: WrittenMember): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x0807_4b50, 0);
  descriptor.writeUInt32LE(checksum, 4);
  descriptor.writeUInt32LE(zippedBytes, 8);
  descriptor.writeUInt32LE(bytes, 12);
  return descriptor;
}

/** APPNOTE 4.3.12. */
function directoryEntry(member: WrittenMember): Buffer {
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x0201_4b50, 0);
  entry.writeUInt16LE(VERSION_NEEDED, 4);
  entry.writeUInt16LE(VERSION_NEEDED, 6);
  entry.writeUInt16LE(FLAGS, 8);
  entry.writeUInt16LE(DEFLATE_METHOD, 10);
  entry.writeUInt16LE(DOS_DATE, 14);
  entry.writeUInt32LE(member.checksum, 16);
  entry.writeUInt32LE(member.zippedBytes, 20);
  entry.writeUInt32LE(member.bytes, 24);
  entry.writeUInt16LE(member.name.length, 28);
  entry.writeUInt32LE(member.offset, 42);
  return Buffer.concat([entry, member.name]);
}

/** APPNOTE 4.3.16. */
function directoryEnd(count: number, offset: number, bytes: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x0605_4b50, 0);
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(bytes, 12);
  end.writeUInt32LE(offset, 16);
  return end;
}
