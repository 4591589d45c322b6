import { z } from 'zod';
import { outcomeStatuses } from '../../core/enrich/outcomes.ts';
import { operations } from '../../core/operations.ts';
import { type Batch, type ResultFormat, resultFormats } from '../../jobs/batch/batch.ts';
import { isStored, openResults, type ResultForm } from '../../jobs/result/results.ts';
import { flag } from '../batch-options.ts';
import { forEachResource } from '../batch-resource.ts';
import { acceptRange } from '../http/byte-range.ts';
import { allowSilence, clientGone } from '../http/client-gone.ts';
import { defineRoute, idParams, sent } from '../http/define-route.ts';
import { holdConversion, holdDownload, holdMerge } from '../http/open-responses.ts';
import { sendWhileValid } from '../http/while-valid.ts';
import { requireOwnBatch } from '../own-objects.ts';

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

const SEARCH_CHARACTERS_MAX = 200;
const outcomes = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .pipe(z.array(z.enum(outcomeStatuses)).min(1))
  .meta({ description: 'Only the rows with these outcomes, such as `no_match,ambiguous`.' });
const listQuery = z.strictObject({
  format: z.enum(resultFormats).default('csv'),
  gzip: flag.default('false'),
  outcomes: outcomes.optional(),
  search: z.string().trim().min(1).max(SEARCH_CHARACTERS_MAX).optional().meta({
    description: 'Only the rows that contain this text, ignoring case and accents.',
  }),
  reruns: flag.default('false').meta({
    description: '`true`: each row with its latest answer, from the list or its reruns.',
  }),
});
/** The export's own options apply where these are absent. */
const exportQuery = z.strictObject({
  format: z.enum(resultFormats).optional(),
  gzip: flag.optional(),
});

/**
 * Returns the file name for browsers: the name and the day of the list or export, for a list what it was enriched with,
 * and what the file has of it.
 */
function fileNameOf(batch: Batch, { format, gzip, outcomes, search, reruns }: ResultForm): string {
  const { name, createdAt } = batch;
  const day = createdAt.toISOString().slice(0, 10);
  const extension = `${format === 'csv-safe' ? 'csv' : format}${gzip ? '.gz' : ''}`;
  if (batch.kind === 'export') return `${name} ${day}.${extension}`;
  const parts = [
    ...(reruns ? ['with retries'] : []),
    ...(outcomes === null ? [] : [...outcomes]),
    ...(search === null ? [] : ['search']),
    // Two formats end in .csv.
    ...(format === 'csv' ? ['raw'] : []),
  ];
  const list = name.replace(/(\.(csv|tsv|txt|xlsx))?(\.gz)?$/i, '');
  const suffix = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `${list} ${operations[batch.operation].result} ${day}${suffix}.${extension}`;
}

/**
 * Sends the enriched list row for row, or the people of an export; while the batch runs, the finished part. The bytes
 * pass through the service with every store: a result consists of a header and many parts, and a presigned URL could
 * give a caller only one of them.
 */
export const getBatchResultsRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}/:id/results`,
    summary: resource.kind === 'list' ? 'The enriched list' : 'The people of an export',
    scope: resource.scope,
    query: resource.kind === 'list' ? listQuery : exportQuery,
    params: idParams,
    head: true,
    responses: {
      200: { description: 'The file, complete or as far as it is finished.', types: resultTypes },
      206: { description: 'The requested range of a CSV file.', types: ['text/csv'] },
    },
    errors: [410, 416, 422, 500],
    async handler({ context, key, credentials, query, params, request, response }) {
      const batch = await requireOwnBatch(context, key, resource.kind, params.id);
      holdDownload(key.accountId, response);
      allowSilence(response);
      const format = query.format ?? (batch.kind === 'export' ? batch.format : 'csv');
      const gzip =
        query.gzip === undefined ? batch.kind === 'export' && batch.gzip : query.gzip === 'true';
      const chosen = 'outcomes' in query && query.outcomes ? new Set(query.outcomes) : null;
      const search = 'search' in query && query.search ? query.search : null;
      const reruns = 'reruns' in query && query.reruns === 'true';
      const isRerun = batch.kind === 'list' && batch.rerunOf !== null;
      if (reruns || isRerun) holdMerge(key.accountId, response);
      const form = { format, gzip, outcomes: chosen, search, reruns };
      if (!isStored(form)) holdConversion(key.accountId, response);
      const results = await openResults({ ...context, signal: clientGone(response) }, batch, form);
      response.attachment(fileNameOf(batch, form));
      response.setHeader('Content-Type', gzip ? 'application/gzip' : contentTypes[format]);
      response.setHeader('X-Result-Complete', String(results.complete));
      const { stored } = results;
      const range = stored === null ? undefined : acceptRange(request, response, stored);
      if (request.method === 'HEAD') {
        response.end();
        return sent;
      }
      await sendWhileValid(context, credentials, await results.read(range), response);
      return sent;
    },
  }),
]);
