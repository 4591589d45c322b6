import { inTransaction } from '../../core/db/client.ts';
import { notFound } from '../../core/lib/errors.ts';
import { deleteNamedMapping } from '../../jobs/batch/named-mappings.sql.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { parseId } from '../http/parse-parameters.ts';
import { ownerOf } from '../owner-of.ts';

/** Deletes a named mapping. Responds 204. */
export const deleteMappingRoute = defineRoute({
  method: 'delete',
  path: '/v1/mappings/:id',
  summary: 'Delete a named mapping',
  scope: 'batches',
  params: idParams,
  responses: { 204: { description: 'The mapping is deleted.' } },
  async handler({ context, key, params }) {
    const id = parseId('Mapping', params.id);
    // A transaction checks that the key is still valid before it writes.
    const done = await inTransaction(context.sql, (tx) => deleteNamedMapping(tx, ownerOf(key), id));
    if (!done) throw notFound(`Mapping ${id}`);
    return { status: 204 };
  },
});
