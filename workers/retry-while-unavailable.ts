/**
 * Retries of client calls while the service is unavailable: a process of it restarts within seconds, and a limit of calls ends.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { ProblemError, type Repeatable, UnreachableError } from '../src/client/client.ts';
import { say } from './output.ts';

const AWAY_MS_MAX = 60_000;
const RETRY_MS = 500;
const LIMITED = 429;
/** Of a connection that ended after it was made. */
const LOST = /^(ECONNRESET|EPIPE|ETIMEDOUT|UND_ERR_(SOCKET|HEADERS_TIMEOUT|BODY_TIMEOUT))$/;

/**
 * Repeats a call until its response is neither 5xx nor 429, for at most a minute; then throws the error of the last call. Only
 * for calls that may happen twice.
 */
export async function retryWhileUnavailable<T>(call: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + AWAY_MS_MAX;
  for (let told = false; ; told = true) {
    try {
      return await call();
    } catch (error) {
      if (!isAway(error) || Date.now() > deadline) throw error;
      if (!told) say(`${whyAway(error)}; retrying for a minute.`);
      await setTimeout(RETRY_MS);
    }
  }
}

/**
 * Makes a call that pays, and repeats it as above when its response was lost: it may have been made. All of them have the key
 * that `call` gets. Any other error is thrown at once.
 */
export async function retryWhenLost<T>(call: (once: Repeatable) => Promise<T>): Promise<T> {
  const once = { idempotencyKey: randomUUID() };
  try {
    return await call(once);
  } catch (error) {
    if (!isLost(error)) throw error;
    return retryWhileUnavailable(() => call(once));
  }
}

function isLost(error: unknown): boolean {
  if (error instanceof ProblemError) return error.status >= 500 && isAway(error);
  if (!(error instanceof UnreachableError)) return false;
  const { code } = (error.cause as { cause?: { code?: string } }).cause ?? {};
  return LOST.test(String(code));
}

/**
 * A stored object that is missing or damaged stays so. A body that is cut off fails with a TypeError of `fetch`. A request whose
 * connection was lost may still run, and has a response later.
 */
function isAway(error: unknown): boolean {
  if (error instanceof ProblemError) {
    const { status, code } = error;
    if (status === LIMITED || code === 'idempotency_in_progress') return true;
    return status >= 500 && !/^object_/.test(code);
  }
  return error instanceof UnreachableError || error instanceof TypeError;
}

function whyAway(error: unknown): string {
  return error instanceof ProblemError && error.status === LIMITED
    ? 'The limit of calls is reached'
    : 'The service does not respond';
}
