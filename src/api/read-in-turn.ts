import { readCancellable } from '../core/db/cancellable.ts';
import type { Sql } from '../core/db/client.ts';
import { clientGone } from './http/client-gone.ts';
import type { RouteInput } from './http/define-route.ts';

/**
 * Runs a read that takes the longer the more rows the account has, in a transaction that waits for the account's turn: any
 * number of such reads take as many connections as its writes may. When the client disconnects, the server cancels the
 * statement, and this throws `AppError` 499 `client_gone`.
 */
export async function readInTurn<T>(
  { context, response }: Pick<RouteInput, 'context' | 'response'>,
  read: (tx: Sql) => Promise<T>,
): Promise<T> {
  const signal = clientGone(response);
  try {
    return await readCancellable(context.sql, { signal, control: context.watchSql }, read);
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}
