import { z } from 'zod';
import { plainName } from '../../core/lib/plain-name.ts';
import {
  namedMappingSchema,
  nameMapping,
  viewNamedMapping,
} from '../../jobs/batch/named-mappings.ts';
import { defineRoute } from '../http/define-route.ts';
import { requireOwnBatch } from '../own-objects.ts';
import { ownerOf } from '../owner-of.ts';

/** Keeps the mapping of a list under a name, in the place of the one that has it. */
export const createMappingRoute = defineRoute({
  method: 'post',
  path: '/v1/mappings',
  summary: 'Keep the mapping of a list under a name',
  scope: 'batches',
  body: z.strictObject({
    name: z.string().overwrite(plainName).min(1).max(100),
    batch_id: z.uuid(),
  }),
  idempotent: true,
  responses: { 201: { description: 'The mapping.', schema: namedMappingSchema } },
  errors: [404],
  async handler({ context, key, body, commit }) {
    const batch = await requireOwnBatch(context, key, 'list', body.batch_id);
    return commit(async (tx) => {
      const saved = await nameMapping(tx, ownerOf(key), body.name, batch);
      return { status: 201, body: viewNamedMapping(saved) };
    });
  },
});
