import { z } from 'zod';
import { listSavedSearches } from '../../core/search/saved-searches.sql.ts';
import { savedSearchSchema, viewSavedSearch } from '../../core/search/saved-searches.ts';
import { definePage } from '../http/define-page.ts';
import { ownerOf } from '../owner-of.ts';

/** Lists the saved searches of the account, newest first. */
export const listSearchesRoute = definePage({
  path: '/v1/searches',
  summary: 'Saved searches of the account, newest first',
  description: 'A page of saved searches.',
  scope: 'search',
  item: savedSearchSchema,
  inTurn: true,
  cursor: z.uuid(),
  read: ({ context, key }, page) => listSavedSearches(context.sql, ownerOf(key), page),
  cursorOf: ({ id }) => id,
  view: viewSavedSearch,
});
