import { z } from 'zod';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { listBatches } from '../../jobs/batch/queries.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from './own-batch.ts';

/** The account's batches, newest first. */
export const listBatchesRoute = defineRoute({
  method: 'get',
  path: '/v1/batches',
  summary: 'Batches of the account, newest first',
  scope: 'batches',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.uuid().optional(),
  }),
  params: none,
  async handler({ context, key, query, response }) {
    const batches = await listBatches(context.sql, ownerOf(key), {
      before: query.cursor ?? null,
      limit: query.limit + 1,
    });
    const page = batches.slice(0, query.limit);
    const now = new Date();
    response.json({
      data: page.map((batch) => viewBatch(batch, now)),
      next_cursor: batches.length > query.limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
