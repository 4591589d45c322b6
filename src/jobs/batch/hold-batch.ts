/** Holds the claim of a batch: extends it while the worker lives. */

import type { JobContext } from '../queue/job-context.ts';
import { type BatchClaim, extendClaim, isAwaited } from './claim-batch.sql.ts';
import { EXTEND_EVERY_MS } from './lease.sql.ts';

export interface HeldBatch extends BatchClaim {
  /** False when the batch no longer waits for the job. */
  isWanted(): Promise<boolean>;
}

/** A job that is not done and did not fail: it can be claimed again after these seconds. */
export interface NotDone {
  retryAfterSeconds: number;
}

/** Holds a claim until `stop`. */
export function holdBatch(
  { sql, log }: Pick<JobContext, 'sql' | 'log'>,
  claim: BatchClaim,
): { held: HeldBatch; stop(): void } {
  const timer = setInterval(() => {
    extendClaim(sql, claim).catch((error: unknown) => {
      log.warn({ err: error, batch: claim.batch.id }, 'could not extend the claim of a batch');
    });
  }, EXTEND_EVERY_MS);
  const held = { ...claim, isWanted: () => isAwaited(sql, claim) };
  return { held, stop: () => clearInterval(timer) };
}
