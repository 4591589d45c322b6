/** Reads the parts of a result for a download: each is complete and verified before its first byte is sent. */

import type { Part } from './parts.sql.ts';
import { type PartsContext, readPart } from './read-part.ts';

export interface ReadPart extends Pick<Part, 'firstRow'> {
  bytes: Buffer;
}

/**
 * The parts in order, one in memory at a time. The first is read before this resolves, so that the caller can
 * still refuse the download. Throws `AppError` `object_missing` or `object_damaged`, here or later.
 */
export async function openParts(
  context: PartsContext,
  parts: readonly Part[],
): Promise<AsyncGenerator<ReadPart>> {
  const [first, ...rest] = parts;
  const read = async (part: Part) => ({
    firstRow: part.firstRow,
    bytes: await readPart(context, part),
  });
  let ahead: ReadPart | null = first === undefined ? null : await read(first);
  return (async function* () {
    if (ahead !== null) yield ahead;
    ahead = null;
    for (const part of rest) yield await read(part);
  })();
}
