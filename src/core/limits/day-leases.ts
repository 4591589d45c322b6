/**
 * Leases of a key's day, granted by Postgres in blocks to other stores. Postgres counts a block as used when it
 * grants it: a lost block makes the day end early, never late.
 */
import type { Sql } from '../db/client.ts';
import { coalesce, openLane } from '../lib/coalesce.ts';
import type { LimitedKey } from './limiter.ts';
import { leaseRequests, type WantedLease } from './limits.sql.ts';
import type { DayLease } from './redis-scripts.ts';

/** A block is a hundredth of the day and at least ten requests: a busy key asks a hundred times a day. */
const BLOCK_SHARE = 0.01;
const BLOCK_MIN = 10;

/** A request for which the day's lease is used up. */
export interface DryRequest {
  key: LimitedKey;
  /** Days since 1970, on the clock of the requesting store. */
  day: number;
}

/** Leases blocks for requests: one for each owner of counters among them, keyed by owner. */
export type LeaseDays = (dry: readonly DryRequest[]) => Promise<Map<string, DayLease>>;

export function openDayLeases(sql: Sql): LeaseDays {
  const lease = coalesce<WantedLease, { granted: number; total: number }>(
    (leases) => leaseRequests(sql, leases),
    { lane: openLane(2), batchMax: 64, ownerOf: ({ owner }) => owner },
  );
  return async (dry) => {
    const wanted = new Map<string, WantedLease>();
    for (const { key, day } of dry) {
      const { requestsOf: owner, requestsPerDay } = key;
      const before = wanted.get(owner);
      const perDay = Math.max(before?.perDay ?? 0, requestsPerDay);
      wanted.set(owner, { owner, day, perDay, wanted: (before?.wanted ?? 0) + 1 });
    }
    const leases = [...wanted.values()].map(async (one) => {
      const block = Math.max(BLOCK_MIN, Math.ceil(one.perDay * BLOCK_SHARE), one.wanted);
      const { granted, total } = await lease({ ...one, wanted: block });
      return [one.owner, { day: one.day, granted, total }] as const;
    });
    return new Map(await Promise.all(leases));
  };
}
