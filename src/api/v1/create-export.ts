import { z } from 'zod';
import { exportSchema, viewBatch } from '../../jobs/batch/batch-view.ts';
import { createExport, wakeExport } from '../../jobs/export/create-export.ts';
import { defineRoute } from '../define-route.ts';
import { exportOptions } from '../export-options.ts';
import { ownerOf } from '../owner-of.ts';

/**
 * Creates an export: everyone who matches the filter now, written to a file. Responds 202 with it. With `hold` it
 * finds the ids, which gives the price, and waits for `start`.
 */
export const createExportRoute = defineRoute({
  method: 'post',
  path: '/v1/exports',
  summary: 'Export everyone who matches a filter',
  scope: 'exports',
  // Its counts are free, like those of a preview: rounded, and metered as a request of the key.
  metered: true,
  body: exportOptions.extend({
    gzip: z.boolean().default(false),
    hold: z.boolean().default(false),
  }),
  idempotent: true,
  responses: { 202: { description: 'The export.', schema: exportSchema } },
  locates: true,
  handler: ({ context, key, body, commit }) =>
    commit(async (tx) => {
      const { max_results: maxResults, max_credits: maxCredits, ...same } = body;
      const request = { ...same, maxResults, maxCredits, scheduleId: null, onlyNew: false };
      const owner = { ...ownerOf(key), keyId: key.id };
      const made = await createExport(tx, context.config, owner, request);
      const wake = () => wakeExport(context, made.id);
      return { status: 202, body: viewBatch(made), wake };
    }),
});
