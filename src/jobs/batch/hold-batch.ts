/** A batch in hand: its claim is extended while its worker lives. */
import type { JobContext } from '../queue/job-context.ts';
import { type BatchClaim, extendClaim, isAwaited } from './claim-batch.sql.ts';

const EXTEND_EVERY_MS = 5_000;

export interface HeldBatch extends BatchClaim {
  /** False when the batch does not wait for the job any more. */
  isWanted(): Promise<boolean>;
}

/** A job that is not done and did not fail: it is claimed again after so many seconds. */
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
      log.warn({ err: error, batch: claim.batch.id }, 'claim of a batch not extended');
    });
  }, EXTEND_EVERY_MS);
  const held = { ...claim, isWanted: () => isAwaited(sql, claim) };
  return { held, stop: () => clearInterval(timer) };
}
