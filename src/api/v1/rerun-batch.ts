import { z } from 'zod';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { rerunBatch } from '../../jobs/list/rerun-list.ts';
import { defineRoute, idParams, none, parseParameters } from '../define-route.ts';
import { claimRequest, replayCreated } from '../idempotent-request.ts';
import { readJson } from '../read-json.ts';
import { holdUpload, uploadContextOf } from '../upload-context.ts';
import { ownBatch, ownerOf } from './own-batch.ts';

const rerunnable = outcomeStatuses.filter((status) => status !== 'matched');

const body = z.strictObject({ outcomes: z.array(z.enum(rerunnable)).min(1) });

/** Makes a new batch of the rows that came to certain outcomes: what matched is not paid again. */
export const rerunBatchRoute = defineRoute({
  method: 'post',
  path: '/v1/batches/:id/rerun',
  summary: 'Run the rows again that did not match',
  scope: 'batches',
  query: none,
  params: idParams,
  body,
  async handler({ context, key, params, request, response }) {
    holdUpload(key.accountId, response);
    const uploadContext = uploadContextOf(context, key, response);
    const idempotency = await claimRequest(context, key, request);
    try {
      const batch = await ownBatch(context, key, params.id);
      const { outcomes } = parseParameters(body, await readJson(request));
      const requestSha256 = requestHash({ id: batch.id, outcomes }, null);
      if (idempotency.stored !== null) {
        replayCreated(response, idempotency.stored, requestSha256);
        return;
      }
      const owner = { ...ownerOf(key), keyId: key.id };
      const again = await rerunBatch(uploadContext, owner, batch, outcomes, (tx, made) =>
        idempotency.respond(tx, { requestSha256, status: 202, body: viewBatch(made, new Date()) }),
      );
      response.status(202).location(`/v1/batches/${again.id}`).json(viewBatch(again, new Date()));
    } finally {
      await idempotency.release();
    }
  },
});
