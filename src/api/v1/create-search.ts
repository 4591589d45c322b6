import { z } from 'zod';
import { plainName } from '../../core/lib/plain-name.ts';
import {
  savedSearchSchema,
  saveSearch,
  viewSavedSearch,
} from '../../core/search/saved-searches.ts';
import { exportOptions } from '../export-options.ts';
import { defineRoute } from '../http/define-route.ts';
import { ownerOf } from '../owner-of.ts';

/** Keeps a search under a name, in the place of the one that has it. */
export const createSearchRoute = defineRoute({
  method: 'post',
  path: '/v1/searches',
  summary: 'Keep a search under a name',
  scope: 'search',
  body: z.strictObject({
    name: z.string().overwrite(plainName).min(1).max(100),
    filter: exportOptions.shape.filter,
  }),
  idempotent: true,
  responses: { 201: { description: 'The saved search.', schema: savedSearchSchema } },
  errors: [409],
  async handler({ key, body, commit }) {
    return commit(async (tx) => {
      const saved = await saveSearch(tx, ownerOf(key), body);
      return { status: 201, body: viewSavedSearch(saved) };
    });
  },
});
