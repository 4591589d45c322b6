/**
 * Bounds the responses that last as long as a client reads them: each holds a connection and its source, so an
 * account has a maximum per process.
 */
import type { ServerResponse } from 'node:http';
import type { Response } from 'express';
import { tooManyOpen } from '../../core/limits/limits.ts';
import { clientGone } from './client-gone.ts';

/** Counts a response as open until it is closed. Throws `AppError` 429 at the maximum, 499 once it is closed. */
export type HoldOpen = (accountId: string, response: Response) => void;

/** Responses that are counted by one of the kinds, and whether the process has no place left for others of it. */
const counted = new WeakMap<ServerResponse, () => boolean>();

/** True for a response of a kind of which all places of the process are taken. */
export function isInDemand(response: ServerResponse): boolean {
  return counted.get(response)?.() === true;
}

/**
 * Returns the counter of one kind of response; `name` is its plural, for the message. Within its maximum an account
 * has no more of them than the process has left, so that a further account always gets some (Choudhury and Hahne, "Dynamic
 * queue length thresholds for shared-memory packet switches", 1998).
 */
export function limitOpenResponses(name: string, accountMax: number, processMax: number): HoldOpen {
  const open = new Map<string, number>();
  let openInAll = 0;
  return (accountId, response) => {
    clientGone(response).throwIfAborted();
    const count = open.get(accountId) ?? 0;
    const max = Math.min(accountMax, Math.max(1, processMax - openInAll));
    if (count >= max) throw tooManyOpen(name, max);
    if (openInAll >= processMax) throw tooManyOpen(name, processMax, 'all accounts');
    open.set(accountId, count + 1);
    openInAll++;
    const ofOtherKind = counted.get(response);
    counted.set(response, () => openInAll >= processMax || ofOtherKind?.() === true);
    response.once('close', () => {
      const left = (open.get(accountId) ?? 0) - 1;
      if (left > 0) open.set(accountId, left);
      else open.delete(accountId);
      openInAll--;
    });
  };
}

const DOWNLOADS_MAX = 32;
/** Those of ten accounts, and as many that a further one gets. 320 that stalled take 108 to 150 MiB (`docs/performance.md`). */
const PROCESS_DOWNLOADS_MAX = 352;

/** Counts a response that sends a file: results, the ledger, rejected rows. */
export const holdDownload = limitOpenResponses('downloads', DOWNLOADS_MAX, PROCESS_DOWNLOADS_MAX);

/** Each holds a compressor, rows and blocks on their way through it: 320 that stalled took 360 MiB, and 64 take 185. */
const CONVERSIONS_MAX = 8;
const PROCESS_CONVERSIONS_MAX = 64;

/** Counts a response that sends results in another form than they are stored. */
export const holdConversion = limitOpenResponses(
  'downloads that are converted or compressed',
  CONVERSIONS_MAX,
  PROCESS_CONVERSIONS_MAX,
);

/** Each holds the numbers of the rows of a rerun, a million of them, or up to 16 MiB of several. */
const MERGES_MAX = 8;
const PROCESS_MERGES_MAX = 16;

/** Counts a response that sends a rerun, or a list with its reruns. */
export const holdMerge = limitOpenResponses('downloads of reruns', MERGES_MAX, PROCESS_MERGES_MAX);
