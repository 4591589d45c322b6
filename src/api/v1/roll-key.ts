import type { AccountKey } from '../../core/keys/account-keys.sql.ts';
import { assertHolders, callersKey, ownKey, rollKey } from '../../core/keys/account-keys.ts';
import { forbidden } from '../../core/lib/errors.ts';
import { defineRoute, idParams } from '../http/define-route.ts';
import { keysOf, rolledKeySchema, viewKey } from '../key-view.ts';
import { overlapBody } from '../overlap.ts';

/** Creates a new key with the same settings; the old one stays valid for the overlap. */
export const rollKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/keys/:id/roll',
  summary: 'Replace a key with a new one',
  scope: 'account',
  params: idParams,
  body: overlapBody,
  idempotent: true,
  responses: { 201: { description: 'The new key, shown once.', schema: rolledKeySchema } },
  handler: ({ key, params, body, commit }) =>
    commit(async (tx) => {
      const owner = keysOf(key);
      const maker = await callersKey(tx, key.id);
      const old = await ownKey(tx, owner, params.id);
      assertHolders(old, 'replaced', 'enrich key roll PREFIX');
      if (!maker.isConsole) assertWithin(maker, old);
      const rolled = await rollKey(tx, owner, {
        id: old.id,
        overlapSeconds: body.overlap_seconds,
        countsOn: !maker.isConsole,
      });
      const shown = { key: null, ...viewKey(rolled.key), replaces: viewKey(rolled.replaced) };
      return { status: 201, body: shown, shownOnce: { key: rolled.made.key } };
    }),
});

const limits = [
  ['requests_per_minute', 'requestsPerMinute'],
  ['requests_per_day', 'requestsPerDay'],
  ['rows_per_minute', 'rowsPerMinute'],
  ['credits_per_day', 'creditsPerDay'],
] as const;

/** Throws `AppError` 403 when the old key has higher limits than its caller, who would get them by rolling it. */
function assertWithin(maker: AccountKey, old: AccountKey): void {
  for (const [field, limit] of limits) {
    const max = maker[limit];
    if (max === null || (old[limit] ?? Number.POSITIVE_INFINITY) <= max) continue;
    throw forbidden(
      `The key ${old.prefix}... has a higher \`${field}\` than the key of this call, which has ${max}. Roll it in the web console, or with a key that has its limits.`,
    );
  }
}
