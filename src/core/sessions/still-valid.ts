/**
 * Rechecks credentials. They are checked when the headers of a call arrive, but its body, or its turn, may come
 * much later. So code that writes, charges or creates for a caller checks again at that point.
 */

import type { CallCredentials } from '../call-credentials.ts';
import type { Sql } from '../db/client.ts';
import { keyRevoked } from '../keys/keys.ts';
import type { AppError } from '../lib/errors.ts';
import { findEndedCredentials, holdCredentials, isSessionValid } from './sessions.sql.ts';
import { sessionExpired } from './sessions.ts';

/**
 * Requires that the key of a call, and the session that presented it, are valid, and keeps them so until the end of the
 * transaction: it locks the account, the key and the session. Throws `AppError` 401 when the session has ended, and 403 when
 * the key has.
 */
export async function assertStillValid(tx: Sql, credentials: CallCredentials): Promise<void> {
  const held = await holdCredentials(tx, credentials);
  if (!held.session || !held.key) throw refusalOf(held);
}

/**
 * Returns the error of a call whose charge found its credentials no longer valid. It takes no lock: other calls were charged
 * in the same statement, and that may have locked the wallet, which comes after the account in the order of locks.
 */
export async function credentialsEnded(
  sql: Sql,
  { sessionSha256 }: CallCredentials,
): Promise<AppError> {
  const session = sessionSha256 === null || (await isSessionValid(sql, sessionSha256));
  return refusalOf({ session });
}

function refusalOf({ session }: { session: boolean }): AppError {
  return session ? keyRevoked() : sessionExpired();
}

/**
 * Requires that the key of a call, and the session that presented it, are valid, for a response that changes and charges nothing.
 * It waits for no lock, so it keeps no connection while a transaction holds the account. Throws as `assertStillValid`.
 */
export async function assertNotEnded(sql: Sql, credentials: CallCredentials): Promise<void> {
  const ended = await findEnded(sql, [credentials]);
  if (ended.length > 0) throw await credentialsEnded(sql, credentials);
}

/** Returns those that are no longer valid. */
export async function findEnded<Each extends CallCredentials>(
  sql: Sql,
  credentials: readonly Each[],
): Promise<Each[]> {
  const places = await findEndedCredentials(sql, credentials);
  return credentials.filter((_, place) => places.includes(place));
}
