import { inTransaction } from '../../core/db/client.ts';
import type { AppError } from '../../core/lib/errors.ts';
import type { JobContext } from '../queue/job-context.ts';
import { endWithoutFiles, failBatch } from './control/queries.ts';

/**
 * Ends a batch with an error, which becomes its problem document. What was paid stays paid and can be read. A
 * batch that is being cancelled ends as `cancelled` instead, without a line for the rows that have no outcome.
 */
export async function endWithError(
  { sql, log }: Pick<JobContext, 'sql' | 'log'>,
  batchId: string,
  error: AppError,
): Promise<void> {
  const { code, status, message: detail, errors, extensions } = error;
  if (status >= 500) log.error({ err: error, batch: batchId }, 'batch failed');
  await inTransaction(sql, async (tx) => {
    const failed = await failBatch(tx, batchId, { code, status, detail, errors, ...extensions });
    if (!failed) await endWithoutFiles(tx, batchId);
  });
}
