import { revokeOwnKey } from '../../core/keys/account-keys.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { keySchema, keysOf, viewKey } from '../key-view.ts';

/** Revokes a key: every process refuses its next call. Its batches continue. */
export const deleteKeyRoute = defineRoute({
  method: 'delete',
  path: '/v1/keys/:id',
  summary: 'Revoke a key',
  scope: 'account',
  params: idParams,
  responses: { 200: { description: 'The revoked key.', schema: keySchema } },
  async handler({ context, key, params }) {
    const revoked = await revokeOwnKey(context.sql, keysOf(key), params.id);
    return { status: 200, body: viewKey(revoked) };
  },
});
