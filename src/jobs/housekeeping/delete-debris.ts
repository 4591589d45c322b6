/**
 * Deletes objects that work left behind without effect: parts of workers that lost their lease, rewritten parts that
 * were not recorded, and objects written while the files of a batch were being deleted. Their keys follow from the
 * chunks or were recorded beforehand, so no listing is needed. No worker writes to a batch a day after its end.
 */

import { listRecentlyDeleted } from '../batch/batches.sql.ts';
import { listReclaimedChunks, type ReclaimedChunk } from '../chunk/commit-part.sql.ts';
import type { JobContext } from '../queue/job-context.ts';
import { partKey, personIndexKey } from '../result/part-keys.ts';
import { deleteObjects } from '../result/redact-parts.ts';
import { listDiscarded } from '../result/redaction.sql.ts';

/** One round; safe to repeat. */
export async function deleteDebris(context: Pick<JobContext, 'sql' | 'store'>): Promise<void> {
  await deleteObjects(context, await listDiscarded(context.sql));
  for (const id of await listRecentlyDeleted(context.sql)) {
    await context.store.deletePrefix(`batches/${id}/`);
  }
  for (const chunk of await listReclaimedChunks(context.sql)) {
    for (const key of unrecordedKeys(chunk)) {
      await context.store.delete(key);
      await context.store.delete(personIndexKey(key));
    }
  }
}

/** Every key that a claim of the chunk may have written without a recording commit. */
function* unrecordedKeys(chunk: ReclaimedChunk): Generator<string> {
  const recorded = new Set(chunk.recordedKeys);
  for (let epoch = 1; epoch <= chunk.epoch; epoch++) {
    for (let parts = 0; parts <= chunk.parts; parts++) {
      const key = partKey(
        { batchId: chunk.batchId, chunkNumber: chunk.number, number: parts },
        epoch,
      );
      if (!recorded.has(key)) yield key;
    }
  }
}
