/** Ends a batch whose stored list or ids are missing or damaged. */
import { AppError } from '../../core/lib/errors.ts';
import { isObjectDamaged } from '../../core/storage/object-sum.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { Batch } from './batch.ts';
import { noteLost } from './batches.sql.ts';
import { endWithError } from './fail-batch.ts';
import { isOwnStore } from './own-store.ts';

/** An object missing for this long does not come back; `pauseSeconds` lie between two reads. */
const missing = { pauseSeconds: 30, secondsMax: 300 };
/** Damage that each read finds for this long, by any worker, did not happen on the way. */
const damaged = { pauseSeconds: 5, secondsMax: 30 };

type BrokenContext = Pick<JobContext, 'sql' | 'store' | 'log'>;
type BrokenBatch = Pick<Batch, 'id' | 'kind'>;

/** A read that found an object missing or damaged. */
interface LostRead {
  error: AppError;
  /** The chunk whose bytes were read; null for a job of the whole batch. */
  chunkNumber: number | null;
}

/** Returns the seconds until an object is read again after this error of a reader. */
export function pauseWhenLost(error: AppError): number {
  return limitsOf(error).pauseSeconds;
}

function limitsOf(error: AppError): typeof missing {
  return isObjectDamaged(error) ? damaged : missing;
}

/**
 * Ends a batch whose stored list or ids have been missing for five minutes, or damaged for half a minute, by the error of a
 * reader; one that is being cancelled does not need them and ends now. A store without the mark of this service is treated as
 * unavailable, as the folder of a disk that is not mounted, in which others may have stored files meanwhile: then nothing ends.
 */
export async function endWhenObjectLost(
  context: BrokenContext,
  batch: BrokenBatch,
  { error, chunkNumber }: LostRead,
): Promise<void> {
  const noted = await noteLost(context.sql, batch.id, chunkNumber);
  if (noted === undefined) return;
  const { secondsMax } = limitsOf(error);
  if (noted.state !== 'cancelling' && noted.lostSeconds < secondsMax) return;
  if (noted.state !== 'cancelling' && !(await isOwnStore(context))) {
    context.log.error(
      { batch: batch.id },
      'the object store does not have the mark of this service: check that it is the right one',
    );
    return;
  }
  await endWithError(context, batch.id, objectLost(batch, error));
}

/** The problem of a batch whose object stays lost: the error of the reader, which names it, with what to do. */
function objectLost({ kind }: BrokenBatch, error: AppError): AppError {
  const { code, status, message, extensions } = error;
  const again = kind === 'export' ? 'create the export again' : 'upload the list again';
  return new AppError({
    code,
    status,
    message: `${message} Rows without an outcome were not charged: ${again}.`,
    extensions,
  });
}
