import { z } from 'zod';
import { requestHash } from '../../core/idempotency/idempotency.ts';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { createExport } from '../../jobs/export/create-export.ts';
import { defineRoute, none, parseParameters } from '../define-route.ts';
import { exportOptions } from '../export-options.ts';
import { claimRequest, replayCreated } from '../idempotent-request.ts';
import { readJson } from '../read-json.ts';
import { ownerOf } from './own-batch.ts';

const body = exportOptions.extend({
  gzip: z.boolean().default(false),
  hold: z.boolean().default(false),
});

/**
 * Makes an export: everybody whom the filter means at this moment, written to a file. Responds 202 with it;
 * `hold` writes the ids, which gives the price, and waits for `start`.
 */
export const createExportRoute = defineRoute({
  method: 'post',
  path: '/v1/exports',
  summary: 'Export the people that a filter means',
  scope: 'exports',
  // What it finds is told for nothing, as a preview tells it: rounded, and as a request of the key.
  counted: true,
  query: none,
  params: none,
  body,
  async handler({ context, key, request, response }) {
    const idempotency = await claimRequest(context, key, request);
    try {
      const asked = parseParameters(body, await readJson(request));
      const requestSha256 = requestHash(asked, null);
      if (idempotency.stored !== null) {
        replayCreated(response, idempotency.stored, requestSha256);
        return;
      }
      const owner = { ...ownerOf(key), keyId: key.id };
      const { name, filter, fields, format, gzip, hold } = asked;
      const of = { name, filter, fields, format, gzip, hold };
      const { max_results: maxResults, max_credits: maxCredits } = asked;
      const made = await createExport(
        context,
        owner,
        { ...of, maxResults, maxCredits, scheduleId: null, onlyNew: false },
        (tx, batch) =>
          idempotency.respond(tx, {
            requestSha256,
            status: 202,
            body: viewBatch(batch, new Date()),
          }),
      );
      response.status(202).location(`/v1/exports/${made.id}`).json(viewBatch(made, new Date()));
    } finally {
      await idempotency.release();
    }
  },
});
