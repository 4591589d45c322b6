/** Holds the lease of a chunk while its worker lives. A frozen worker loses it, and the epoch fences it off. */
import { EXTEND_EVERY_MS } from '../batch/lease.sql.ts';
import type { JobContext } from '../queue/job-context.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';
import { extendLease } from './commit-part.sql.ts';

/** Extends the lease until `stop`, or until it is lost. */
export function holdLease(context: JobContext, held: ClaimedChunk): { stop(): void } {
  const { batchId: batch, number: chunk } = held;
  const timer = setInterval(() => {
    extendLease(context.sql, held).then(
      (ours) => {
        if (!ours) clearInterval(timer);
      },
      (error) => context.log.warn({ err: error, batch, chunk }, 'could not extend a lease'),
    );
  }, EXTEND_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
