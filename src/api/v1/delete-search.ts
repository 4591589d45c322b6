import { inTransaction } from '../../core/db/client.ts';
import { notFound } from '../../core/lib/errors.ts';
import { deleteSavedSearch } from '../../core/search/saved-searches.sql.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Deletes a saved search. Responds 204. */
export const deleteSearchRoute = defineRoute({
  method: 'delete',
  path: '/v1/searches/:id',
  summary: 'Delete a saved search',
  scope: 'search',
  params: idParams,
  responses: { 204: { description: 'The saved search is deleted.' } },
  async handler({ context, key, params }) {
    const id = parseId('Saved search', params.id);
    // A transaction checks that the key is still valid before it writes.
    const done = await inTransaction(context.sql, (tx) => deleteSavedSearch(tx, ownerOf(key), id));
    if (!done) throw notFound(`Saved search ${id}`);
    return { status: 204 };
  },
});
