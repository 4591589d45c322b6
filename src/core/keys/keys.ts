/** Making, finding and revoking API keys. */
import { uuidv7 } from 'uuidv7';
import type { Sql } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import { displayPrefix, generateKey, hashKey, type KeyMode, parseKey } from './key-format.ts';
import {
  type ApiKey,
  countKeysInForce,
  findKeyByHash,
  insertKey,
  lockKeysOf,
  revokeKeysByPrefix,
} from './queries.ts';

/** What a key may be allowed to do. */
export const scopes = ['enrich', 'search', 'batches', 'exports', 'account'] as const;
export type Scope = (typeof scopes)[number];

export const defaultScopes: Scope[] = ['enrich', 'search', 'batches', 'exports'];

export interface CreateKeyInput {
  accountId: string;
  mode: KeyMode;
  scopes?: Scope[];
  requestsPerMinute?: number;
  requestsPerDay?: number;
  rowsPerMinute?: number | null;
  /** Credits that it may spend in a UTC day; null or absent for no bound. */
  creditsPerDay?: number | null;
  name?: string | null;
}

/** A key that was just made; `key` is the only time its text exists outside its holder. */
export interface NewlyMadeKey {
  id: string;
  key: string;
  prefix: string;
}

/** A team with more keys than this has lost count of them. */
export const KEYS_IN_FORCE_MAX = 100;

/**
 * Makes a key. Throws `AppError` 409 `too_many_keys` when the account has as many as it may; exact
 * inside a transaction, where two makers wait for each other.
 */
export async function createKey(sql: Sql, input: CreateKeyInput): Promise<NewlyMadeKey> {
  await lockKeysOf(sql, input.accountId);
  if ((await countKeysInForce(sql, input.accountId)) >= KEYS_IN_FORCE_MAX) throw tooManyKeys();
  const key = generateKey(input.mode);
  const id = uuidv7();
  const prefix = displayPrefix(key);
  const stored = {
    id,
    accountId: input.accountId,
    mode: input.mode,
    prefix,
    keySha256: hashKey(key),
    scopes: input.scopes ?? defaultScopes,
    requestsPerMinute: input.requestsPerMinute ?? 60,
    requestsPerDay: input.requestsPerDay ?? 10_000,
    rowsPerMinute: input.rowsPerMinute ?? null,
    name: input.name ?? null,
  };
  await insertKey(sql, stored, input.creditsPerDay ?? null);
  return { id, key, prefix };
}

/**
 * The stored key that a caller presented. Throws `AppError` `invalid_key` (401) for a key that is
 * absent, malformed or unknown, `key_revoked` (403) for one that was revoked.
 */
export async function authenticate(sql: Sql, presented: string | undefined): Promise<ApiKey> {
  if (presented === undefined || parseKey(presented) === null) throw invalidKey();
  const key = await findKeyByHash(sql, hashKey(presented));
  if (key === undefined) throw invalidKey();
  if (key.revokedAt !== null) throw keyRevoked();
  return key;
}

/** Revokes a key by its display prefix. Throws `AppError` `not_found` when no live key has it. */
export async function revokeKey(sql: Sql, prefix: string): Promise<string[]> {
  const ids = await revokeKeysByPrefix(sql, prefix);
  if (ids.length > 0) return ids;
  throw new AppError({
    code: 'not_found',
    status: 404,
    message: `No key in force starts with ${prefix}.`,
  });
}

function tooManyKeys(): AppError {
  return new AppError({
    code: 'too_many_keys',
    status: 409,
    message: `This account has ${KEYS_IN_FORCE_MAX} keys in force, as many as it may. Revoke one that is not used any more: \`DELETE /v1/keys/:id\`, or \`enrich key revoke PREFIX\`.`,
    extensions: { keys_max: KEYS_IN_FORCE_MAX },
  });
}

/** The refusal of a key that was revoked. */
export function keyRevoked(): AppError {
  return new AppError({
    code: 'key_revoked',
    status: 403,
    message: 'This key was revoked. Use another key of the account.',
  });
}

/** The refusal of a key that is absent, malformed or unknown. */
export function invalidKey(): AppError {
  return new AppError({
    code: 'invalid_key',
    status: 401,
    message:
      'Send a valid key in the header `Authorization: Bearer svc_live_...`. Make one with `enrich key create`.',
  });
}
