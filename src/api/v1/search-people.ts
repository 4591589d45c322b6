import { z } from 'zod';
import { personSchema } from '../../core/graph/record-schema.ts';
import { personSearch } from '../../core/operations.ts';
import { parseSearchQuery } from '../../core/search/parse.ts';
import { parsePage } from '../../core/search/parse-page.ts';
import { answerSearch, replaySearch } from '../answer-search.ts';
import { defineRoute, type Route, sent } from '../define-route.ts';
import { queryString } from '../query-string.ts';
import { filterQuery, pageQuery } from '../search-query.ts';

/** Person search, under the path of the specification and beside the other calls. */
export const searchPeopleRoutes: Route[] = ['/personsearch/', '/v1/personsearch'].map((path) =>
  defineRoute({
    method: 'get',
    path,
    summary: 'The people whom all filters mean, a page at a time; 1 credit a person',
    scope: 'search',
    counted: true,
    credits: personSearch.price,
    query: filterQuery.extend(pageQuery),
    readsQuery: true,
    responses: {
      200: {
        description:
          'People, in the order of their ids. `Link: rel="next"` leads to the next page, `X-Total-Count` tells all of them (`count=true`): exactly when the page holds somebody, else as `X-Total-Is` says (`exact`, `about`, `below`) and not for a filter that names people, `X-Partial: true` says that the wallet paid a part (`partial=true`).',
        schema: z.array(personSchema),
      },
    },
    idempotent: {
      async replay(input, kept) {
        await replaySearch(input, kept);
        return sent;
      },
    },
    async handler({ keep, ...input }) {
      const { filter, page } = parseSearchQuery(queryString(input.request));
      await answerSearch({ ...input, filter, page: parsePage(page) }, keep);
      return sent;
    },
  }),
);
