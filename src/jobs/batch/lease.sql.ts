/** The terms of a worker's claim, the same for chunks and for batches. */
import type { Sql } from '../../core/db/client.ts';

/** Duration of a lease, unless extended. */
const LEASE_SECONDS = 15;

/** A worker that lives extends its lease this often. */
export const EXTEND_EVERY_MS = 5_000;

/** A claim that comes too late lost to another worker: this many in a row indicate a bug. */
export const CLAIM_ATTEMPTS = 20;

/** Maximum difference between the clocks of a server and of the standby that takes over from it. */
const SKEW_SECONDS = 15;

/** The end of a lease granted or extended now. */
export function leaseEnd(sql: Sql) {
  return sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
}

/**
 * The condition that a lease is held, by its end; null without a lease. One that ends later than a lease can was granted before the
 * clock was set back: if its worker is dead, it would be held for as long as the clock was wrong; if it lives, it extends the
 * lease within seconds, or another one does the work again.
 */
export function isHeld(sql: Sql, until: ReturnType<Sql>) {
  return sql`(${until} > clock_timestamp()
    and ${until} <= clock_timestamp() + make_interval(secs => ${LEASE_SECONDS + SKEW_SECONDS}))`;
}
