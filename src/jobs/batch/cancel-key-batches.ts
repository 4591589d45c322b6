import type { Context } from '../../core/context.ts';
import { inTransaction } from '../../core/db/client.ts';
import { AppError } from '../../core/lib/errors.ts';
import { listOpenBatchesOfKey } from './control-batch.sql.ts';
import { controlBatch, wakeAfter } from './control-batch.ts';
import type { DispatchContext } from './dispatch.ts';

/**
 * Cancels every open batch created with this key, as their owner would. Returns the ids of the
 * cancelled batches.
 */
export async function cancelKeyBatches(
  context: DispatchContext & Pick<Context, 'log'>,
  keyId: string,
): Promise<string[]> {
  const cancelled: string[] = [];
  for (const batch of await listOpenBatchesOfKey(context.sql, keyId)) {
    try {
      const after = await inTransaction(context.sql, (tx) =>
        controlBatch(tx, batch, batch, 'cancel'),
      );
      cancelled.push(batch.id);
      await wakeAfter(context, after, 'cancel').catch((error: unknown) => {
        // It is cancelled; the sweep finds what has no wake-up.
        context.log.warn({ err: error, batch: batch.id }, 'batch not woken');
      });
    } catch (error) {
      // It ended meanwhile.
      if (!(error instanceof AppError) || error.code !== 'invalid_state') throw error;
    }
  }
  return cancelled;
}
