/** The queue for a command that changes lists. */
import type { Config } from '../src/core/config.ts';
import type { Log } from '../src/core/log.ts';
import { openQueueBackend, queueStoreOf } from '../src/jobs/queue/open-backend.ts';
import { openQueues, type Queues } from '../src/jobs/queue/queues.ts';

/** Runs `work` with the queue of this configuration and database, and closes it. */
export async function withQueues<T>(
  config: Config,
  databaseUrl: string,
  log: Log,
  work: (queues: Queues) => Promise<T>,
): Promise<T> {
  const backend = openQueueBackend(queueStoreOf(config, databaseUrl), log, 0);
  const queues = openQueues(backend, log);
  try {
    return await work(queues);
  } finally {
    await queues.close();
    await backend.close();
  }
}
