import { once } from 'node:events';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { Batch } from '../../jobs/batch/batch.ts';
import { type ResultFormat, resultFormats } from '../../jobs/batch/result-format.ts';
import { openResults } from '../../jobs/result/results.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, idParams, sent } from '../define-route.ts';
import { limitOpenAnswers } from '../open-answers.ts';
import { requireOwnBatch } from '../own-batch.ts';
import { whileInForce } from '../while-in-force.ts';

const contentTypes: Record<ResultFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  'csv-safe': 'text/csv; charset=utf-8',
  jsonl: 'application/jsonl; charset=utf-8',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

const resultTypes = [
  'text/csv',
  'application/jsonl',
  'application/gzip',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
];

/** Each may hold a socket of the object store: a few accounts that stall must not hold all of them. */
const DOWNLOADS_MAX = 32;
const holdDownload = limitOpenAnswers('downloads', DOWNLOADS_MAX);

const gzip = z.enum(['true', 'false']);
const listQuery = z.strictObject({
  format: z.enum(resultFormats).default('csv'),
  gzip: gzip.default('false'),
});
/** Options that are absent here are those of the export. */
const exportQuery = z.strictObject({
  format: z.enum(resultFormats).optional(),
  gzip: gzip.optional(),
});

/** The file name for browsers: that of the list, so that people recognise it; an export by its day. */
function fileNameOf({ kind, name, createdAt }: Batch): string {
  if (kind === 'export') return `${name} ${createdAt.toISOString().slice(0, 10)}`;
  return `${name.replace(/(\.(csv|tsv|txt|xlsx))?(\.gz)?$/i, '')}.enriched`;
}

/**
 * The list back, row for row, enriched, or the people of an export; while the batch runs, as far as it is finished. The bytes pass
 * through here with every store: a result is a header and many parts, joined nowhere, and a presigned
 * address could give a caller only one of them.
 */
export const getBatchResultsRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id/results`,
    summary: resource.kind === 'list' ? 'The enriched list' : 'The people of an export',
    scope: resource.scope,
    query: resource.kind === 'list' ? listQuery : exportQuery,
    params: idParams,
    responses: { 200: { description: 'The file, as far as it is there.', types: resultTypes } },
    errors: [410, 422, 500],
    async handler({ context, key, credentials, query, params, response }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      holdDownload(key.accountId, response);
      const format = query.format ?? (batch.kind === 'export' ? batch.format : 'csv');
      const gzip =
        query.gzip === undefined ? batch.kind === 'export' && batch.gzip : query.gzip === 'true';
      const results = await openResults(context, batch, { format, gzip });
      const extension = `.${format.replace('csv-safe', 'csv')}${gzip ? '.gz' : ''}`;
      response.attachment(`${fileNameOf(batch)}${extension}`);
      response.setHeader('Content-Type', gzip ? 'application/gzip' : contentTypes[format]);
      if (results.bytes !== null) response.setHeader('Content-Length', String(results.bytes));
      response.setHeader('X-Result-Complete', String(results.complete));
      // What fails before the first byte is answered with a problem document.
      await once(results.stream, 'readable');
      await whileInForce(context, credentials, (signal) =>
        pipeline(results.stream, response, { signal }),
      );
      return sent;
    },
  }),
]);
