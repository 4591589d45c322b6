/**
 * Redacts stored results up to the last opt-out without waiting for a download. The sweep wakes it for every
 * batch that is behind.
 */
import { z } from 'zod';
import { lastSuppression } from '../../core/suppression/opted-out-people.ts';
import type { Batch } from '../batch/batch.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { isOfOneObject } from '../batch/one-object.ts';
import { defineJob } from '../queue/define-job.ts';
import type { PartsContext } from './read-part.ts';
import { redactBatch } from './redact-parts.ts';
import { listBatchesDueForRedaction } from './redaction.sql.ts';

/** Milliseconds before a batch with an object that cannot be read is tried again: doubled each time, up to the last. */
const RETRY_MS = { first: 10_000, last: 60 * 60 * 1000 };

/** Batches of which this process could not read an object, by the time of their next try. */
const unreadable = new Map<string, { retryAt: number; waitMs: number }>();

export const redactResults = defineJob({
  name: 'redact-results',
  payload: z.object({ batchId: z.uuid() }),
  async run(context, { batchId }) {
    const waits = unreadable.get(batchId);
    // Nothing of it is served meanwhile: a download checks the parts itself.
    if (waits !== undefined && performance.now() < waits.retryAt) return;
    const batch = await findBatch(context.sql, batchId);
    if (batch === undefined || batch.filesDeletedAt !== null) {
      unreadable.delete(batchId);
      return;
    }
    const parts = await redactOrWait(context, batch);
    if (parts > 0) context.log.info({ batch: batchId, parts }, 'parts rewritten after an opt-out');
  },
});

/** Redacts a batch as `redactBatch`; one with an object that cannot be read is not tried again for a while. */
async function redactOrWait(context: PartsContext, batch: Batch): Promise<number> {
  try {
    const parts = await redactBatch(context, batch);
    unreadable.delete(batch.id);
    return parts;
  } catch (error) {
    if (await isOfOneObject(context.store, error)) {
      const before = unreadable.get(batch.id)?.waitMs;
      const waitMs = Math.min(before === undefined ? RETRY_MS.first : before * 2, RETRY_MS.last);
      unreadable.set(batch.id, { retryAt: performance.now() + waitMs, waitMs });
    }
    throw error;
  }
}

/** Batches whose stored results are not yet checked against the last opt-out of their graph. */
export async function batchesDueForRedaction({
  sql,
  testSql,
}: Pick<PartsContext, 'sql' | 'testSql'>): Promise<string[]> {
  const [live, test] = await Promise.all([lastSuppression(sql), lastSuppression(testSql)]);
  return live + test === 0 ? [] : listBatchesDueForRedaction(sql, { live, test });
}

/**
 * Checks every batch that is behind, in this process. Returns the number of rewritten parts. Those of a batch with an object that
 * cannot be read stay as they are from there on: they are served to no one, and no other batch waits for them.
 */
export async function redactAllResults(context: PartsContext): Promise<number> {
  let rewritten = 0;
  const passed = new Set<string>();
  for (;;) {
    const due = await batchesDueForRedaction(context);
    const ids = due.filter((id) => !passed.has(id));
    if (ids.length === 0) return rewritten;
    for (const id of ids) {
      const batch = await findBatch(context.sql, id);
      if (batch !== undefined && batch.filesDeletedAt === null) {
        try {
          rewritten += await redactBatch(context, batch);
        } catch (error) {
          if (!(await isOfOneObject(context.store, error))) throw error;
          passed.add(id);
        }
      }
    }
  }
}
