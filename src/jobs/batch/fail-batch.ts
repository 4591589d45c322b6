import { inTransaction } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { Batch } from './batch.ts';
import { endWithoutFiles, failBatch } from './control-batch.sql.ts';

/**
 * Ends a batch with an error, which becomes its problem document. What was paid stays paid and can be read. A
 * batch that is being cancelled ends as `cancelled` instead, without lines for rows without an outcome.
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

/** The problem of a batch that keeps failing for an unknown reason. */
export function processingFailed({ kind }: Pick<Batch, 'kind'>): AppError {
  const [what, again] =
    kind === 'export' ? ['export', 'create it again'] : ['list', 'upload it again'];
  return new AppError({
    code: 'processing_failed',
    status: 500,
    message: `The ${what} could not be processed: all attempts failed for an unknown reason. Rows without an outcome were not charged: ${again}, or contact the operator.`,
  });
}
