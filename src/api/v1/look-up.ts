import { z } from 'zod';
import type { Sql } from '../../core/db/client.ts';
import { type LookupKind, lookUp, lookupKinds } from '../../core/lookups/look-up.ts';
import { defineRoute, none, type Route } from '../define-route.ts';

const summaries: Record<LookupKind, string> = {
  'job-titles': 'Job titles that a text may mean; ids are those of `positionIds`',
  locations: 'Cities that a text may mean; ids are those of `locationIds`',
  industries: 'Industries that a text may mean; ids are those of `industryIds`',
};

/** Longer texts are no beginning of a name. */
const TEXT_LENGTH_MAX = 200;

/** Autocomplete, one route for each kind of value. Free, and counted by the key's limits. */
export const lookUpRoutes: Route[] = lookupKinds.map((kind) =>
  defineRoute({
    method: 'get',
    path: `/v1/lookups/${kind}`,
    summary: summaries[kind],
    scope: null,
    counted: true,
    query: z.strictObject({
      q: z.string().max(TEXT_LENGTH_MAX).default(''),
      limit: z.coerce.number().int().min(1).max(100).default(10),
    }),
    params: none,
    async handler({ context, key, query, response }) {
      const { replicas, sql, testSql } = context;
      const asked = { text: query.q, limit: query.limit };
      const read = (graph: Sql) => lookUp(graph, kind, asked);
      const live = key.mode === 'live';
      const data = live ? await replicas.read('any', sql, read) : await read(testSql);
      response.json({ data });
    },
  }),
);
