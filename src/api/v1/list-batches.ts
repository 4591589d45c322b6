import { z } from 'zod';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { listBatches } from '../../jobs/batch/batches.sql.ts';
import { forEachResource } from '../batch-resource.ts';
import { definePage } from '../define-page.ts';
import { ownerOf } from '../owner-of.ts';

/** Lists the account's lists, or its exports, newest first. */
export const listBatchesRoutes = forEachResource((resource) => [
  definePage({
    path: resource.path,
    summary: `${resource.plural} of the account, newest first`,
    description: `A page of ${resource.plural.toLowerCase()}.`,
    scope: resource.scope,
    item: resource.schema,
    cursor: z.uuid(),
    read: ({ context, key }, page) =>
      listBatches(context.sql, ownerOf(key), { kind: resource.kind, ...page }),
    cursorOf: ({ id }) => id,
    view: (batch) => viewBatch(batch),
  }),
]);
