import { AppError } from '../../core/lib/errors.ts';
import { type ControlContext, controlBatch } from './control-batch.ts';
import { listOpenBatchesOfKeys } from './key-batches.sql.ts';

/**
 * Cancels every open batch created with one of these keys, as their owner would. Returns the ids of the
 * cancelled batches.
 */
export async function cancelKeyBatches(
  context: ControlContext,
  keyIds: readonly string[],
): Promise<string[]> {
  const cancelled: string[] = [];
  for (const batch of await listOpenBatchesOfKeys(context.sql, keyIds)) {
    try {
      await controlBatch(context, batch, batch, 'cancel', async () => {});
      cancelled.push(batch.id);
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof AppError) || error.code !== 'invalid_state') throw error;
    }
  }
  return cancelled;
}
