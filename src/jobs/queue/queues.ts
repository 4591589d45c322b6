/** The enqueueing side: any process may wake a job. */
import { Queue } from 'bullmq';
import { must } from '../../core/lib/assert.ts';
import type { Log } from '../../core/log.ts';
import type { QueueBackend } from './backend.ts';
import {
  type JobName,
  type JobPayloads,
  type QueueName,
  queueNames,
  queueOf,
} from './job-names.ts';

export interface WakeUp<Payload> {
  /** Derived from what the job is about; BullMQ ignores an id that it still keeps. No `:` in it. */
  id: string;
  payload: Payload;
}

export interface Queues {
  /** Wakes a job for each entry. What is lost here is found again by the sweep. */
  wake<Name extends JobName>(name: Name, wakeUps: WakeUp<JobPayloads[Name]>[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens the queues for adding jobs. */
export function openQueues(backend: QueueBackend, log: Log): Queues {
  const queues = new Map<QueueName, Queue>();
  for (const name of queueNames) {
    const queue = new Queue(name, { connection: backend.connection }, backend.factory);
    queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue error'));
    queues.set(name, queue as unknown as Queue);
  }
  return {
    async wake(name, wakeUps) {
      if (wakeUps.length === 0) return;
      const queue = must(queues.get(queueOf[name]), `queue of ${name}`);
      await queue.addBulk(
        wakeUps.map(({ id, payload }) => ({
          name,
          data: payload,
          // A kept id would swallow the next wake-up of the same thing; the log holds the failure.
          opts: { jobId: id, removeOnComplete: true, removeOnFail: true },
        })),
      );
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}
