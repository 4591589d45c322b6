/** Creates and finds API keys. */
import { uuidv7 } from 'uuidv7';
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { AppError, conflict, forbidden } from '../lib/errors.ts';
import { tooManyKeysToday } from '../limits/limits.ts';
import { displayPrefix, generateKey, hashKey, type KeyMode, parseKey } from './key-format.ts';
import {
  type ApiKey,
  type Caller,
  type CountersOf,
  countKeys,
  findCallers,
  findConsoleKey,
  insertConsoleKey,
  insertKey,
  lockKeysOf,
  type NewKey,
} from './keys.sql.ts';

/** Scopes that the holder of an account may give a key. */
export const accountScopes = [
  'enrich',
  'search',
  'batches',
  'exports',
  'account',
  'reconcile',
] as const;
/** All scopes. `admin` reads the whole service, so only its operator gives it. */
export const scopes = [...accountScopes, 'admin'] as const;
export type Scope = (typeof scopes)[number];

export const defaultScopes: (typeof accountScopes)[number][] = [
  'enrich',
  'search',
  'batches',
  'exports',
];
/** Scopes of people who sign in with the account's password. */
const consoleScopes: Scope[] = [...defaultScopes, 'account'];

/** The limits of a key that is made without any. */
export const defaultLimits = { requestsPerMinute: 60, requestsPerDay: 10_000 } as const;

/** Without `requestsOf` and the others the key has its own counters. */
export interface CreateKeyInput extends Partial<CountersOf> {
  accountId: string;
  mode: KeyMode;
  scopes?: Scope[];
  requestsPerMinute?: number;
  requestsPerDay?: number;
  rowsPerMinute?: number | null;
  /** Maximum credits that it may spend in a UTC day; null or absent for none. */
  creditsPerDay?: number | null;
  name?: string | null;
}

/** A key that was just created; `key` is its only copy outside its holder. */
export interface CreatedKey {
  id: string;
  key: string;
  prefix: string;
}

/** A team with more keys than this has lost track of them. */
export const VALID_KEYS_MAX = 100;

/** Rows of revoked keys are kept: one that makes and revokes keys all day would store half a million. */
const KEYS_PER_DAY_MAX = 1_000;

/**
 * Creates a key. Throws `AppError` 409 `too_many_keys` when the account has its maximum, and 429 when it has made as many today
 * as it may; exact inside a transaction, which serialises concurrent creations.
 */
export async function createKey(sql: Sql, input: CreateKeyInput): Promise<CreatedKey> {
  await lockKeysOf(sql, input.accountId);
  const { valid, today } = await countKeys(sql, input.accountId);
  if (valid >= VALID_KEYS_MAX) throw tooManyKeys();
  if (today >= KEYS_PER_DAY_MAX) throw tooManyKeysToday(KEYS_PER_DAY_MAX);
  const { key, stored } = draftKey(input);
  await insertKey(sql, stored, input.creditsPerDay ?? null);
  return { id: stored.id, key, prefix: stored.prefix };
}

/**
 * Returns the id of the console key, which people who sign in with a password use. It is created at the first
 * sign-in, has all scopes of an account, and its text is discarded.
 */
export async function consoleKeyOf(sql: Sql, accountId: string, mode: KeyMode): Promise<string> {
  const { stored } = draftKey({ accountId, mode, scopes: consoleScopes, name: 'Web console' });
  await insertConsoleKey(sql, stored);
  return must(await findConsoleKey(sql, accountId, mode), 'console key of the account');
}

/** Generates a key and its stored form. */
function draftKey(input: CreateKeyInput): { key: string; stored: NewKey } {
  const key = generateKey(input.mode);
  const id = uuidv7();
  const stored = {
    id,
    accountId: input.accountId,
    mode: input.mode,
    prefix: displayPrefix(key),
    keySha256: hashKey(key),
    scopes: input.scopes ?? defaultScopes,
    requestsPerMinute: input.requestsPerMinute ?? defaultLimits.requestsPerMinute,
    requestsPerDay: input.requestsPerDay ?? defaultLimits.requestsPerDay,
    rowsPerMinute: input.rowsPerMinute ?? null,
    requestsOf: input.requestsOf ?? id,
    rowsOf: input.rowsOf ?? id,
    creditsOf: input.creditsOf ?? id,
    name: input.name ?? null,
  };
  return { key, stored };
}

/**
 * Returns the hash of a presented key. Throws `AppError` `invalid_key` (401) for one that is absent or malformed:
 * a mistyped key is refused here, without a query.
 */
export function readKey(presented: string | undefined): Buffer {
  if (presented === undefined || parseKey(presented) === null) throw invalidKey();
  return hashKey(presented);
}

/**
 * Returns the stored key with this hash, and the credits of its account. Throws `AppError` `invalid_key` (401) when it is
 * unknown, `key_revoked` (403) when it was revoked.
 */
export async function authenticate(sql: Sql, keySha256: Buffer): Promise<Caller> {
  const [caller] = await findCallers(sql, [keySha256.toString('hex')]);
  if (!isValid(caller)) throw refusalOf(caller);
  return caller;
}

/** Returns true for a caller whose key is known and not revoked. */
export function isValid<Found extends Caller>(caller: Found | undefined): caller is Found {
  return caller !== undefined && caller.key.revokedAt === null;
}

/** Returns the error for a caller that is not valid. */
export function refusalOf(caller: Caller | undefined): AppError {
  return caller === undefined ? invalidKey() : keyRevoked();
}

/**
 * Throws `AppError` 403 for a key of the reconciliation service. It is in addresses, which others may read: sent in any other
 * way it is good for nothing.
 */
export function refuseAddressKey({ scopes }: Pick<ApiKey, 'scopes'>): void {
  if (!scopes.every((one) => one === 'reconcile')) return;
  throw forbidden('This key is for the address of the reconciliation service. Use another one.');
}

function tooManyKeys(): AppError {
  return conflict(
    'too_many_keys',
    `This account has reached the maximum of ${VALID_KEYS_MAX} valid keys. Revoke one that is no longer used: \`DELETE /v1/keys/:id\`, or \`enrich key revoke PREFIX\`.`,
    { extensions: { keys_max: VALID_KEYS_MAX } },
  );
}

export function keyRevoked(): AppError {
  return new AppError({
    code: 'key_revoked',
    status: 403,
    message: 'This key was revoked. Use another key of the account.',
  });
}

/** Returns the error for a key that is absent, malformed or unknown. */
function invalidKey(): AppError {
  return new AppError({
    code: 'invalid_key',
    status: 401,
    message:
      'Send a valid key in the header `Authorization: Bearer svc_live_...`. Create one with `enrich key create`.',
  });
}
