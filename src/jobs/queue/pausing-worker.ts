import { setTimeout as delay } from 'node:timers/promises';
import {
  type ConnectionOptions,
  type IQueueBackend,
  type JobProgress,
  type RedisQueueBackend,
  Worker,
} from 'bullmq';

/** Pause before a worker asks its store again after an error. The queue's own 15 s would follow every failover. */
export const RETRY_MS = 1_000;

/**
 * A worker that pauses after its store refused to give it a job. The queue itself pauses only for a connection that is refused:
 * while a store has no memory or disk space left, accepts no writes or has a damaged key, it would ask, and report the error,
 * thousands of times a second.
 */
export class PausingWorker<
  Backend extends IQueueBackend = RedisQueueBackend,
  Connection = ConnectionOptions,
> extends Worker<unknown, unknown, string, Backend, JobProgress, Connection> {
  protected override async moveToActive(token: string, name?: string) {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      await delay(RETRY_MS);
      throw error;
    }
  }
}
