/** Every job there is. A new one is a file and a line here. */
import { finishBatchJob, quoteBatchJob, splitBatchJob } from '../batch/batch-job/run-batch-jobs.ts';
import { runChunk } from '../batch/chunk/run-chunk.ts';
import { checkResults } from '../batch/shown/check-results.ts';
import type { JobDefinition } from './define-job.ts';
import type { JobName } from './job-names.ts';

export const jobs: { readonly [Name in JobName]: JobDefinition<Name> } = {
  'split-batch': splitBatchJob,
  'run-chunk': runChunk,
  'finish-batch': finishBatchJob,
  'quote-batch': quoteBatchJob,
  'check-results': checkResults,
};
