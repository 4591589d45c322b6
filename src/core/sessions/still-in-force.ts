/**
 * What a call comes with is looked at when its headers come, and its body, or its turn, may come much
 * later. So whatever writes, charges or makes something for a caller asks once more, where it counts.
 */
import type { Sql } from '../db/client.ts';
import { type CallCredentials, keyRevoked } from '../keys/keys.ts';
import type { AppError } from '../lib/errors.ts';
import { findEndedCredentials, holdCredentials } from './sessions.sql.ts';
import { sessionExpired } from './sessions.ts';

/**
 * Requires that the key of a call, and the session that presented it, are in force, and holds them until
 * the transaction ends: a revocation, or a change of the password, comes before the transaction and is
 * seen, or waits for it. Throws `AppError` 401 `session_expired` or 403 `key_revoked`.
 */
export async function assertStillInForce(tx: Sql, credentials: CallCredentials): Promise<void> {
  const held = await holdCredentials(tx, credentials);
  if (!held.session || !held.key) throw refusalOf(held);
}

/** The refusal of a call whose charge found that it came with what is not in force any more. */
export async function credentialsEnded(sql: Sql, credentials: CallCredentials): Promise<AppError> {
  return refusalOf(await holdCredentials(sql, credentials));
}

function refusalOf({ session }: { session: boolean }): AppError {
  return session ? keyRevoked() : sessionExpired();
}

/** Those of these that are not in force any more. */
export async function findEnded<Each extends CallCredentials>(
  sql: Sql,
  credentials: readonly Each[],
): Promise<Each[]> {
  const places = await findEndedCredentials(sql, credentials);
  return credentials.filter((_, place) => places.includes(place));
}
