/**
 * Reads the rows of one statement page by page: each page is a statement of its own for timeouts and
 * cancellations.
 */
import type { PendingQuery, Row } from 'postgres';
import type { Sql } from './client.ts';
import { isCancelled } from './pg-errors.ts';
import { unkept } from './unkept.ts';

const PAGE_ROWS = 10_000;

export interface TransactionLimits {
  /** Milliseconds after which the server ends a statement. */
  statementMsMax: number;
  /** Milliseconds that may pass between two statements before the server ends the session. */
  pauseMsMax: number;
}

/** Sets the limits of the rest of a transaction. */
export async function limitTransaction(
  tx: Sql,
  { statementMsMax, pauseMsMax }: TransactionLimits,
): Promise<void> {
  await tx`
    select set_config('statement_timeout', ${String(statementMsMax)}, true),
      set_config('idle_in_transaction_session_timeout', ${String(pauseMsMax)}, true)`;
}

/** A statement that the server ended because its time was over. */
export class StatementTimeout extends Error {}

/** Share of its time after which a statement that was ended has timed out: clocks of two machines differ in their rate. */
const TIMED_OUT_FROM = 0.99;

/**
 * Throws `StatementTimeout` when the server ends `statement` after its time, and the server's error when an operator cancels it
 * earlier. Only the text of the error differs, which is in the language of the server.
 */
export async function limitTime<T>(
  statementMsMax: number,
  statement: () => Promise<T>,
): Promise<T> {
  const beganAt = performance.now();
  try {
    return await statement();
  } catch (error) {
    const isOver = performance.now() - beganAt >= statementMsMax * TIMED_OUT_FROM;
    throw isOver && isCancelled(error)
      ? new StatementTimeout('timed out', { cause: error })
      : error;
  }
}

/**
 * Reads the rows of `select` in their order, from one snapshot of the database and never all in memory. `tx` must
 * be a transaction, which may read one statement in this way at a time. Throws `StatementTimeout` when finding a page takes the
 * `statementMsMax` of the transaction.
 */
export async function* readRows<T extends object>(
  tx: Sql,
  select: PendingQuery<Row[]>,
  statementMsMax: number,
): AsyncGenerator<T[]> {
  // All rows are read, so the cheapest plan for all of them is wanted.
  await tx`select set_config('cursor_tuple_fraction', '1', true)`;
  await limitTime(statementMsMax, () => unkept(tx`declare pages no scroll cursor for ${select}`));
  const fetchPage = () => {
    const page = limitTime<T[]>(statementMsMax, () =>
      tx.unsafe<T[]>(`fetch ${PAGE_ROWS} from pages`),
    );
    // Whoever stops reading before its end has another error, or none.
    page.catch(() => {});
    return page;
  };
  let next = fetchPage();
  let page: T[];
  do {
    page = await next;
    // The server finds the next page while this one is used.
    if (page.length === PAGE_ROWS) next = fetchPage();
    if (page.length > 0) yield page;
  } while (page.length === PAGE_ROWS);
  await tx`close pages`;
}
