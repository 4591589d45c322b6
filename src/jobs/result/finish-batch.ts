/** Ends a batch whose last part is committed: writes its report and its final state. */
import { traced } from '../../core/tracing.ts';
import { endBatch } from '../batch/batches.sql.ts';
import { addReports } from '../batch/report.ts';
import type { JobContext } from '../queue/job-context.ts';
import { listPartReports } from './parts.sql.ts';

/** Ends a batch as `completed`, or as `cancelled` when it was being cancelled. Safe to call twice. */
export async function finishBatch(context: JobContext, batchId: string): Promise<void> {
  await traced('finish', { 'enrich.batch': batchId }, async () => {
    const report = addReports(await listPartReports(context.sql, batchId));
    const state = await endBatch(context.sql, batchId, report);
    if (state !== null) context.log.info({ batch: batchId, state }, 'batch ended');
  });
}
