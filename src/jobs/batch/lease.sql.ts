/** The terms of a worker's claim, the same for chunks and for batches. */
import type { Sql } from '../../core/db/client.ts';
import { isHeld, leaseEnd, pauseOf } from '../../core/db/lease.ts';

/** Duration of a lease, unless extended. */
const LEASE_SECONDS = 12;

/** A worker that lives extends its lease this often. */
export const EXTEND_EVERY_MS = 5_000;

/** A claim that comes too late lost to another worker: this many in a row indicate a bug. */
export const CLAIM_ATTEMPTS = 20;

/** The end of a claim granted or extended now. */
export function claimEnd(sql: Sql) {
  return leaseEnd(sql, LEASE_SECONDS);
}

/** The condition that a claim is held, by its end; null without a claim. */
export function isClaimed(sql: Sql, until: ReturnType<Sql>) {
  return isHeld(sql, until, LEASE_SECONDS);
}

/** Maximum pause before a job is tried again. */
export const RETRY_SECONDS_MAX = 60;

/**
 * The pause of a chunk, a batch, a job about a batch, or the lists of a key. The lists of a key may have to wait longer for
 * its rows per minute: they ask again after each pause.
 */
export const retryPause = pauseOf(RETRY_SECONDS_MAX);
