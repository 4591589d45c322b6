import { z } from 'zod';
import type { Sql } from '../../core/db/client.ts';
import { type LookupKind, lookUp, lookUpIds, lookupKinds } from '../../core/lookups/look-up.ts';
import { defineRoute, type Route } from '../define-route.ts';

const summaries: Record<LookupKind, string> = {
  'job-titles': 'Job titles that a text may mean; ids are those of `positionIds`',
  locations: 'Cities that a text may mean; ids are those of `locationIds`',
  industries: 'Industries that a text may mean; ids are those of `industryIds`',
};

/** Longer texts are no beginning of a name. */
const TEXT_LENGTH_MAX = 200;

/** Ids of one call. */
const IDS_MAX = 100;
const ID_MAX = 2 ** 31 - 1;

const query = z
  .strictObject({
    q: z.string().max(TEXT_LENGTH_MAX).default(''),
    ids: z
      .string()
      .regex(/^\d+(,\d+)*$/, 'must be ids, as in 12,15')
      .transform((text) => text.split(',').map(Number))
      .refine((ids) => ids.length <= IDS_MAX, `takes at most ${IDS_MAX} ids`)
      .refine((ids) => ids.every((id) => id <= ID_MAX), 'holds a number that is no id')
      .optional()
      .describe('Instead of `q`: the values of these ids, as in `12,15`'),
    limit: z.coerce.number().int().min(1).max(100).default(10),
  })
  .refine(({ q, ids }) => ids === undefined || q === '', {
    path: ['ids'],
    message: 'cannot stand beside `q`: ask for a text or for ids',
  });

const lookupSchema = z.strictObject({
  data: z.array(
    z.strictObject({ id: z.number().int(), name: z.string(), count: z.number().int() }),
  ),
});

/** Autocomplete, one route for each kind of value. Free, and counted by the key's limits. */
export const lookUpRoutes: Route[] = lookupKinds.map((kind) =>
  defineRoute({
    method: 'get',
    path: `/v1/lookups/${kind}`,
    summary: summaries[kind],
    scope: null,
    counted: true,
    query,
    responses: { 200: { description: 'Values, best first.', schema: lookupSchema } },
    async handler({ context, key, query }) {
      const { replicas, sql, testSql } = context;
      const { ids, q: text, limit } = query;
      const read = (graph: Sql) =>
        ids === undefined ? lookUp(graph, kind, { text, limit }) : lookUpIds(graph, kind, ids);
      const live = key.mode === 'live';
      const data = live ? await replicas.read('any', sql, read) : await read(testSql);
      return { status: 200, body: { data } };
    },
  }),
);
