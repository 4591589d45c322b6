/**
 * Deletes what is left behind of work that did not count: parts of workers that lost their lease, what
 * was written anew in vain, and what a worker wrote while the files of its batch were being deleted. Its
 * names follow from the chunks or were noted before, so that nothing has to be listed. A day after the end no worker writes to a batch any more.
 */

import { listLatelyDeleted } from '../batch/batches.sql.ts';
import { listReclaimedChunks, type ReclaimedChunk } from '../chunk/commit-part.sql.ts';
import { partKey } from '../chunk/part-key.ts';
import type { JobContext } from '../queue/job-context.ts';
import { personIndexKey } from '../result/person-index.ts';
import { deleteObjects } from '../result/redact-parts.ts';
import { listDiscarded } from '../result/redaction.sql.ts';

/** One round; safe to repeat. */
export async function deleteDebris(context: Pick<JobContext, 'sql' | 'store'>): Promise<void> {
  await deleteObjects(context, await listDiscarded(context.sql));
  for (const id of await listLatelyDeleted(context.sql)) {
    await context.store.deletePrefix(`batches/${id}/`);
  }
  for (const chunk of await listReclaimedChunks(context.sql)) {
    for (const key of unrecordedKeys(chunk)) {
      await context.store.delete(key);
      await context.store.delete(personIndexKey(key));
    }
  }
}

/** Every key that a claim of the chunk can have written and no commit recorded. */
function* unrecordedKeys(chunk: ReclaimedChunk): Generator<string> {
  const recorded = new Set(chunk.recordedKeys);
  for (let epoch = 1; epoch <= chunk.epoch; epoch++) {
    for (let parts = 0; parts <= chunk.parts; parts++) {
      const key = partKey(chunk.batchId, { number: chunk.number, parts, epoch });
      if (!recorded.has(key)) yield key;
    }
  }
}
