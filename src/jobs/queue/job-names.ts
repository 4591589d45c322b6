/** The names, payloads and queues of all jobs. */

/**
 * Separate queues, so that short batch jobs do not wait behind chunks, nor behind the two kinds that read a
 * whole list: quotes, and the passes over results after an opt-out. These two do not wait for each other
 * either.
 */
export type QueueName = 'batches' | 'chunks' | 'quotes' | 'passes';
export const queueNames: readonly QueueName[] = ['batches', 'chunks', 'quotes', 'passes'];

/** The payload of each job. */
export interface JobPayloads {
  'split-batch': { batchId: string };
  'run-chunk': { chunkId: number; epoch: number };
  'finish-batch': { batchId: string };
  'quote-batch': { batchId: string };
  'redact-results': { batchId: string };
}
export type JobName = keyof JobPayloads;

/** The queue that carries each job. */
export const queueOf: Record<JobName, QueueName> = {
  'split-batch': 'batches',
  'run-chunk': 'chunks',
  'finish-batch': 'batches',
  'quote-batch': 'quotes',
  'redact-results': 'passes',
};
