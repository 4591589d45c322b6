import { z } from 'zod';
import type { Sql } from '../../core/db/client.ts';
import { lookUpCompaniesNamed, lookUpCompanyIds } from '../../core/lookups/look-up-companies.ts';
import { discloseCount } from '../../core/search/free-responses.ts';
import { defineRoute } from '../http/define-route.ts';
import { lookupQuery } from '../lookup-query.ts';

const companySchema = z.strictObject({
  data: z.array(
    z.strictObject({
      type: z.literal('company'),
      id: z.number().int(),
      name: z.string(),
      count: z.number().int().meta({
        description: 'About how many people work there, as in a preview; 0 for fewer than ten.',
      }),
      filter: z.string().meta({ description: 'The filter of a search that finds them.' }),
    }),
  ),
});

/** Autocomplete of companies. Free, and metered by the key's limits. */
export const lookUpCompaniesRoute = defineRoute({
  method: 'get',
  path: '/v1/lookups/companies',
  summary: 'Companies by name or domain, with the ids for `companyId`',
  scope: null,
  metered: true,
  query: lookupQuery,
  responses: { 200: { description: 'Companies, best first.', schema: companySchema } },
  async handler({ context, key, query }) {
    const { ids, q: text, limit } = query;
    const read = (graph: Sql) =>
      ids === undefined
        ? lookUpCompaniesNamed(graph, { text, limit })
        : lookUpCompanyIds(graph, ids);
    const { replicas, sql, testSql } = context;
    const found = key.mode === 'live' ? await replicas.read('any', sql, read) : await read(testSql);
    const data = found.map(({ id, name, count }) => ({
      ...{ type: 'company' as const, id, name },
      ...{ count: discloseCount(count), filter: `companyId=[${id}]` },
    }));
    return { status: 200, body: { data } };
  },
});
