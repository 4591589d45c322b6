import { z } from 'zod';
import { ambiguousRowSchema, listAmbiguousRows } from '../../jobs/list/ambiguous-rows.ts';
import { clientGone } from '../http/client-gone.ts';
import { definePage } from '../http/define-page.ts';
import { idParams } from '../http/define-route.ts';
import { mergeInTurn } from '../merge-turns.ts';
import { requireOwnBatch } from '../own-objects.ts';

/** A page reads the result up to its rows. */
const limit = { default: 20, max: 100 };

/** Lists the rows that several records fit and that are not decided, in the order of the list. The cursor is a row number. */
export const listAmbiguousRowsRoute = definePage({
  path: '/v1/batches/:id/ambiguous',
  summary: 'The ambiguous rows of a list with their candidates',
  description: 'A page of rows.',
  scope: 'batches',
  params: idParams,
  item: ambiguousRowSchema,
  limit,
  cursor: z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number),
  async read({ context, key, params, response }, { before, limit: rows, bytesMax }) {
    const batch = await requireOwnBatch(context, key, 'list', params.id);
    const page = { after: before ?? 0, limit: rows, bytesMax };
    const signal = clientGone(response);
    return mergeInTurn(batch, signal, () => listAmbiguousRows({ ...context, signal }, batch, page));
  },
  cursorOf: ({ row }) => String(row),
  view: (row) => row,
});
