/** Maintains the local copy of the graph, and the published one, in every worker every half minute. */
import { openKeeper } from '../../core/graph-copy/copy-keeper.ts';
import { openSharing } from '../../core/graph-copy/share-copy.ts';
import type { JobContext } from '../queue/job-context.ts';
import { type Repeating, startRepeating } from '../queue/start-repeating.ts';

const EVERY_MS = 30_000;

/** Maintains both copies until it is stopped. Stopping cancels a build that has not ended. */
export function startKeepingCopy(context: JobContext): Repeating {
  const stopping = new AbortController();
  const { signal } = stopping;
  const { log, config } = context;
  const mayBuild = config.buildsLocalCopy;
  // The files of a data folder are those of one machine.
  const mayFetch = mayBuild && config.storage.provider === 's3';
  const keep = openKeeper(context, { mayBuild, mayFetch }, { signal });
  const share = openSharing(context, mayFetch, { signal });
  const repeated = [
    startRepeating(EVERY_MS, keep, (error) =>
      log.warn({ err: error }, 'the local copy of the graph could not be looked after'),
    ),
    // An upload takes a while: the copy is rolled forward meanwhile.
    startRepeating(EVERY_MS, share, (error) =>
      log.warn({ err: error }, 'the published copy of the graph could not be looked after'),
    ),
  ];
  return {
    async stop() {
      stopping.abort();
      await Promise.all(repeated.map((one) => one.stop()));
    },
  };
}
