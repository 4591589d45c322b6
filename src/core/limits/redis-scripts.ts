/**
 * The limits in Redis: one script call for all limits of a key, on the server's clock, in whole
 * microseconds. The keys of one owner share a hash tag, so that a cluster keeps them on one node.
 * A refusal writes nothing.
 */
import type { RedisClient } from '../redis/client.ts';
import type { BucketState } from './bucket.ts';
import type { Bucket, LimitedKey } from './limiter.ts';

/** Requests of a day that Postgres has granted to Redis, and the total granted that day. */
export interface DayLease {
  /** Days since 1970. */
  day: number;
  granted: number;
  total: number;
}

/** A day's lease in Redis as it was seen: `writes` counts its changes. */
export interface SeenDay {
  day: number;
  writes: number;
}

/** The script's reply to a request; `leaseDay`: the day's lease is used up, nothing was taken. */
export type RequestReply = BucketState &
  SeenDay & { dayRemaining: number } & {
    verdict: 'admitted' | 'minute' | 'day' | 'leaseDay';
  };

const verdicts = ['leaseDay', 'admitted', 'minute', 'day'] as const;

const bucketLua = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
-- A bucket is the time at which it is full. After tokens were returned it also has the latest time that it had before.
local before = 0
local function number(text)
  local value = tonumber(text) or 0
  -- Damaged or forged: later than any bucket, or no number. It would refuse for ever.
  return value < 9e15 and value or 0
end
-- The caller passes the time until which it last knew the bucket not to be full: a bucket that Redis has lost does
-- not become full. A time from before tokens were returned does not count.
local function full_at(key, known)
  local stored = redis.pcall('GET', key)
  stored = type(stored) == 'string' and stored or ''
  local at, was = string.match(stored, '^(%S+) (%S+)$')
  before = number(was)
  known = tonumber(known)
  return math.max(now, known > before and known or 0, number(at or stored))
end
local function keep(key, at)
  local value = string.format('%.0f', at)
  if before > now then value = string.format('%s %.0f', value, before) end
  redis.call('SET', key, value, 'PX', math.max(1, math.ceil((math.max(at, before) - now) / 1000)))
  return at
end
local function take(key, from, per_minute, cost)
  local next = from + math.floor(60000000 * cost / per_minute)
  if next - now > 60000000 and from > now then return from, 0 end
  if cost < 0 then before = math.max(before, from) end
  return keep(key, next), 1
end
`;

/** KEYS: bucket. ARGV: limit a minute, cost, known time. */
const takeTokensLua = `${bucketLua}
local from = full_at(KEYS[1], ARGV[3])
local after, admitted = take(KEYS[1], from, tonumber(ARGV[1]), tonumber(ARGV[2]))
return {admitted, now, after}
`;

/** KEYS: bucket. ARGV: limit a minute, cost, known time. */
const oweTokensLua = `${bucketLua}
local next = full_at(KEYS[1], ARGV[3]) + math.floor(60000000 * ARGV[2] / ARGV[1])
return {now, keep(KEYS[1], math.min(next, now + 120000000))}
`;

/**
 * KEYS: bucket, day. ARGV: limits a minute and a day, known time, a lease's day, grant and total, the known day and its writes.
 */
const takeRequestLua = `${bucketLua}
local today = math.floor(clock[1] / 86400)
local stored = redis.pcall('HMGET', KEYS[2], 'day', 'left', 'granted', 'writes')
if stored.err then
  redis.call('DEL', KEYS[2])
  stored = {}
end
local left, granted, writes = 0, 0, 0
if tonumber(stored[1]) == today then
  left, granted, writes = tonumber(stored[2]) or 0, tonumber(stored[3]) or 0, tonumber(stored[4] or 0) or 0
end
-- Redis has lost changes that the caller saw, as after a restart or a failover: what it says is left may be used.
if tonumber(ARGV[7]) == today and writes < tonumber(ARGV[8]) then left, writes = 0, tonumber(ARGV[8]) end
local changed = tonumber(ARGV[4]) == today
if changed then
  left = left + tonumber(ARGV[5])
  granted = math.max(granted, tonumber(ARGV[6]))
end
local per_day = tonumber(ARGV[2])
local at = full_at(KEYS[1], ARGV[3])
local verdict
if granted - left >= per_day then
  verdict = 3
elseif left < 1 then
  verdict = 0
else
  -- A minute's requests, plus another minute that unfinished searches may owe: a later time comes from a clock
  -- that was set back, and is reset.
  if at > now + 120000000 then at = keep(KEYS[1], now + 120000000) end
  local admitted
  at, admitted = take(KEYS[1], at, tonumber(ARGV[1]), 1)
  verdict = admitted == 1 and 1 or 2
  if admitted == 1 then
    left = left - 1
    changed = true
  end
end
if changed then
  writes = writes + 1
  redis.call('HSET', KEYS[2], 'day', today, 'left', left, 'granted', granted, 'writes', writes)
  redis.call('EXPIREAT', KEYS[2], (today + 1) * 86400)
end
return {verdict, now, at, today, math.max(0, per_day - granted + left), writes}
`;

type Words = (string | number)[];

type ScriptClient = RedisClient & {
  takeTokens(...words: Words): Promise<number[]>;
  oweTokens(...words: Words): Promise<number[]>;
  takeRequest(...words: Words): Promise<number[]>;
};

/** The scripts as functions. `known` is a time of the server's clock, 0 for none, and the day as it was last seen. */
export interface LimitScripts {
  takeTokens(bucket: Bucket, known: number): Promise<BucketState & { admitted: boolean }>;
  oweTokens(bucket: Bucket, known: number): Promise<BucketState>;
  takeRequest(
    key: LimitedKey,
    known: { fullAt: number; day: SeenDay | undefined },
    lease: DayLease | undefined,
  ): Promise<RequestReply>;
}

export function defineLimitScripts(redis: RedisClient, prefix: string): LimitScripts {
  redis.defineCommand('takeTokens', { numberOfKeys: 1, lua: takeTokensLua });
  redis.defineCommand('oweTokens', { numberOfKeys: 1, lua: oweTokensLua });
  redis.defineCommand('takeRequest', { numberOfKeys: 2, lua: takeRequestLua });
  const client = redis as ScriptClient;
  const keyOf = (owner: string, name: string) => `${prefix}:limit:{${owner}}:${name}`;
  return {
    async takeTokens({ owner, name, perMinute, cost }, known) {
      const reply = await client.takeTokens(keyOf(owner, name), perMinute, cost, known);
      const [admitted, now, fullAt] = reply as [number, number, number];
      return { admitted: admitted === 1, now, fullAt };
    },
    async oweTokens({ owner, name, perMinute, cost }, known) {
      const reply = await client.oweTokens(keyOf(owner, name), perMinute, cost, known);
      const [now, fullAt] = reply as [number, number];
      return { now, fullAt };
    },
    async takeRequest(key, known, lease) {
      const reply = await client.takeRequest(
        keyOf(key.requestsOf, 'requests'),
        keyOf(key.requestsOf, 'day'),
        key.requestsPerMinute,
        key.requestsPerDay,
        known.fullAt,
        lease?.day ?? 0,
        lease?.granted ?? 0,
        lease?.total ?? 0,
        known.day?.day ?? 0,
        known.day?.writes ?? 0,
      );
      const [code, now, fullAt, day, dayRemaining, writes] = reply as [number, ...number[]] as [
        0 | 1 | 2 | 3,
        number,
        number,
        number,
        number,
        number,
      ];
      return { verdict: verdicts[code], now, fullAt, day, dayRemaining, writes };
    },
  };
}
