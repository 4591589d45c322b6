/**
 * Where limits are kept: in Postgres, where the statement that finds a key takes its limits too, or in
 * Redis. Both count alike: token buckets by the generic cell rate algorithm on the store's own clock, a
 * counter per UTC day, and a refusal takes nothing.
 */

/** What a key may do, and whose counters count it: keys that one key made count together. */
export interface LimitedKey {
  requestsOf: string;
  requestsPerMinute: number;
  requestsPerDay: number;
}

/** What minute and day say to one counted request. Times in seconds. */
export interface RequestLimits {
  admitted: boolean;
  refusedBy: 'minute' | 'day' | null;
  minuteRemaining: number;
  /** Until the minute's bucket is full again. */
  minuteResetSeconds: number;
  dayRemaining: number;
  dayResetSeconds: number;
  /** After which the same request is admitted; 0 for one that is. */
  retrySeconds: number;
}

/** A bucket of `perMinute` tokens that gains as many a minute, and what is to be taken from it. */
export interface Bucket {
  owner: string;
  name: string;
  perMinute: number;
  cost: number;
}

/** What a bucket says, and what is left of it. */
export interface Tokens {
  admitted: boolean;
  remaining: number;
  retrySeconds: number;
}

interface TokenLimiter {
  /**
   * Takes tokens; a refusal takes nothing. A cost above what the bucket can ever hold is admitted on a
   * full bucket and runs it into debt. A negative cost gives back what was taken.
   */
  takeTokens(bucket: Bucket): Promise<Tokens>;
  /**
   * Takes tokens whether they are there or not: what is missing has to be gained before the next one. A bucket owes
   * a minute's tokens at most.
   */
  oweTokens(bucket: Bucket): Promise<void>;
}

export interface PostgresLimiter extends TokenLimiter {
  store: 'postgres';
}

export interface RedisLimiter extends TokenLimiter {
  store: 'redis';
  /** Counts one request of each key against its minute and its day, both or neither; in order. */
  takeRequests(keys: readonly LimitedKey[]): Promise<RequestLimits[]>;
}

export type Limiter = PostgresLimiter | RedisLimiter;
