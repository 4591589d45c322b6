/** What jobs there are: their names, payloads and queues. */

/**
 * Queues: short jobs about a whole batch wait neither behind chunks nor behind passes, which read a whole
 * list at one go and take as long as its run.
 */
export type QueueName = 'batches' | 'chunks' | 'passes';
export const queueNames: readonly QueueName[] = ['batches', 'chunks', 'passes'];

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
  'quote-batch': 'passes',
  'check-results': 'passes',
};
