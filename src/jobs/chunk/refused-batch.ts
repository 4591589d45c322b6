/** Batches that would not be accepted any more, because an option of the service has changed since. */
import { checkMobileField, type MobileSetting } from '../../core/enrich/mobile-in-records.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { Batch } from '../batch/batch.ts';

/**
 * Returns the reason why an accepted batch is not charged any further, or null: its operation is `mobile`, and a setting has
 * since left that field out of records. A call would be refused, but each row would be charged for an empty cell.
 */
export function refusalOf(setting: MobileSetting, batch: Batch): AppError | null {
  if (batch.state === 'cancelling') return null;
  try {
    checkMobileField(setting, batch.operation, batch.fields);
    if (batch.kind === 'list') {
      checkMobileField(setting, batch.operation, batch.required, 'required');
    }
    return null;
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}
