/** The terms of a worker's claim, the same for chunks and for batches. */
import type { Sql } from '../../core/db/client.ts';

/** Duration of a lease, unless extended. */
const LEASE_SECONDS = 15;

/** A worker that lives extends its lease this often. */
export const EXTEND_EVERY_MS = 5_000;

/** A claim that comes too late lost to another worker: this many in a row indicate a bug. */
export const CLAIM_ATTEMPTS = 20;

/** The end of a lease granted or extended now. */
export function leaseEnd(sql: Sql) {
  return sql`clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})`;
}
