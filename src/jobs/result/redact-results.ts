/**
 * Redacts stored results up to the last opt-out without waiting for a download. The sweep wakes it for every
 * batch that is behind.
 */
import { z } from 'zod';
import { lastSuppression } from '../../core/suppression/opted-out-people.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { defineJob } from '../queue/define-job.ts';
import type { PartsContext } from './read-part.ts';
import { redactBatch } from './redact-parts.ts';
import { listBatchesDueForRedaction } from './redaction.sql.ts';

export const redactResults = defineJob({
  name: 'redact-results',
  payload: z.object({ batchId: z.uuid() }),
  async run(context, { batchId }) {
    const batch = await findBatch(context.sql, batchId);
    if (batch === undefined || batch.filesDeletedAt !== null) return;
    const parts = await redactBatch(context, batch);
    if (parts > 0) context.log.info({ batch: batchId, parts }, 'parts rewritten after an opt-out');
  },
});

/** Batches whose stored results are not yet checked against the last opt-out of their graph. */
export async function batchesDueForRedaction({
  sql,
  testSql,
}: Pick<PartsContext, 'sql' | 'testSql'>): Promise<string[]> {
  const [live, test] = await Promise.all([lastSuppression(sql), lastSuppression(testSql)]);
  return live + test === 0 ? [] : listBatchesDueForRedaction(sql, { live, test });
}

/** Checks every batch that is behind, in this process. Returns the number of rewritten parts. */
export async function redactAllResults(context: PartsContext): Promise<number> {
  let rewritten = 0;
  for (;;) {
    const ids = await batchesDueForRedaction(context);
    if (ids.length === 0) return rewritten;
    for (const id of ids) {
      const batch = await findBatch(context.sql, id);
      if (batch !== undefined && batch.filesDeletedAt === null) {
        rewritten += await redactBatch(context, batch);
      }
    }
  }
}
