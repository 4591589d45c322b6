/**
 * The store of limits: Postgres, where the statement that finds a key takes its limits too, or Redis. Both count
 * alike: token buckets by the generic cell rate algorithm on the store's own clock, a counter per UTC day, and a
 * refusal takes nothing.
 */

/** The limits of a key, and whose counters it uses: keys that one key created share its counters. */
export interface LimitedKey {
  requestsOf: string;
  requestsPerMinute: number;
  requestsPerDay: number;
}

/** The outcome of one metered request at its limits per minute and day. Times in seconds. */
export interface RequestLimits {
  admitted: boolean;
  refusedBy: 'minute' | 'day' | null;
  minuteRemaining: number;
  /** Time until the minute's bucket is full again. */
  minuteResetSeconds: number;
  dayRemaining: number;
  dayResetSeconds: number;
  /** Time after which the same request is admitted; 0 for an admitted one. */
  retrySeconds: number;
}

/** A bucket of `perMinute` tokens, refilled at that rate per minute, and the number of tokens to take from it. */
export interface Bucket {
  owner: string;
  name: string;
  perMinute: number;
  cost: number;
}

/** The outcome of taking tokens, and the number left. */
export interface Tokens {
  admitted: boolean;
  remaining: number;
  retrySeconds: number;
}

interface TokenLimiter {
  /**
   * Takes tokens; a refusal takes nothing. A cost above the capacity is admitted by a full bucket and puts it into
   * debt. A negative cost returns tokens.
   */
  takeTokens(bucket: Bucket): Promise<Tokens>;
  /**
   * Takes tokens even if the bucket lacks them: nothing is admitted until the debt is repaid. A bucket
   * owes at most a minute's tokens.
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
