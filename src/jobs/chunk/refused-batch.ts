/** Batches that would not be accepted any more, because an option of the service has changed since. */
import { checkMobileField, type MobileSetting } from '../../core/enrich/mobile-in-records.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { Batch } from '../batch/batch.ts';

/**
 * The reason why a batch that was accepted is not charged any further; null for none. It chose `mobile` before the setting left it out of
 * records: each row would be charged for an empty cell, where a call is refused.
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
