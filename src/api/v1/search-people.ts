import { z } from 'zod';
import { chosenPersonSchema, personSchema } from '../../core/enrich/record-schema.ts';
import { PERSON_PRICE_TEXT, personSearch } from '../../core/operations.ts';
import { parseSearchQuery } from '../../core/search/parse.ts';
import { parsePage } from '../../core/search/parse-page.ts';
import { defineRoute, type Route, sent } from '../http/define-route.ts';
import { queryString } from '../http/query-string.ts';
import { replaySearch, respondToSearch } from '../respond-to-search.ts';
import { filterQuery, pageQuery } from '../search-query.ts';

/** The path of the specification. */
const SPECIFIED_PATH = '/personsearch/';

/** Person search, under the path of the specification and under `/v1`. */
export const searchPeopleRoutes: Route[] = [SPECIFIED_PATH, '/v1/personsearch'].map((path) =>
  defineRoute({
    method: 'get',
    path,
    summary: `People who match all filters, in pages; ${PERSON_PRICE_TEXT} per person`,
    scope: 'search',
    metered: true,
    credits: personSearch.price,
    query: filterQuery.extend(pageQuery),
    readsQuery: true,
    responses: {
      200: {
        description:
          'People in the order of their ids. `Link: rel="next"` is the next page. `X-Total-Count` is the number of all matching people (`count=true`): exact when the page charges for someone, otherwise as in `X-Total-Is` (`exact`, `about`, `below`), and absent for a filter that identifies people. `X-Partial: true` means that the wallet paid for a part of the page (`partial=true`). `X-Unknown-Values`, on the first page, has the places, industries and job titles of the filter that no lookup knows, as a query string.',
        schema: z.array(z.union([personSchema, chosenPersonSchema])),
      },
    },
    idempotent: {
      path: SPECIFIED_PATH,
      async replay(input, kept) {
        await replaySearch(input, kept);
        return sent;
      },
    },
    async handler({ keep, ...input }) {
      const { filter, page } = parseSearchQuery(queryString(input.request));
      await respondToSearch({ ...input, filter, page: parsePage(page) }, keep);
      return sent;
    },
  }),
);
