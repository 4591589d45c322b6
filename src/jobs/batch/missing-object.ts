/** Ends a batch whose stored list or ids are missing. */
import { type AppError, unavailable } from '../../core/lib/errors.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { Batch } from './batch.ts';
import { noteMissing } from './batches.sql.ts';
import { endWithError } from './fail-batch.ts';
import { isOwnStore } from './own-store.ts';

/** An object missing for this long does not come back. */
const MISSING_SECONDS_MAX = 300;

type BrokenContext = Pick<JobContext, 'sql' | 'store' | 'log'>;
type BrokenBatch = Pick<Batch, 'id' | 'kind'>;

/**
 * Ends a batch whose stored list or ids have been missing for five minutes; one that is being cancelled does not need them and
 * ends now. A store without the mark of this service is treated as unavailable, as the folder of a disk that is not mounted, in
 * which others may have stored files meanwhile: then nothing ends.
 */
export async function endWhenObjectMissing(
  context: BrokenContext,
  batch: BrokenBatch,
): Promise<void> {
  const noted = await noteMissing(context.sql, batch.id);
  if (noted === undefined) return;
  const isOver = noted.state === 'cancelling' || noted.missingSeconds >= MISSING_SECONDS_MAX;
  if (!isOver) return;
  if (noted.state !== 'cancelling' && !(await isOwnStore(context))) {
    context.log.error(
      { batch: batch.id },
      'the object store does not have the mark of this service: check that it is the right one',
    );
    return;
  }
  await endWithError(context, batch.id, objectLost(batch));
}

function objectLost({ kind }: BrokenBatch): AppError {
  const [what, again] =
    kind === 'export'
      ? ['list of people of the export', 'create the export again']
      : ['stored file of the list', 'upload it again'];
  return unavailable(
    'object_missing',
    `The ${what} is missing from the object store. Rows without an outcome were not charged: ${again}.`,
  );
}
