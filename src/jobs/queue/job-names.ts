/** The names, payloads and queues of all jobs. */

/**
 * Queues. Short jobs about a whole batch (`batches`) wait for neither chunks nor long jobs. Long jobs have a queue for
 * each kind, so that no kind waits for another: searches of exports, quotes, and passes over results after an opt-out.
 */
export type QueueName = 'batches' | 'chunks' | 'exports' | 'quotes' | 'passes';
export const queueNames: readonly QueueName[] = [
  'batches',
  'chunks',
  'exports',
  'quotes',
  'passes',
];

export interface JobPayloads {
  'split-batch': { batchId: string };
  'write-ids': { batchId: string };
  /** The first three are for people who look at the queue. */
  'run-chunk': {
    batchId: string;
    chunk: number;
    attempt: number;
    chunkId: number;
    epoch: number;
  };
  'finish-batch': { batchId: string };
  'quote-batch': { batchId: string };
  'redact-results': { batchId: string };
}
export type JobName = keyof JobPayloads;

/** The queue that carries each job. */
export const queueOf: Record<JobName, QueueName> = {
  'split-batch': 'batches',
  'write-ids': 'exports',
  'run-chunk': 'chunks',
  'finish-batch': 'batches',
  'quote-batch': 'quotes',
  'redact-results': 'passes',
};
