/**
 * The arithmetic of a token bucket by the generic cell rate algorithm (ITU-T I.371): its whole state is the time
 * at which it is full again. The functions in Postgres and the scripts in Redis compute the same; a conformance
 * suite checks that they agree. Times in whole microseconds.
 */
import type { LimitedKey, RequestLimits, Tokens } from './limiter.ts';

const MINUTE = 60_000_000;
const DAY = 86_400_000_000;
const SECOND = 1_000_000;

/** A bucket at one moment of its store's clock. */
export interface BucketState {
  now: number;
  /** Time at which it is full again; `now` for a full one. */
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

/** Takes tokens even if they are missing; the debt is at most a minute of them. Returns the state after it. */
export function oweToBucket(
  { now, fullAt }: BucketState,
  perMinute: number,
  cost: number,
): BucketState {
  return { now, fullAt: Math.min(fullAt + timeOf(perMinute, cost), now + 2 * MINUTE) };
}

/** Describes a bucket after `cost` was taken from it or refused. */
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

/** Describes the limits of a metered request. `dayRemaining` is what is left after it. */
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

/** The result of a key's minute and day for concurrent calls: the first `admitted` are admitted. */
export interface TakenRequests extends BucketState {
  /** Requests of the day before them. */
  used: number;
  admitted: number;
}

/** Describes the limits of each concurrent call, in their order. `taken` is the state before. */
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

/** Returns the days since 1970 of a moment, in UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY);
}

/** Returns the time in which the bucket gains so many tokens, rounded down: rounding never refuses a call. */
function timeOf(perMinute: number, tokens: number): number {
  return Math.floor((MINUTE * tokens) / perMinute);
}
