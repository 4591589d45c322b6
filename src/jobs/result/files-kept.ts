import { AppError } from '../../core/lib/errors.ts';
import type { Batch } from '../batch/batch.ts';

/** Throws `AppError` 410 `files_expired` for a batch whose upload and result are no longer kept. */
export function assertFilesKept({ id, kind, filesDeletedAt }: Batch): void {
  if (filesDeletedAt === null) return;
  const when = filesDeletedAt.toISOString();
  throw new AppError({
    code: 'files_expired',
    status: 410,
    message:
      kind === 'export'
        ? `The file of export ${id} was deleted on ${when}. Its counts are kept; create a new export.`
        : `The files of batch ${id} were deleted on ${when}. Its counts are kept; upload the list again for a new result.`,
  });
}
