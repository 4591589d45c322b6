import { z } from 'zod';
import { listKeys } from '../../core/keys/account-keys.sql.ts';
import { defineRoute, none } from '../define-route.ts';
import { keysOf, viewKey } from '../key-view.ts';

/** The account's keys, newest first, those that ended too. */
export const listKeysRoute = defineRoute({
  method: 'get',
  path: '/v1/keys',
  summary: 'Keys of the account, newest first',
  scope: 'account',
  query: z.strictObject({
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: z.uuid().optional(),
  }),
  params: none,
  async handler({ context, key, query, response }) {
    const keys = await listKeys(context.sql, keysOf(key), {
      before: query.cursor ?? null,
      limit: query.limit + 1,
    });
    const page = keys.slice(0, query.limit);
    response.json({
      data: page.map(viewKey),
      next_cursor: keys.length > query.limit ? (page.at(-1)?.id ?? null) : null,
    });
  },
});
