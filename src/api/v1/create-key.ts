import { z } from 'zod';
import type { AccountKey } from '../../core/keys/account-keys.sql.ts';
import { callersKey, ownKey } from '../../core/keys/account-keys.ts';
import type { CountersOf } from '../../core/keys/keys.sql.ts';
import {
  accountScopes,
  type CreateKeyInput,
  createKey,
  defaultLimits,
  defaultScopes,
} from '../../core/keys/keys.ts';
import { forbidden, invalidParameter } from '../../core/lib/errors.ts';
import { plainName } from '../../core/lib/plain-name.ts';
import { defineRoute } from '../http/define-route.ts';
import { keysOf, newKeySchema, viewKey } from '../key-view.ts';

/** The ranges of the columns. */
const LIMIT_MAX = 2_147_483_647;
const limit = z.number().int().min(1).max(LIMIT_MAX);

const body = z.strictObject({
  mode: z.enum(['live', 'test']),
  name: z.string().overwrite(plainName).min(1).max(100).optional(),
  scopes: z.array(z.enum(accountScopes)).min(1).max(accountScopes.length).default(defaultScopes),
  requests_per_minute: limit.optional(),
  requests_per_day: limit.optional(),
  rows_per_minute: limit.optional(),
  credits_per_day: z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
});
type Body = z.output<typeof body>;

/**
 * Creates a key of the account; only this response contains its text. A key cannot create one with higher limits than
 * its own, a person who has signed in with the password one with ten times the usual; the scopes are free to choose.
 */
export const createKeyRoute = defineRoute({
  method: 'post',
  path: '/v1/keys',
  summary: 'Create a key; it is shown once',
  scope: 'account',
  body,
  idempotent: true,
  responses: { 201: { description: 'The key, shown once.', schema: newKeySchema } },
  handler: ({ key, body: options, commit }) =>
    commit(async (tx) => {
      const maker = await callersKey(tx, key.id);
      const made = await createKey(tx, within(maker, options));
      const shown = { key: null, ...viewKey(await ownKey(tx, keysOf(key), made.id)) };
      return { status: 201, body: shown, shownOnce: { key: made.key } };
    }),
});

/**
 * Returns the settings of the new key: the default limits where the request sets none, at most its maker's. Calls of
 * the new key count towards the maker's limits too, except for a session with the account's password: its keys have
 * counters of their own.
 */
function within(maker: AccountKey, options: Body): CreateKeyInput {
  if (maker.mode === 'test' && options.mode === 'live') {
    throw forbidden('A test key can only create test keys.');
  }
  return {
    accountId: maker.accountId,
    mode: options.mode,
    name: options.name ?? null,
    scopes: options.scopes,
    ...requestLimits(maker, options),
    rowsPerMinute: atMost('rows_per_minute', options, maker.rowsPerMinute),
    creditsPerDay: atMost('credits_per_day', options, maker.creditsPerDay),
    ...(maker.isConsole ? {} : sharedCounters(maker)),
  };
}

/** A person who signs in with the account's password may give one key as many requests as ten of the usual keys. */
const OWNER_FACTOR = 10;

/** The requested limits, or the default ones as far as the maker has them. */
function requestLimits(
  { requestsPerMinute: minuteMax, requestsPerDay: dayMax, isConsole }: AccountKey,
  options: Body,
): Pick<CreateKeyInput, 'requestsPerMinute' | 'requestsPerDay'> {
  const { requestsPerMinute, requestsPerDay } = defaultLimits;
  const factor = isConsole ? OWNER_FACTOR : 1;
  const wanted = {
    requests_per_minute: options.requests_per_minute ?? Math.min(requestsPerMinute, minuteMax),
    requests_per_day: options.requests_per_day ?? Math.min(requestsPerDay, dayMax),
  };
  return {
    requestsPerMinute: atMost('requests_per_minute', wanted, factor * minuteMax),
    requestsPerDay: atMost('requests_per_day', wanted, factor * dayMax),
  };
}

function sharedCounters(maker: AccountKey): Partial<CountersOf> {
  return {
    requestsOf: maker.requestsOf,
    ...(maker.rowsPerMinute !== null && { rowsOf: maker.rowsOf }),
    ...(maker.creditsPerDay !== null && { creditsOf: maker.creditsOf }),
  };
}

type Limits = Pick<
  Body,
  'requests_per_minute' | 'requests_per_day' | 'rows_per_minute' | 'credits_per_day'
>;

/** The requested limit, or the maker's. Throws `AppError` 400 when it is above the maker's. */
function atMost<Max extends number | null>(
  field: keyof Limits,
  options: Limits,
  max: Max,
): number | Max {
  const wanted: number | Max = options[field] ?? max;
  if (wanted === null || max === null || wanted <= max) return wanted;
  const message = `must be at most ${max}, the limit of the key that creates it`;
  throw invalidParameter(field, message);
}
