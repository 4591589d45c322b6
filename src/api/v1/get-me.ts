import { z } from 'zod';
import { readWallet } from '../../core/credits/credits.sql.ts';
import { readOwnedDays } from '../../core/credits/owned.sql.ts';
import { must } from '../../core/lib/assert.ts';
import { readStoredBytes } from '../../jobs/batch/stored-bytes.ts';
import { defineRoute } from '../http/define-route.ts';

const integer = z.number().int();
const text = z.string();
const time = z.iso.datetime();
const limit = z.strictObject({ limit: integer, remaining: integer, reset_at: time });

const meSchema = z.strictObject({
  key: z.strictObject({
    prefix: text,
    mode: z.enum(['live', 'test']),
    scopes: z.array(text),
    created_at: time,
  }),
  credits: z.strictObject({ remaining: integer, reserved: integer }),
  owned_days: integer.meta({
    description:
      'Days for which a person who was paid for is not charged again; 0: every delivery is charged.',
  }),
  storage: z.strictObject({
    stored_bytes: integer.meta({
      description:
        'Bytes of lists, results and exports, and of open uploads at `bytes_max` each. A list that has not ended counts with the maximum size of its result, an export with 11 bytes for each person of `max_results`.',
    }),
    stored_bytes_max: integer.meta({
      description:
        'Maximum of `stored_bytes`. Beyond it new lists and exports are refused with `storage_full`; a list that may not fit fails when it is split.',
    }),
  }),
  rate_limits: z.strictObject({
    minute: limit,
    day: limit,
    rows: z.strictObject({ limit: integer.nullable() }),
    credits_today: z.strictObject({ remaining: integer.nullable() }),
  }),
});

/** Returns the caller's key prefix, remaining credits and limits. Free. */
export const getMeRoute = defineRoute({
  method: 'get',
  path: '/v1/me',
  summary: 'Key prefix, remaining credits, rate limits',
  scope: null,
  metered: true,
  responses: { 200: { description: 'The caller.', schema: meSchema } },
  async handler({ context, key, admission }) {
    const wallet = must(await readWallet(context.sql, key.accountId), 'wallet of the account');
    const ownedDays = must(
      await readOwnedDays(context.sql, key.accountId),
      'wallet of the account',
    );
    const stored = await readStoredBytes(context.sql, key.accountId, context.config);
    const { limits } = must(admission, 'admission of a metered call');
    const resetAt = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    return {
      status: 200,
      body: {
        key: {
          prefix: key.prefix,
          mode: key.mode,
          scopes: key.scopes,
          created_at: key.createdAt.toISOString(),
        },
        credits: { remaining: wallet.balance - wallet.reserved, reserved: wallet.reserved },
        owned_days: ownedDays,
        storage: { stored_bytes: stored, stored_bytes_max: context.config.storedBytesMax },
        rate_limits: {
          minute: {
            limit: key.requestsPerMinute,
            remaining: limits.minuteRemaining,
            reset_at: resetAt(limits.minuteResetSeconds),
          },
          day: {
            limit: key.requestsPerDay,
            remaining: limits.dayRemaining,
            reset_at: resetAt(limits.dayResetSeconds),
          },
          rows: { limit: key.rowsPerMinute },
          credits_today: { remaining: key.creditsLeftToday },
        },
      },
    };
  },
});
