/**
 * Bounds the responses that last as long as a client reads them: each holds a connection and its source, so an
 * account has a maximum per process.
 */
import type { Response } from 'express';
import { tooManyOpen } from '../core/limits/limits.ts';

/** Counts a response as open until it is closed. Throws `AppError` 429 at the account's maximum. */
export type HoldOpen = (accountId: string, response: Response) => void;

/** Returns the counter of one kind of response; `name` is its plural, for the message. */
export function limitOpenResponses(name: string, max: number): HoldOpen {
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
