import { z } from 'zod';
import { inTransaction } from '../../core/db/client.ts';
import type { AccountKey } from '../../core/keys/account-keys.sql.ts';
import {
  assertHolders,
  callersKey,
  overlapSecondsDefault,
  overlapSecondsMax,
  ownKey,
  rollKey,
} from '../../core/keys/account-keys.ts';
import { AppError } from '../../core/lib/errors.ts';
import { defineRoute, idParams, none } from '../define-route.ts';
import { keysOf, viewKey } from '../key-view.ts';
import { answerOnce } from '../shown-once-answer.ts';

const body = z.strictObject({
  overlap_seconds: z.number().int().min(0).max(overlapSecondsMax).default(overlapSecondsDefault),
});

/** Makes a new key with the same settings; the old one stays valid for the overlap. */
export const rollKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/keys/:id/roll',
  summary: 'Replace a key by a new one',
  scope: 'account',
  query: none,
  params: idParams,
  body,
  handler: (input) =>
    answerOnce(input, { name: 'key', schema: body }, async (options, alongside) => {
      const owner = keysOf(input.key);
      return inTransaction(input.context.sql, async (tx) => {
        const maker = await callersKey(tx, input.key.id);
        const old = await ownKey(tx, owner, input.params.id);
        assertHolders(old, 'replaced', 'enrich key roll PREFIX');
        if (!maker.isConsole) assertWithin(maker, old);
        const { made, key, replaced } = await rollKey(tx, owner, {
          id: old.id,
          overlapSeconds: options.overlap_seconds,
          countsOn: !maker.isConsole,
        });
        await alongside(tx, { ...viewKey(key), replaces: viewKey(replaced) });
        return made.key;
      });
    }),
});

const limits = [
  ['requests_per_minute', 'requestsPerMinute'],
  ['requests_per_day', 'requestsPerDay'],
  ['rows_per_minute', 'rowsPerMinute'],
  ['credits_per_day', 'creditsPerDay'],
] as const;

/** Whoever holds the maker gets the new key, which must not let it do more than the maker does. */
function assertWithin(maker: AccountKey, old: AccountKey): void {
  for (const [field, limit] of limits) {
    const max = maker[limit];
    if (max === null || (old[limit] ?? Number.POSITIVE_INFINITY) <= max) continue;
    throw new AppError({
      code: 'forbidden',
      status: 403,
      message: `The key ${old.prefix}... has a higher \`${field}\` than the key of this call, which is ${max}. Replace it in the web console, or by a key with the same limits.`,
    });
  }
}
