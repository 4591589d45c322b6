/**
 * Overwrites records in the files of a copy, of people who withdrew. Who reads the files meanwhile finds every block as it
 * was, as it is, or in between: see `readUntilWhole`. What a reader would answer from it counts for nothing: the graph
 * changed before, so that no part with such an answer is committed, and later readers ask the delta or Postgres.
 */
import { writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { RecordIds } from './copy.sql.ts';
import {
  type Entity,
  entities,
  type FileKind,
  fileName,
  type Layer,
  layersOf,
  type Manifest,
  UnusableCopy,
} from './manifest.ts';
import { openIndex } from './open-copy.ts';
import { aligned, claimedBytes, furtherOf, wipedBlock } from './record-block.ts';

/** Records between two waits for the disk, or turns of the thread. */
const BATCH = 1000;

/**
 * Overwrites records in the layers of a copy, and waits until that is on the disk; `idsOf` returns those of a layer, ascending.
 * Records that the copy does not have, or no longer has, are skipped. Call under the lock of its folder. Throws `UnusableCopy`
 * when the files are damaged or cannot be written: some of the records may be left then.
 */
export async function wipeRecords(
  folder: string,
  manifest: Manifest,
  idsOf: (layer: Layer) => Promise<RecordIds>,
): Promise<void> {
  try {
    for (const layer of layersOf(manifest)) {
      const ids = await idsOf(layer);
      for (const entity of entities) {
        if (ids[entity].length === 0) continue;
        const furtherFrom = layer === manifest ? 0 : manifest[entity].further_bytes;
        await wipeInLayer(path.join(folder, layer.folder), layer, entity, ids[entity], furtherFrom);
      }
    }
  } catch (error) {
    if (error instanceof UnusableCopy) throw error;
    throw new UnusableCopy(`people cannot be removed from it: ${(error as Error).message}`);
  }
}

async function wipeInLayer(
  folder: string,
  layer: Layer,
  entity: Entity,
  ids: readonly number[],
  furtherFrom: number,
): Promise<void> {
  const opened: FileHandle[] = [];
  const openFile = async (kind: FileKind) => {
    const file = path.join(folder, fileName(entity, kind));
    const handle = await open(file, kind === 'index' ? 'r' : 'r+');
    opened.push(handle);
    return { path: file, name: fileName(entity, kind), fd: handle.fd, handle };
  };
  try {
    const blocks = await openFile('blocks');
    const further = await openFile('further');
    const index = await openIndex(await openFile('index'), blocks, layer[entity]);
    for (let from = 0; from < ids.length; from += BATCH) {
      const found: { position: number; block: Buffer }[] = [];
      index.forEach(Float64Array.from(ids.slice(from, from + BATCH)), (_, buffer, at, position) => {
        const block = Buffer.from(buffer.subarray(at, at + aligned(claimedBytes(buffer, at))));
        if (!wipedBlock(block).equals(block)) found.push({ position, block });
      });
      if (found.length === 0) {
        // All of them may be overwritten already.
        await nextTurn();
        continue;
      }
      for (const { block } of found) {
        const { at, bytes } = furtherOf(block, 0);
        writeAll(further.fd, Buffer.alloc(bytes), at - furtherFrom);
      }
      // The block says where the further text is: it goes last.
      await further.handle.sync();
      for (const { block, position } of found) writeAll(blocks.fd, wipedBlock(block), position);
      await blocks.handle.sync();
    }
  } finally {
    for (const handle of opened) await handle.close();
  }
}

function writeAll(fd: number, bytes: Buffer, position: number): void {
  let written = 0;
  while (written < bytes.length) {
    written += writeSync(fd, bytes, written, bytes.length - written, position + written);
  }
}
