/**
 * The arithmetic of a token bucket by the generic cell rate algorithm (ITU-T I.371): its whole state is
 * the time at which it is full again. The functions in Postgres and the scripts in Redis do the same
 * sums; a conformance suite holds them together. Times in whole microseconds.
 */
import type { LimitedKey, RequestLimits, Tokens } from './limiter.ts';

const MINUTE = 60_000_000;
const DAY = 86_400_000_000;
const SECOND = 1_000_000;

/** A bucket at one moment of its store's clock. */
export interface BucketState {
  now: number;
  /** When it is full again; at `now` for a full one. */
  fullAt: number;
}

/** Takes tokens. Returns the state after it, the same state for a refusal. */
export function takeFromBucket(
  { now, fullAt }: BucketState,
  perMinute: number,
  cost: number,
): BucketState & { admitted: boolean } {
  const next = fullAt + timeOf(perMinute, cost);
  const admitted = next - now <= MINUTE || fullAt === now;
  return { now, fullAt: admitted ? next : fullAt, admitted };
}

/** Takes tokens whether they are there or not; a minute of them is owed at most. Returns the state after it. */
export function oweToBucket(
  { now, fullAt }: BucketState,
  perMinute: number,
  cost: number,
): BucketState {
  return { now, fullAt: Math.min(fullAt + timeOf(perMinute, cost), now + 2 * MINUTE) };
}

/** What to say of a bucket after `cost` was taken from it or refused. */
export function describeTokens(
  { now, fullAt, admitted }: BucketState & { admitted: boolean },
  perMinute: number,
  cost: number,
): Tokens & { resetSeconds: number } {
  const fullIn = fullAt - now;
  const refusedFor = Math.min(fullIn + timeOf(perMinute, cost) - MINUTE, fullIn);
  return {
    admitted,
    remaining: Math.max(0, Math.floor(((MINUTE - fullIn) * perMinute) / MINUTE)),
    resetSeconds: fullIn / SECOND,
    retrySeconds: admitted ? 0 : refusedFor / SECOND,
  };
}

/** What to say of a counted request. `dayRemaining` is what is left after it. */
export function describeRequest(
  bucket: BucketState,
  perMinute: number,
  { refusedBy, dayRemaining }: Pick<RequestLimits, 'refusedBy' | 'dayRemaining'>,
): RequestLimits {
  const admitted = refusedBy === null;
  const tokens = describeTokens({ ...bucket, admitted }, perMinute, 1);
  const dayResetSeconds = (DAY - (bucket.now % DAY)) / SECOND;
  return {
    admitted,
    refusedBy,
    minuteRemaining: tokens.remaining,
    minuteResetSeconds: tokens.resetSeconds,
    dayRemaining,
    dayResetSeconds,
    retrySeconds: refusedBy === 'day' ? dayResetSeconds : tokens.retrySeconds,
  };
}

/** What minute and day of a key said to calls that came together: the first `admitted` are let in. */
export interface TakenRequests extends BucketState {
  /** Requests of the day before them. */
  used: number;
  admitted: number;
}

/** What to say to each of the calls that came together, in their order. `taken` is the state before. */
export function describeRequests(
  { requestsPerMinute, requestsPerDay }: Omit<LimitedKey, 'requestsOf'>,
  { now, fullAt, used, admitted }: TakenRequests,
  calls: number,
): RequestLimits[] {
  const isDayOver = used + admitted >= requestsPerDay;
  return Array.from({ length: calls }, (_, before) => {
    const taken = Math.min(before + 1, admitted);
    const bucket = { now, fullAt: fullAt + taken * timeOf(requestsPerMinute, 1) };
    const refusedBy = before < admitted ? null : isDayOver ? 'day' : 'minute';
    const dayRemaining = Math.max(0, requestsPerDay - used - taken);
    return describeRequest(bucket, requestsPerMinute, { refusedBy, dayRemaining });
  });
}

/** Days since 1970 of a moment, in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY);
}

/** How long the bucket takes to gain so many tokens, rounded down: a limit is never missed by rounding. */
function timeOf(perMinute: number, tokens: number): number {
  return Math.floor((MINUTE * tokens) / perMinute);
}
