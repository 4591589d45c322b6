import { revokeOwnKey } from '../../core/keys/account-keys.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { keysOf, viewKey } from '../key-view.ts';

/** Revokes a key: its next call is refused, in every process. Its batches go on. */
export const deleteKeyRoute = defineRoute({
  method: 'delete',
  path: '/v1/keys/:id',
  summary: 'Revoke a key',
  scope: 'account',
  query: none,
  params: idParams,
  async handler({ context, key, params, response }) {
    response.json(viewKey(await revokeOwnKey(context.sql, keysOf(key), params.id)));
  },
});
