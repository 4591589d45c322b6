/** Every job there is. A new one is a file and a line here. */
import { runChunk } from '../batch/chunk/run-chunk.ts';
import { finishBatchJob } from '../batch/finish-batch.ts';
import { quoteBatch } from '../batch/quote-batch.ts';
import { checkResults } from '../batch/shown/check-results.ts';
import { splitBatch } from '../batch/split-batch.ts';
import type { JobDefinition } from './define-job.ts';
import type { JobName } from './job-names.ts';

export const jobs: { readonly [Name in JobName]: JobDefinition<Name> } = {
  'split-batch': splitBatch,
  'run-chunk': runChunk,
  'finish-batch': finishBatchJob,
  'quote-batch': quoteBatch,
  'check-results': checkResults,
};
