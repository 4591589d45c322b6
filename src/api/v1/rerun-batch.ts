import { z } from 'zod';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { batchSchema } from '../../jobs/batch/batch-view.ts';
import { rowsWithOutcomes } from '../../jobs/list/rerun-list.ts';
import { createRerun } from '../create-rerun.ts';
import { defineRoute, idParams } from '../http/define-route.ts';

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
  handler: (input) => createRerun(input, (batch) => rowsWithOutcomes(batch, input.body)),
});
