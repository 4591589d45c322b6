/** Keeps a claim alive while its worker lives. A worker that freezes loses it; the epoch then fences. */
import type { JobContext } from '../queue/job-context.ts';
import type { ClaimedChunk } from './claim-chunk.sql.ts';
import { extendLease } from './commit-part.sql.ts';

const EXTEND_EVERY_MS = 5_000;

export function holdLease(context: JobContext, held: ClaimedChunk): { stop(): void } {
  const { batchId: batch, number: chunk } = held;
  const timer = setInterval(() => {
    extendLease(context.sql, held).then(
      (ours) => {
        if (!ours) clearInterval(timer);
      },
      (error) => context.log.warn({ err: error, batch, chunk }, 'lease not extended'),
    );
  }, EXTEND_EVERY_MS);
  return { stop: () => clearInterval(timer) };
}
