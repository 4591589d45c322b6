import { must } from '../../core/lib/assert.ts';
import { parseSearchQuery } from '../../core/search/parse.ts';
import { parsePage } from '../../core/search/parse-page.ts';
import { answerSearch } from '../answer-search.ts';
import { defineRoute, none, type Route } from '../define-route.ts';
import { queryString } from '../query-string.ts';

/** Person search, under the path of the specification and beside the other calls. */
export const searchPeopleRoutes: Route[] = ['/personsearch/', '/v1/personsearch'].map((path) =>
  defineRoute({
    method: 'get',
    path,
    summary: 'The people whom all filters mean, a page at a time; 1 credit a person',
    scope: 'search',
    counted: true,
    query: none,
    readsQuery: true,
    params: none,
    async handler({ context, key, credentials, admission, request, response }) {
      const { available } = must(admission, 'admission of a counted call');
      const { filter, page } = parseSearchQuery(queryString(request));
      const called = { context, key, credentials, request, response, available };
      await answerSearch({ ...called, filter, page: parsePage(page) });
    },
  }),
);
