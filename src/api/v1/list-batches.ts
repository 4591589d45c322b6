import { z } from 'zod';
import { viewBatch } from '../../jobs/batch/batch-view.ts';
import { type BatchPage, batchSorts, listBatches } from '../../jobs/batch/batches.sql.ts';
import { forEachResource } from '../batch-resource.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';
import { readInTurn } from '../read-in-turn.ts';

const SEARCH_CHARACTERS_MAX = 200;

const filter = {
  search: z.string().trim().min(1).max(SEARCH_CHARACTERS_MAX).optional().meta({
    description: 'Only those whose name contains this text, ignoring case and accents.',
  }),
  sort: z
    .enum(batchSorts.flatMap((name) => [name, `-${name}` as const]))
    .default('-created_at')
    .meta({ description: 'A minus reverses the order; newest first by default.' }),
};
const rerunOf = z.uuid().optional().meta({ description: 'Only the reruns of this list.' });

function sortOf(text: string): BatchPage['sort'] {
  const by = text.replace(/^-/, '') as BatchPage['sort']['by'];
  return { by, descending: text.startsWith('-') };
}

/** Lists the account's lists, or its exports. */
export const listBatchesRoutes = forEachResource((resource) => [
  definePage({
    path: resource.path,
    summary: `${resource.plural} of the account, newest first`,
    description: `A page of ${resource.plural.toLowerCase()}.`,
    scope: resource.scope,
    item: resource.schema,
    filter: resource.kind === 'list' ? { ...filter, rerun_of: rerunOf } : filter,
    cursor: z.uuid(),
    read: (input, page) => {
      const {
        rerun_of: rerunOf = null,
        search = null,
        sort,
      } = input.query as {
        rerun_of?: string;
        search?: string;
        sort: string;
      };
      const wanted = { kind: resource.kind, rerunOf, search, sort: sortOf(sort), ...page };
      return readInTurn(input, (tx) => listBatches(tx, ownerOf(input.key), wanted));
    },
    cursorOf: ({ id }) => id,
    view: (batch) => viewBatch(batch),
  }),
]);
