/** The keys of an account as managed by their holder: list, revoke, roll. */
import { type Database, inTransaction, type Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { type AppError, conflict, forbidden, notFound } from '../lib/errors.ts';
import { isUuid } from '../lib/ids.ts';
import {
  type AccountKey,
  expireKey,
  findCallersKey,
  findKeysByPrefixOrId,
  findOwnKey,
  type KeyOwner,
  revokeKeyById,
} from './account-keys.sql.ts';
import { type CreatedKey, createKey, type Scope } from './keys.ts';

/** A day: long enough for a deployment to change over. */
export const OVERLAP_SECONDS_DEFAULT = 86_400;
/** A key that was replaced because it leaked must not stay valid for long. */
export const OVERLAP_SECONDS_MAX = 7 * 86_400;

/**
 * Revokes a key of the account's holder and returns it. A revoked key stays revoked. Throws `AppError` 404, and
 * 403 for a key of the operator.
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
  made: CreatedKey;
  /** The new key as it is stored. */
  key: AccountKey;
  /** The old key, which ends after the overlap. */
  replaced: AccountKey;
}

/**
 * Creates a new key with the settings of this one, which stays valid for `overlapSeconds`. With `countsOn` the new
 * key continues the counters of the old one, otherwise it has its own. Throws `AppError` 404 for a key that is not
 * the owner's, 409 `invalid_state` for one that was revoked or is already ending. Call it in a transaction.
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

/** Returns the one key with this display prefix or id. Throws `AppError` 404 for none, 409 when several have the prefix. */
export async function findKeyByPrefixOrId(sql: Sql, prefixOrId: string): Promise<AccountKey> {
  const found = await findKeysByPrefixOrId(sql, prefixOrId);
  if (found.length === 0) throw keyNotFound(prefixOrId);
  return onlyOne(found, prefixOrId);
}

/**
 * Revokes the one key with this display prefix or id that is not revoked; returns its id. Throws `AppError` 404 for none, 409
 * when several have the prefix: they may be of different accounts.
 */
export async function revokeKey(sql: Sql, prefixOrId: string): Promise<string> {
  const found = await findKeysByPrefixOrId(sql, prefixOrId);
  const left = found.filter(({ revokedAt }) => revokedAt === null);
  if (left.length === 0) throw notFound(`Valid key ${prefixOrId}`);
  const { id } = onlyOne(left, prefixOrId);
  await revokeKeyById(sql, id);
  return id;
}

function onlyOne(found: readonly AccountKey[], prefixOrId: string): AccountKey {
  if (found.length === 1) return must(found[0], 'key');
  const ids = found.map(({ id }) => id).join(', ');
  throw conflict(
    'invalid_state',
    `${found.length} keys begin with ${prefixOrId}: ${ids}. Give the id of one of them.`,
  );
}

/** Returns the owner's key. Throws `AppError` 404 for an unknown key and for other owners' keys. */
export async function ownKey(sql: Sql, owner: KeyOwner, id: string): Promise<AccountKey> {
  const key = isUuid(id) ? await findOwnKey(sql, owner, id) : undefined;
  if (key === undefined) throw keyNotFound(id);
  return key;
}

/** Requires a key that is not the operator's: the scope for managing keys does not make its holder an operator. */
export function assertHolders({ scopes }: AccountKey, done: string, command: string): void {
  if (!scopes.includes('admin')) return;
  throw forbidden(
    `A key with the scope \`admin\` can only be ${done} on the server: \`${command}\`.`,
  );
}

/**
 * Returns the key of a call, which may be the console key of a password session. Throws when there is none, which
 * authentication has ruled out.
 */
export async function callersKey(sql: Sql, id: string): Promise<AccountKey> {
  return must(await findCallersKey(sql, id), `key ${id}`);
}

function keyNotFound(name: string): AppError {
  return notFound(`Key ${name}`);
}

function alreadyEnding(key: AccountKey): AppError {
  const { prefix, revokedAt, expiresAt } = key;
  const message =
    revokedAt === null
      ? `The key ${prefix}... already ends on ${expiresAt?.toISOString()}. Roll the key that replaced it.`
      : `The key ${prefix}... was revoked on ${revokedAt.toISOString()}. Create a new key.`;
  return conflict('invalid_state', message);
}
