import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Response } from 'express';
import type { CallCredentials } from '../../core/call-credentials.ts';
import { assertNotEnded, credentialsEnded } from '../../core/sessions/still-valid.ts';
import type { ApiContext } from './api-context.ts';
import type { Authorized } from './authorize.ts';
import { sendStream } from './client-gone.ts';

/**
 * Runs a transfer, which may take hours, as long as its key and session are valid, which a watcher keeps checking.
 * `transfer` must end when its signal aborts; then this throws the refusal.
 */
export async function whileValid<Result>(
  { sql, watcher }: Pick<ApiContext, 'sql' | 'watcher'>,
  credentials: CallCredentials,
  transfer: (cut: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const cut = new AbortController();
  const unwatch = watcher.watchCaller(credentials, () => {
    credentialsEnded(sql, credentials).then(
      (refusal) => cut.abort(refusal),
      (error) => cut.abort(error),
    );
  });
  try {
    return await transfer(cut.signal);
  } catch (error) {
    throw cut.signal.aborted ? cut.signal.reason : error;
  } finally {
    unwatch();
  }
}

/**
 * Sends a file as long as the key and the session are valid. Throws the error of a file that fails before its first
 * byte, which then becomes a problem document.
 */
export async function sendWhileValid(
  context: Pick<ApiContext, 'sql' | 'watcher'>,
  credentials: CallCredentials,
  file: Readable,
  response: Response,
): Promise<void> {
  await once(file, 'readable');
  await whileValid(context, credentials, (cut) => sendStream(file, response, cut));
}

/** As often as a transfer is checked. */
const LATE_MS = 500;

/** Returns true for a call authorized at this time if its response is late: what was true then may be so no longer. */
export function isLate(authorizedAt: number): boolean {
  return performance.now() - authorizedAt >= LATE_MS;
}

/**
 * Checks the key and the session of a read again when its response is late: it may have waited for its turn for half a
 * minute. It waits for no lock, as the read did not. Throws `AppError` 401 or 403 when one of them has ended.
 */
export async function assertValidIfLate(
  { sql }: Pick<ApiContext, 'sql'>,
  { credentials, authorizedAt }: Pick<Authorized, 'credentials' | 'authorizedAt'>,
): Promise<void> {
  if (!isLate(authorizedAt)) return;
  await assertNotEnded(sql, credentials);
}
