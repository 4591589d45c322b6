import { z } from 'zod';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { listBatches } from '../../jobs/batch/batches.sql.ts';
import { forEachResource } from '../batch-resource.ts';
import { defineRoute, none } from '../define-route.ts';
import { ownerOf } from './own-batch.ts';

/** The account's lists, or its exports, newest first. */
export const listBatchesRoutes = forEachResource((resource) => [
  defineRoute({
    method: 'get',
    path: `${resource.path}`,
    summary: `${resource.plural} of the account, newest first`,
    scope: resource.scope,
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(100).default(20),
      cursor: z.uuid().optional(),
    }),
    params: none,
    async handler({ context, key, query, response }) {
      const batches = await listBatches(context.sql, ownerOf(key), {
        kind: resource.kind,
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
  }),
]);
