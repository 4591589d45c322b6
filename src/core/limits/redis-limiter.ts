/**
 * Limits in Redis. The authoritative count of a day stays in Postgres, which leases it to Redis in blocks: losing
 * Redis can only refuse early. While Redis is unavailable each process applies its share on its own.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import type { Log } from '../log.ts';
import type { RedisClient } from '../redis/client.ts';
import { watchStore } from './availability.ts';
import { describeRequest, describeTokens } from './bucket.ts';
import { type DryRequest, type LeaseDays, openDayLeases } from './day-leases.ts';
import type { LimitedKey, RedisLimiter, RequestLimits } from './limiter.ts';
import { type LocalLimiter, openLocalLimiter } from './local-limiter.ts';
import { type DayLease, defineLimitScripts, type RequestReply } from './redis-scripts.ts';

export interface RedisLimiterOptions {
  /** Prefix of every key. */
  prefix: string;
  /** API processes that share the limits while Redis is unavailable. */
  processes: number;
}

/** Opens the limiter. `redis` is a client for limits; the caller ends it. */
export function openRedisLimiter(
  { redis, sql, log }: { redis: RedisClient; sql: Sql; log: Pick<Log, 'warn' | 'info'> },
  { prefix, processes }: RedisLimiterOptions,
): RedisLimiter {
  const scripts = defineLimitScripts(redis, prefix);
  const leaseDays = openDayLeases(sql);
  const clock = () => Math.floor((performance.timeOrigin + performance.now()) * 1000);
  const local = openLocalLimiter(leaseDays, { processes, clock });
  const withStore = watchStore(log);

  const takeRequests = openRequests({ scripts, leaseDays, local, withStore });

  return {
    store: 'redis',
    takeRequests,
    takeTokens: (bucket) =>
      withStore(
        async () => {
          const { owner, name, perMinute, cost } = bucket;
          const taken = await scripts.takeTokens(bucket, local.known(owner, name));
          local.learn(owner, name, taken);
          return describeTokens(taken, perMinute, cost);
        },
        () => local.takeTokens(bucket),
      ),
    oweTokens: (bucket) =>
      withStore(
        async () => {
          const { owner, name } = bucket;
          local.learn(owner, name, await scripts.oweTokens(bucket, local.known(owner, name)));
        },
        () => local.oweTokens(bucket),
      ),
  };
}

/**
 * Returns `takeRequests`. It sends all requests, leases days for those whose lease is used up, and sends these again.
 * It terminates, because every round either takes from a finite supply in Postgres, or learns that it is used up.
 */
function openRequests({
  scripts,
  leaseDays,
  local,
  withStore,
}: {
  scripts: ReturnType<typeof defineLimitScripts>;
  leaseDays: LeaseDays;
  local: LocalLimiter;
  withStore: ReturnType<typeof watchStore>;
}): (keys: readonly LimitedKey[]) => Promise<RequestLimits[]> {
  const askRedis = (keys: readonly LimitedKey[], leases: Map<string, DayLease>) =>
    withStore<RequestReply[] | null>(
      async () => {
        const replies = keys.map((key) => {
          const lease = leases.get(key.requestsOf);
          // The first request of those that share counters brings the lease for all of them.
          leases.delete(key.requestsOf);
          const { requestsOf: owner } = key;
          const known = { fullAt: local.known(owner, 'requests'), day: local.knownDay(owner) };
          return scripts.takeRequest(key, known, lease);
        });
        return Promise.all(replies);
      },
      () => null,
    );

  return async (keys) => {
    const results = new Map<number, RequestLimits>();
    let pending = keys.map((key, place) => ({ key, place }));
    let leases = new Map<string, DayLease>();
    while (pending.length > 0) {
      const asked = pending.map(({ key }) => key);
      const replies = await askRedis(asked, leases);
      if (replies === null) {
        const limits = await local.takeRequests(asked);
        for (const [index, { place }] of pending.entries()) {
          results.set(place, must(limits[index], 'limits of a request'));
        }
        break;
      }
      const dry: (DryRequest & { place: number })[] = [];
      for (const [index, { key, place }] of pending.entries()) {
        const reply = must(replies[index], 'reply to a request');
        local.learn(key.requestsOf, 'requests', reply);
        local.learnDay(key.requestsOf, reply);
        if (reply.verdict === 'leaseDay') dry.push({ key, place, day: reply.day });
        else results.set(place, toLimits(key, reply));
      }
      if (dry.length > 0) leases = await leaseDays(dry);
      pending = dry;
    }
    return keys.map((_key, place) => must(results.get(place), 'result of a request'));
  };
}

function toLimits(key: LimitedKey, reply: RequestReply): RequestLimits {
  const { verdict, dayRemaining } = reply;
  const refusedBy = verdict === 'minute' || verdict === 'day' ? verdict : null;
  return describeRequest(reply, key.requestsPerMinute, { refusedBy, dayRemaining });
}
