import { z } from 'zod';
import { lookUpCompaniesNamed, lookUpCompanyIds } from '../../core/lookups/look-up-companies.ts';
import { discloseCount } from '../../core/search/free-responses.ts';
import { defineRoute } from '../http/define-route.ts';
import { lookupQuery } from '../lookup-query.ts';
import { readLookup } from '../read-lookup.ts';

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
  async handler({ query, ...input }) {
    const { ids, q: text, limit } = query;
    const found = await readLookup(input, (graph) =>
      ids === undefined
        ? lookUpCompaniesNamed(graph, { text, limit })
        : lookUpCompanyIds(graph, ids),
    );
    const data = found.map(({ id, name, count }) => ({
      ...{ type: 'company' as const, id, name },
      ...{ count: discloseCount(count), filter: `companyId=[${id}]` },
    }));
    return { status: 200, body: { data } };
  },
});
