/**
 * Finds damage before a file is requested: reads and verifies all objects of one batch after the other in the
 * background, the batch checked longest ago first.
 */
import { isOfFiles, isUnavailable } from '../../core/db/pg-errors.ts';
import { AppError } from '../../core/lib/errors.ts';
import { objectsDamaged } from '../../core/storage/object-sum.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { storeResponds } from '../batch/one-object.ts';
import type { JobContext } from '../queue/job-context.ts';
import { recordScrub, releaseFromScrub, takeForScrub } from './audit.sql.ts';
import { checkObjects } from './check-objects.ts';

/**
 * All workers together read some 1.5 GiB an hour, of at most 24,576 batches: even a small batch takes statements and reads,
 * and housekeeping waits for the end of a round. A batch that was begun is read to its end.
 */
const PACE = { minutes: 10, bytesMax: 256 * 1024 * 1024, batchBytesMin: 64 * 1024 };

/**
 * Reads as many batches as the pace allows, until `mustStop()` is true. Returns the number of batches read. A batch with an
 * object that cannot be read, as on a bad sector, counts as damaged, and the scrub continues. Throws when the store does not
 * respond at all, and the error of a database that is away, which says nothing about the objects.
 */
export async function scrub(context: JobContext, mustStop: () => boolean): Promise<number> {
  const { sql, config, log } = context;
  const limits = { ...PACE, keepDays: config.filesKeepDays };
  for (let batches = 0; ; batches++) {
    const id = await takeForScrub(sql, limits);
    const batch = id === undefined ? undefined : await findBatch(sql, id);
    if (batch === undefined) return batches;
    const found = await checkObjects(context, batch, { mustStop }).catch(async (error: unknown) => {
      if (isOfDatabase(error) || !(await storeResponds(context.store))) throw error;
      log.error({ err: error, batch: batch.id }, 'objects cannot be read');
      return null;
    });
    if (found === null) {
      await recordScrub(sql, batch.id, 1);
      continue;
    }
    const { damaged, missing, unreadable } = found;
    for (const object of damaged) log.error({ batch: batch.id, object }, 'object damaged');
    for (const object of missing) log.error({ batch: batch.id, object }, 'object missing');
    for (const { key: object, error: err } of unreadable) {
      log.error({ err, batch: batch.id, object }, 'object cannot be read');
    }
    objectsDamaged.inc({ found: 'missing' }, missing.length);
    if (mustStop()) {
      await releaseFromScrub(sql, batch.id);
      return batches;
    }
    await recordScrub(sql, batch.id, damaged.length + missing.length + unreadable.length);
  }
}

function isOfDatabase(error: unknown): boolean {
  return isUnavailable(error) && !isOfFiles(error) && !(error instanceof AppError);
}
