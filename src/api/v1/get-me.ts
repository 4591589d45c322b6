import { readWallet } from '../../core/credits/credits.sql.ts';
import { must } from '../../core/lib/assert.ts';
import { readStoredBytes } from '../../jobs/batch/stored-bytes.ts';
import { defineRoute, none } from '../define-route.ts';

/** Who is calling: the key's prefix, the credits left and the limits. Free. */
export const getMeRoute = defineRoute({
  method: 'get',
  path: '/v1/me',
  summary: 'Key prefix, remaining credits, rate limits',
  scope: null,
  counted: true,
  query: none,
  params: none,
  async handler({ context, key, admission, response }) {
    const wallet = must(await readWallet(context.sql, key.accountId), 'wallet of the account');
    const stored = await readStoredBytes(context.sql, key.accountId, context.config);
    const { limits } = must(admission, 'admission of a counted call');
    const resetAt = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
    response.json({
      key: {
        prefix: key.prefix,
        mode: key.mode,
        scopes: key.scopes,
        created_at: key.createdAt.toISOString(),
      },
      credits: { remaining: wallet.balance - wallet.reserved, reserved: wallet.reserved },
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
    });
  },
});
