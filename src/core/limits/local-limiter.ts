/**
 * Limits without a store, while it is unavailable: each process admits its share. Buckets continue from their last
 * state in the store, so that its failure refills none; days are leased from Postgres as the store leases them, so
 * that no day's cap is exceeded.
 */
import {
  type BucketState,
  dayOf,
  describeRequest,
  describeTokens,
  oweToBucket,
  takeFromBucket,
} from './bucket.ts';
import type { DryRequest, LeaseDays } from './day-leases.ts';
import type { Bucket, LimitedKey, RequestLimits, Tokens } from './limiter.ts';
import type { DayLease, SeenDay } from './redis-scripts.ts';

/** Maximum number of buckets and days remembered; the least recently used are forgotten first. */
const REMEMBERED_MAX = 20_000;

export interface LocalLimiter {
  /** Remembers the state of a bucket in the store, and the store's clock. */
  learn(owner: string, name: string, state: BucketState): void;
  /** Returns the time at which the bucket is full as far as is known, by the store's clock; 0 when unknown. */
  known(owner: string, name: string): number;
  /** Remembers the state of a day's lease in the store. */
  learnDay(owner: string, day: SeenDay): void;
  /** Returns it as it was last seen; undefined when unknown. */
  knownDay(owner: string): SeenDay | undefined;
  takeTokens(bucket: Bucket): Tokens;
  oweTokens(bucket: Bucket): void;
  takeRequests(keys: readonly LimitedKey[]): Promise<RequestLimits[]>;
}

interface LocalDay {
  day: number;
  left: number;
  granted: number;
}

/** Opens the limiter. `processes` share each limit evenly. `clock` is in microseconds since 1970. */
export function openLocalLimiter(
  leaseDays: LeaseDays,
  { processes, clock }: { processes: number; clock: () => number },
): LocalLimiter {
  const buckets = new Map<string, number>();
  const seenDays = new Map<string, SeenDay>();
  let storeIsAhead = 0;

  const now = () => clock() + storeIsAhead;
  const days = openLocalDays(now);
  const nameOf = (owner: string, name: string) => `${owner} ${name}`;
  const shareOf = (perMinute: number) => Math.max(1, Math.floor(perMinute / processes));

  const stateOf = (owner: string, name: string): BucketState => {
    const moment = now();
    return { now: moment, fullAt: Math.max(moment, buckets.get(nameOf(owner, name)) ?? 0) };
  };

  const take = (owner: string, name: string, perMinute: number, cost: number) => {
    const taken = takeFromBucket(stateOf(owner, name), perMinute, cost);
    if (taken.admitted) remember(buckets, nameOf(owner, name), taken.fullAt);
    return taken;
  };

  const takeRequest = (key: LimitedKey): RequestLimits => {
    const perMinute = shareOf(key.requestsPerMinute);
    const local = days.of(key);
    const used = local.granted - local.left;
    const isDayOver = used >= key.requestsPerDay || local.left < 1;
    const taken = take(key.requestsOf, 'requests', perMinute, isDayOver ? 0 : 1);
    if (!isDayOver && taken.admitted) local.left--;
    const dayRemaining = Math.max(0, key.requestsPerDay - local.granted + local.left);
    const refusedBy = isDayOver ? 'day' : taken.admitted ? null : 'minute';
    return describeRequest(taken, perMinute, { refusedBy, dayRemaining });
  };

  return {
    learn(owner, name, state) {
      storeIsAhead = state.now - clock();
      remember(buckets, nameOf(owner, name), state.fullAt);
    },
    known: (owner, name) => buckets.get(nameOf(owner, name)) ?? 0,
    learnDay(owner, { day, writes }) {
      const seen = seenDays.get(owner);
      // Of replies to requests of one moment the last one may be an earlier state.
      if (seen === undefined || day > seen.day || (day === seen.day && writes > seen.writes)) {
        remember(seenDays, owner, { day, writes });
      }
    },
    knownDay: (owner) => seenDays.get(owner),
    takeTokens({ owner, name, perMinute, cost }) {
      const share = shareOf(perMinute);
      return describeTokens(take(owner, name, share, cost), share, cost);
    },
    oweTokens({ owner, name, perMinute, cost }) {
      const owed = oweToBucket(stateOf(owner, name), shareOf(perMinute), cost);
      remember(buckets, nameOf(owner, name), owed.fullAt);
    },
    async takeRequests(keys) {
      let dry = days.findDry(keys);
      while (dry.length > 0) {
        days.add(await leaseDays(dry));
        dry = days.findDry(keys);
      }
      return keys.map(takeRequest);
    },
  };
}

/** The leased days of keys, as far as they are used. */
function openLocalDays(now: () => number) {
  const days = new Map<string, LocalDay>();

  const of = (key: LimitedKey): LocalDay => {
    const today = dayOf(now());
    const known = days.get(key.requestsOf);
    return known?.day === today ? known : { day: today, left: 0, granted: 0 };
  };

  /** Returns the requests that their day's lease does not cover, as long as Postgres has more to grant. */
  const findDry = (keys: readonly LimitedKey[]): DryRequest[] => {
    const counted = new Map<string, number>();
    return keys.flatMap((key) => {
      const { day, left, granted } = of(key);
      const before = counted.get(key.requestsOf) ?? 0;
      counted.set(key.requestsOf, before + 1);
      return before >= left && granted < key.requestsPerDay ? [{ key, day }] : [];
    });
  };

  const add = (leases: Map<string, DayLease>) => {
    for (const [keyId, lease] of leases) {
      const current = days.get(keyId);
      const { left, granted } = current?.day === lease.day ? current : { left: 0, granted: 0 };
      remember(days, keyId, {
        day: lease.day,
        left: left + lease.granted,
        granted: Math.max(granted, lease.total),
      });
    }
  };

  return { of, findDry, add };
}

/** Sets the entry as the most recently used one. */
function remember<Value>(entries: Map<string, Value>, name: string, value: Value): void {
  entries.delete(name);
  entries.set(name, value);
  if (entries.size > REMEMBERED_MAX) {
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}
