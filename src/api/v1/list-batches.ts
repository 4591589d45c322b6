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
    filter:
      resource.kind === 'list'
        ? { rerun_of: z.uuid().optional().meta({ description: 'Only the reruns of this list.' }) }
        : {},
    cursor: z.uuid(),
    read: ({ context, key, query }, page) => {
      const { rerun_of: rerunOf = null } = query as { rerun_of?: string };
      return listBatches(context.sql, ownerOf(key), { kind: resource.kind, rerunOf, ...page });
    },
    cursorOf: ({ id }) => id,
    view: (batch) => viewBatch(batch),
  }),
]);
