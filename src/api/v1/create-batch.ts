import { z } from 'zod';
import { batchSchema, viewBatch } from '../../jobs/batch/batch-view.ts';
import { createList, wakeSplit } from '../../jobs/list/create-list.ts';
import { useUpload } from '../../jobs/list/uploads.ts';
import { batchOptions } from '../batch-options.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerWithKeyOf } from '../owner-of.ts';
import { receiveFile } from '../receive-file.ts';
import { receiveJson, rowTypes } from '../receive-rows.ts';
import { resultsWhenDone } from '../results-when-done.ts';
import { rowsSchema } from '../row-list.ts';

/**
 * Uploads a list: `multipart/form-data` with the part `file` and the options as fields in any order, or
 * the bare file as the body with the options as query parameters, or JSON with an `upload_id` or `rows`
 * and the options. Responds 202 with the batch.
 */
export const createBatchRoute = defineRoute({
  method: 'post',
  path: '/v1/batches',
  summary: 'Upload a list and start enriching it',
  scope: 'batches',
  query: batchOptions.partial(),
  readsQuery: true,
  bodies: {
    'multipart/form-data': batchOptions.extend({ file: z.file() }),
    'text/csv': null,
    'application/gzip': null,
    'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': null,
    'application/json': z.union([
      z.looseObject({ operation: z.string(), rows: rowsSchema }),
      z.looseObject({ operation: z.string(), upload_id: z.uuid() }),
    ]),
    'application/jsonl': null,
  },
  receive: (input) => (input.request.is(rowTypes) ? receiveJson(input) : receiveFile(input)),
  idempotent: true,
  responses: {
    200: {
      description: 'The results of JSON rows, with `Prefer: wait`.',
      types: ['application/jsonl'],
    },
    202: { description: 'The batch.', schema: batchSchema },
  },
  errors: [404, 500],
  locates: true,
  async handler({ body, commit, ...input }) {
    const { context, key } = input;
    const list = await body.store();
    const owner = ownerWithKeyOf(key);
    const reply = await createList(body.context, owner, list, (insert) =>
      commit(async (tx) => {
        if (body.uploadId !== undefined) await useUpload(tx, body.uploadId);
        const batch = await insert(tx);
        const wake = () => wakeSplit(context, batch.id);
        return { status: 202, body: viewBatch(batch), wake, batch };
      }),
    );
    await body.finish?.();
    return body.isRows ? resultsWhenDone(input, reply.batch) : reply;
  },
});
