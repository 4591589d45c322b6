/**
 * Answers that last as long as whoever reads them: each holds a connection, and what it is read from, so an
 * account may have so many open in a process.
 */
import type { Response } from 'express';
import { tooManyOpen } from '../core/limits/limits.ts';

/** Counts an answer as open until it is closed. Throws `AppError` 429 when the account has too many. */
export type HoldOpen = (accountId: string, response: Response) => void;

/** `name` says what they are, in the plural. */
export function limitOpenAnswers(name: string, max: number): HoldOpen {
  const open = new Map<string, number>();
  return (accountId, response) => {
    const count = open.get(accountId) ?? 0;
    if (count >= max) throw tooManyOpen(name, max);
    open.set(accountId, count + 1);
    response.once('close', () => {
      const left = (open.get(accountId) ?? 0) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
    });
  };
}
