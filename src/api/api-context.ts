import type { Config } from '../core/config.ts';
import type { Context } from '../core/context.ts';
import type { BatchWatcher } from '../jobs/batch/watch-batches.ts';
import type { Queues } from '../jobs/queue/queues.ts';

/** What an endpoint may use. */
export interface ApiContext extends Context {
  config: Config;
  queues: Queues;
  watcher: BatchWatcher;
}
