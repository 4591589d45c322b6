import type { Processor, Queue, Worker, WorkerOptions } from 'bullmq';
import type { QueueName } from './job-names.ts';

/** The store of BullMQ's jobs. Queues and workers of a process share its connections. */
export interface QueueBackend {
  openQueue(name: QueueName): Queue;
  openWorker(
    name: QueueName,
    work: Processor,
    options: Omit<WorkerOptions, 'connection' | 'prefix'>,
  ): Worker;
  /** Recreates a lost schema; true when it had to. */
  repair(): Promise<boolean>;
  /** Call it when all queues and workers are closed. */
  close(): Promise<void>;
}
