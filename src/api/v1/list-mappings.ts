import { z } from 'zod';
import { listNamedMappings } from '../../jobs/batch/named-mappings.sql.ts';
import { namedMappingSchema, viewNamedMapping } from '../../jobs/batch/named-mappings.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';

/** Lists the named mappings of the account, newest first. */
export const listMappingsRoute = definePage({
  path: '/v1/mappings',
  summary: 'Named mappings of the account, newest first',
  description: 'A page of named mappings.',
  scope: 'batches',
  item: namedMappingSchema,
  filter: { operation: z.string().max(100).optional() },
  inTurn: true,
  cursor: z.uuid(),
  read: ({ context, key, query }, page) =>
    listNamedMappings(context.sql, ownerOf(key), { operation: query.operation ?? null, ...page }),
  cursorOf: ({ id }) => id,
  view: viewNamedMapping,
});
