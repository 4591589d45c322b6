import { notFound } from '../../core/lib/errors.ts';
import { deleteNamedMapping } from '../../jobs/batch/named-mappings.sql.ts';
import { defineRoute, idParams } from '../define-route.ts';
import { ownerOf } from '../owner-of.ts';
import { parseId } from '../parse-parameters.ts';

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
    if (!(await deleteNamedMapping(context.sql, ownerOf(key), id))) throw notFound(`Mapping ${id}`);
    return { status: 204 };
  },
});
