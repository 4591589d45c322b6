/** Ends a batch whose stored list or ids are missing. */
import { PUBLISHED_PREFIX } from '../../core/graph-copy/published-objects.ts';
import { type AppError, unavailable } from '../../core/lib/errors.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { Batch } from './batch.ts';
import { noteMissing } from './batches.sql.ts';
import { endWithError } from './fail-batch.ts';
import { INSTALLATION_KEY } from './own-store.ts';

/** An object missing for this long does not come back. */
const MISSING_SECONDS_MAX = 300;

type BrokenContext = Pick<JobContext, 'sql' | 'store' | 'log'>;
type BrokenBatch = Pick<Batch, 'id' | 'kind'>;

/**
 * Ends a batch whose stored list or ids have been missing for five minutes; one that is being cancelled does
 * not need them and ends now. An empty store is treated as unavailable, for example an unmounted folder: then
 * nothing ends.
 */
export async function endWhenObjectMissing(
  context: BrokenContext,
  batch: BrokenBatch,
): Promise<void> {
  const noted = await noteMissing(context.sql, batch.id);
  if (noted === undefined) return;
  const isOver = noted.state === 'cancelling' || noted.missingSeconds >= MISSING_SECONDS_MAX;
  if (!isOver) return;
  if (noted.state !== 'cancelling' && (await isEmpty(context.store))) {
    context.log.error(
      { batch: batch.id },
      'the object store is empty: check that it is the right one',
    );
    return;
  }
  await endWithError(context, batch.id, objectLost(batch));
}

async function isEmpty(store: ObjectStore): Promise<boolean> {
  for await (const key of store.list()) {
    // Workers write these to any store.
    if (key !== INSTALLATION_KEY && !key.startsWith(PUBLISHED_PREFIX)) return false;
  }
  return true;
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
