import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { type ResultFormat, resultFormats } from '../../jobs/batch/result-formats.ts';
import { openResults } from '../../jobs/batch/results.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { ownBatch } from './own-batch.ts';

const contentTypes: Record<ResultFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  'csv-safe': 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/**
 * The list back, row for row, enriched; while the batch runs, as far as it is finished. The bytes pass
 * through here with every store: a result is a header and many parts, joined nowhere, and a presigned
 * address could give a caller only one of them.
 */
export const getBatchResultsRoute = defineRoute({
  method: 'get',
  path: '/v1/batches/:id/results',
  summary: 'The enriched list',
  scope: 'batches',
  query: z.strictObject({
    format: z.enum(resultFormats).default('csv'),
    gzip: z.enum(['true', 'false']).default('false'),
  }),
  params: idParams,
  async handler({ context, key, query, params, response }) {
    const batch = await ownBatch(context, key, params.id);
    const gzip = query.gzip === 'true';
    const results = await openResults(context, batch, { format: query.format, gzip });
    const extension = `.${query.format.replace('csv-safe', 'csv')}${gzip ? '.gz' : ''}`;
    response.attachment(`${batch.id}${extension}`);
    response.setHeader('Content-Type', gzip ? 'application/gzip' : contentTypes[query.format]);
    if (results.bytes !== null) response.setHeader('Content-Length', String(results.bytes));
    response.setHeader('X-Result-Complete', String(results.complete));
    await pipeline(results.stream, response);
  },
});
