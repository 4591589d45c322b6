import { z } from 'zod';
import { requireFields } from '../../core/search/require-fields.ts';
import { unknownValuesSchema } from '../../core/search/unknown-values.ts';
import { exportSchema, viewBatch } from '../../jobs/batch/batch-view.ts';
import { checkExport, createExport, wakeExport } from '../../jobs/export/create-export.ts';
import { fieldNames } from '../batch-options.ts';
import { exportOptions } from '../export-options.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerWithKeyOf } from '../owner-of.ts';
import { unknownValuesInTurn } from '../unknown-values-in-turn.ts';

const createdSchema = exportSchema
  .extend({ unknown_values: unknownValuesSchema })
  .meta({ id: 'CreatedExport' });

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
    required: fieldNames(1).nullable().default(null),
  }),
  idempotent: true,
  responses: { 202: { description: 'The export.', schema: createdSchema } },
  locates: true,
  async handler({ context, key, body, response, commit }) {
    const { max_results: maxResults, max_credits: maxCredits, required, ...same } = body;
    const filter = requireFields(same.filter, required);
    const request = { ...same, filter, maxResults, maxCredits, scheduleId: null, onlyNew: false };
    checkExport(request, context.config);
    const owner = ownerWithKeyOf(key);
    const unknownValues = await unknownValuesInTurn({ context, key, response }, filter);
    return commit(async (tx) => {
      const made = await createExport(tx, context.config, owner, request);
      const wake = () => wakeExport(context, made.id);
      return { status: 202, body: { ...viewBatch(made), unknown_values: unknownValues }, wake };
    });
  },
});
