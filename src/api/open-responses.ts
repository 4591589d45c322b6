/**
 * Bounds the responses that last as long as a client reads them: each holds a connection and its source, so an
 * account has a maximum per process.
 */
import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { tooManyOpen } from '../core/limits/limits.ts';
import { clientGone } from './client-gone.ts';

/** Counts a response as open until it is closed. Throws `AppError` 429 at the account's maximum, 499 once it is closed. */
export type HoldOpen = (accountId: string, response: Response) => void;

/** Responses that are counted by one of the kinds. */
const counted = new WeakSet<ServerResponse>();

/** True for a response whose kind has a maximum of its own. */
export function isCounted(response: ServerResponse): boolean {
  return counted.has(response);
}

/** Returns the counter of one kind of response; `name` is its plural, for the message. */
export function limitOpenResponses(name: string, max: number): HoldOpen {
  const open = new Map<string, number>();
  return (accountId, response) => {
    clientGone(response).throwIfAborted();
    const count = open.get(accountId) ?? 0;
    if (count >= max) throw tooManyOpen(name, max);
    open.set(accountId, count + 1);
    counted.add(response);
    response.once('close', () => {
      const left = (open.get(accountId) ?? 0) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
    });
  };
}

/** Each holds a part of a list, and those of its reruns. */
const MERGES_MAX = 8;

/** Counts a response that reads a list with its reruns. */
export const holdMerge = limitOpenResponses('readers of lists with their reruns', MERGES_MAX);
