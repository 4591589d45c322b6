/**
 * All jobs, with their list and export variants. A new job is a file, an entry in `queue/job-names.ts` and a line
 * here.
 */
import { batchJobs } from './batch/run-batch-jobs.ts';
import { runChunkJob } from './chunk/run-chunk.ts';
import { readExportChunk } from './export/export-chunk.ts';
import { writeIds } from './export/write-ids.ts';
import { readListChunk } from './list/list-chunk.ts';
import { quoteList } from './list/quote-list.ts';
import { splitList } from './list/split-list.ts';
import type { Jobs } from './queue/define-job.ts';
import { finishBatch } from './result/finish-batch.ts';
import { redactResults } from './result/redact-results.ts';

export const jobs: Jobs = {
  'run-chunk': runChunkJob({ list: readListChunk, export: readExportChunk }),
  ...batchJobs({
    split: { list: splitList, export: writeIds },
    finish: finishBatch,
    quote: quoteList,
  }),
  'redact-results': redactResults,
};
