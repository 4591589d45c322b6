/** Looks after the local copy of the graph, in every worker every half minute. */
import { openKeeper } from '../../core/graph-copy/keep-copy.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';

const EVERY_MS = 30_000;

/** Keeps the copy until stopped, which ends a build without a copy. */
export function startKeepingCopy(context: JobContext): Repeating {
  const stopping = new AbortController();
  const { log, config } = context;
  const keep = openKeeper(context, config.buildsLocalCopy, { signal: stopping.signal });
  const repeating = startRepeating(EVERY_MS, keep, (error) =>
    log.warn({ err: error }, 'the local copy of the graph could not be looked after'),
  );
  return {
    stop() {
      stopping.abort();
      return repeating.stop();
    },
  };
}
