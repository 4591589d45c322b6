import { breakDown, breakdownSchema } from '../../core/search/breakdown.ts';
import { assertCountedForFree } from '../../core/search/free-responses.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { prepareFilter } from '../../core/search/prepare.ts';
import { previewSchema, previewSearch } from '../../core/search/preview.ts';
import { defineRoute, type Route } from '../http/define-route.ts';
import { queryString } from '../http/query-string.ts';
import { runSearch } from '../run-search.ts';
import { filterQuery } from '../search-query.ts';

/** Returns rounded counts of the people of a search and of their fields. Free, and metered by the key's limits. */
export const previewSearchRoutes: Route[] = [
  '/personsearch/preview',
  '/v1/personsearch/preview',
].map((path) =>
  defineRoute({
    method: 'get',
    path,
    summary: 'Estimate how many people a search finds, their price, and which fields they have',
    scope: 'search',
    metered: true,
    query: filterQuery,
    readsQuery: true,
    responses: { 200: { description: 'Rounded counts.', schema: previewSchema } },
    async handler({ context, key, request, response }) {
      const filter = parseFilter(queryString(request));
      assertCountedForFree(filter);
      const preview = await runSearch({ context, key, response }, async (graph, owner) =>
        previewSearch(graph, await prepareFilter(graph, filter, owner)),
      );
      return { status: 200, body: preview };
    },
  }),
);

/** Returns the groups of people that a search finds. Free, and metered by the key's limits. */
export const breakDownSearchRoute = defineRoute({
  method: 'get',
  path: '/v1/personsearch/breakdown',
  summary: 'Countries, industries, company sizes and kinds of the people that a search finds',
  scope: 'search',
  metered: true,
  query: filterQuery,
  readsQuery: true,
  responses: {
    200: { description: 'Rounded counts of groups of ten and more.', schema: breakdownSchema },
  },
  async handler({ context, key, request, response }) {
    const filter = parseFilter(queryString(request));
    assertCountedForFree(filter);
    const body = await runSearch({ context, key, response }, async (graph, owner) =>
      breakDown(graph, await prepareFilter(graph, filter, owner)),
    );
    return { status: 200, body };
  },
});
