import { z } from 'zod';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { batchSchema, viewBatch } from '../../jobs/batch/batch-view.ts';
import { createBatch, wakeSplit } from '../../jobs/list/create-list.ts';
import { assertOnlyRerun, storeRerun } from '../../jobs/list/rerun-list.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { requireOwnBatch } from '../own-batch.ts';
import { ownerOf } from '../owner-of.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';

const rerunnable = outcomeStatuses.filter((status) => status !== 'matched');

/** Creates a new batch of the rows with certain outcomes: matched rows are not paid again. */
export const rerunBatchRoute = defineRoute({
  method: 'post',
  path: '/v1/batches/:id/rerun',
  summary: 'Rerun the rows that did not match',
  scope: 'batches',
  params: idParams,
  body: z.strictObject({
    outcomes: z.array(z.enum(rerunnable)).min(1).max(rerunnable.length),
    hold: z.boolean().default(false).meta({
      description:
        'Wait in the state `ready` for a quote and a start, as after `hold` of an upload.',
    }),
  }),
  idempotent: true,
  responses: { 202: { description: 'The new batch.', schema: batchSchema } },
  errors: [410, 500],
  locates: true,
  async handler({ context, key, params, body, response, commit }) {
    holdUpload(key.accountId, response);
    const uploadContext = uploadContextOf(context, key, response);
    const batch = await requireOwnBatch(context, key, 'list', params.id);
    const list = await storeRerun(uploadContext, batch, body);
    const owner = { ...ownerOf(key), keyId: key.id };
    return createBatch(uploadContext, owner, list, (insert) =>
      commit(async (tx) => {
        const made = await insert(tx);
        await assertOnlyRerun(tx, made.id);
        const wake = () => wakeSplit(context, made.id);
        return { status: 202, body: viewBatch(made), wake };
      }),
    );
  },
});
