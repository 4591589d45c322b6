/** The queue of the reference that makes every row of a list a job: both of its processes open it. */
import type { Config } from '../src/core/config.ts';
import { createLog } from '../src/core/log.ts';
import type { QueueBackend } from '../src/jobs/queue/backend.ts';
import type { QueueName } from '../src/jobs/queue/job-names.ts';
import { openQueueBackend, queueStoreOf } from '../src/jobs/queue/open-backend.ts';

/** The data of a job: the position in the list and its identifiers, as in the list. */
export interface RowJob {
  row: number;
  profile: string | null;
  email: string | null;
  phone: string | null;
  handle: string | null;
}

/** Not one of the service's queues: its workers do not listen on it. */
export const ROW_QUEUE = 'rows' as QueueName;

/** BullMQ on Redis if configured, else on Postgres, set up as in the service. */
export function openRowBackend(config: Config, databaseUrl: string): QueueBackend {
  return openQueueBackend(queueStoreOf(config, databaseUrl), createLog('warn', 'bench'), 1);
}
