/** The keys of an account in the hands of its holder: list, revoke, replace by a new one. */
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { AppError } from '../lib/errors.ts';
import {
  type AccountKey,
  expireKey,
  findCallersKey,
  findKeysByPrefix,
  findOwnKey,
  type KeyOwner,
  revokeKeyById,
} from './account-keys.sql.ts';
import { createKey, type NewlyMadeKey, type Scope } from './keys.ts';

/** A day: long enough for a deployment to change over. */
export const overlapSecondsDefault = 86_400;
/** A key that was replaced because it leaked must not live on for long. */
export const overlapSecondsMax = 7 * 86_400;

/**
 * Revokes a key of the account's holder and returns it. A key already revoked stays so. Throws `AppError` 404,
 * and 403 for a key of the operator.
 */
export async function revokeOwnKey(
  sql: Database,
  owner: KeyOwner,
  id: string,
): Promise<AccountKey> {
  return inTransaction(sql, async (tx) => {
    assertHolders(await ownKey(tx, owner, id), 'revoked', 'enrich key revoke PREFIX');
    await revokeKeyById(tx, id);
    return ownKey(tx, owner, id);
  });
}

export interface RolledKey {
  made: NewlyMadeKey;
  /** The new key as it is stored. */
  key: AccountKey;
  /** The old one, which ends after the overlap. */
  replaced: AccountKey;
}

/**
 * Makes a new key with the settings of this one, which stays valid for `overlapSeconds`. With `countsOn` the new
 * key goes on in the counters of the old one, else it has its own. Throws `AppError` 404 for a key that is not
 * the owner's, 409 `invalid_state` for one that was revoked or ends already. Call in a transaction.
 */
export async function rollKey(
  tx: Sql,
  owner: KeyOwner,
  { id, overlapSeconds, countsOn }: { id: string; overlapSeconds: number; countsOn: boolean },
): Promise<RolledKey> {
  const old = await ownKey(tx, owner, id);
  if (old.revokedAt !== null || old.expiresAt !== null) throw alreadyEnding(old);
  const { requestsOf, rowsOf, creditsOf, ...settings } = old;
  const counters = countsOn ? { requestsOf, rowsOf, creditsOf } : {};
  const made = await createKey(tx, { ...settings, ...counters, scopes: old.scopes as Scope[] });
  await expireKey(tx, id, overlapSeconds);
  return { made, key: await ownKey(tx, owner, made.id), replaced: await ownKey(tx, owner, id) };
}

/** The one key with this display prefix. Throws `AppError` 404 for none, 409 when several have it. */
export async function findKeyByPrefix(sql: Sql, prefix: string): Promise<AccountKey> {
  const found = await findKeysByPrefix(sql, prefix);
  if (found.length === 0) throw keyNotFound(prefix);
  if (found.length === 1) return must(found[0], 'key');
  throw new AppError({
    code: 'invalid_state',
    status: 409,
    message: `${found.length} keys begin with ${prefix}; use the API with the id of one.`,
  });
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The owner's key. Throws `AppError` 404 for one that is not there and for anybody else's. */
export async function ownKey(sql: Sql, owner: KeyOwner, id: string): Promise<AccountKey> {
  const key = UUID.test(id) ? await findOwnKey(sql, owner, id) : undefined;
  if (key === undefined) throw keyNotFound(id);
  return key;
}

/** Requires a key that is not the operator's: who may manage keys is not thereby an operator. */
export function assertHolders({ scopes }: AccountKey, done: string, command: string): void {
  if (!scopes.includes('admin')) return;
  throw new AppError({
    code: 'forbidden',
    status: 403,
    message: `A key with the scope \`admin\` is ${done} on the server alone: \`${command}\`.`,
  });
}

/**
 * The key that a call carries, also the one that the console keeps for whoever signed in with a password.
 * Throws when there is none, which authentication has ruled out.
 */
export async function callersKey(sql: Sql, id: string): Promise<AccountKey> {
  return must(await findCallersKey(sql, id), `key ${id}`);
}

function keyNotFound(name: string): AppError {
  return new AppError({ code: 'not_found', status: 404, message: `There is no key ${name}.` });
}

function alreadyEnding(key: AccountKey): AppError {
  const ends = key.revokedAt ?? key.expiresAt;
  return new AppError({
    code: 'invalid_state',
    status: 409,
    message: `The key ${key.prefix}... ends on ${ends?.toISOString()} already: roll the key that replaced it.`,
  });
}
