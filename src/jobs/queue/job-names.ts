/** What jobs there are: their names, payloads and queues. */

/**
 * Queues: short jobs about a whole batch wait neither behind chunks nor behind what reads a whole list in one go,
 * quotes and the passes over results after an opt-out, and none of the two behind the other.
 */
export type QueueName = 'batches' | 'chunks' | 'quotes' | 'passes';
export const queueNames: readonly QueueName[] = ['batches', 'chunks', 'quotes', 'passes'];

/** Every job by name, with what it is woken with. */
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
