/** What jobs there are: their names, payloads and queues. */

/** Queues: short jobs about a whole batch do not wait behind chunks. */
export type QueueName = 'batches' | 'chunks';
export const queueNames: readonly QueueName[] = ['batches', 'chunks'];

/** Every job by name, with what it is woken with. */
export interface JobPayloads {
  'split-batch': { batchId: string };
  'run-chunk': { chunkId: number; epoch: number };
  'finish-batch': { batchId: string };
  'quote-batch': { batchId: string };
  'check-results': { batchId: string };
}
export type JobName = keyof JobPayloads;

/** The queue that carries each job. */
export const queueOf: Record<JobName, QueueName> = {
  'split-batch': 'batches',
  'run-chunk': 'chunks',
  'finish-batch': 'batches',
  'quote-batch': 'batches',
  'check-results': 'batches',
};
