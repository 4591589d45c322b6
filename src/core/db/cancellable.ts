/** Reads whose running statement the server cancels as soon as the result is no longer wanted. */
import { setTimeout as delay } from 'node:timers/promises';
import { inTransaction, type Sql } from './client.ts';

/** A cancellation that arrives between two statements has no effect, so it is repeated. */
const CANCEL_AGAIN_MS = 100;

export interface Cancellation {
  signal: AbortSignal;
  /** A connection to the same server that does not wait for the pool of the read. */
  control: Sql;
}

/** One transaction of a session: a cancellation is meant for it alone. */
interface Session {
  pid: number;
  /** Start of the transaction; as text, because a `Date` would round it. */
  startedAt: string;
}

/**
 * Runs `read` in a transaction. When `signal` aborts, the server cancels its running statement, which then rejects
 * with 57014 (`query_canceled`). The connection is released after the last cancellation was delivered, so that
 * none can reach the statement of another caller.
 */
export async function readCancellable<T>(
  sql: Sql,
  { signal, control }: Cancellation,
  read: (tx: Sql) => Promise<T>,
): Promise<T> {
  return inTransaction(sql, async (tx) => {
    // Sent together with the first statement of `read`: no round trip of its own.
    const session = findSession(tx);
    const done = new AbortController();
    let cancelling: Promise<void> = Promise.resolve();
    const cancel = () => {
      cancelling = cancelUntil(control, session, done.signal);
    };
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const [result] = await Promise.all([read(tx), session]);
      return result;
    } finally {
      done.abort();
      signal.removeEventListener('abort', cancel);
      await cancelling;
    }
  });
}

async function findSession(tx: Sql): Promise<Session> {
  const [session] = await tx<[Session]>`
    select pg_backend_pid() as pid, now()::text as started_at`;
  return session;
}

/** Never rejects: a statement that cannot be cancelled ends by its timeout. */
async function cancelUntil(
  control: Sql,
  session: Promise<Session>,
  done: AbortSignal,
): Promise<void> {
  try {
    const { pid, startedAt } = await session;
    while (!done.aborted) {
      await control`
        select pg_cancel_backend(pid) from pg_stat_activity
        where pid = ${pid} and xact_start = ${startedAt}::text::timestamptz`;
      await delay(CANCEL_AGAIN_MS, undefined, { signal: done });
    }
  } catch {}
}
