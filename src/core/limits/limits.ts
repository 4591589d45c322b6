/**
 * What a key may do in a minute and a day. Counted requests have a token bucket and a daily cap per key;
 * all other calls share a bucket per account; rows of lists have a bucket of their own where a key sets one.
 */
import { createHash } from 'node:crypto';
import { AppError } from '../lib/errors.ts';
import type { Bucket, LimitedKey, Limiter, RequestLimits } from './limiter.ts';
import { countRefusal } from './refusals.ts';

/** Calls a minute that an account may make beside the counted ones. */
const OTHER_CALLS_PER_MINUTE = 600;
/**
 * Wrong sign-ins a minute. A whole office may share an address; nobody mistypes a password more often than
 * this. There is no limit for an e-mail address by itself: others could use it to shut its owner out.
 */
const WRONG_SIGN_INS_PER_MINUTE = { address: 60, addressAndEmail: 6 };

/** Counts and makes the refusal of a counted call, by the limit that refused it. */
export function requestRefused(
  key: Omit<LimitedKey, 'requestsOf'>,
  limits: Pick<RequestLimits, 'refusedBy' | 'retrySeconds'>,
): AppError {
  countRefusal(limits.refusedBy === 'day' ? 'day' : 'minute');
  return limits.refusedBy === 'day'
    ? rateLimited('requests a day', key.requestsPerDay, limits.retrySeconds)
    : rateLimited('requests a minute', key.requestsPerMinute, limits.retrySeconds);
}

/** Requests that a search costs which the database worked on until its time was over. */
const TIMED_OUT_SEARCH_REQUESTS = 20;

/**
 * Takes the requests that an unfinished search costs from its key, beyond the one that it was admitted with.
 * `share` is the part of a search's time that the database worked on it, 0 to 1.
 */
export async function chargeUnfinishedSearch(
  limiter: Limiter,
  key: Pick<LimitedKey, 'requestsOf' | 'requestsPerMinute'>,
  share: number,
): Promise<void> {
  const cost = Math.ceil(TIMED_OUT_SEARCH_REQUESTS * Math.min(1, share)) - 1;
  if (cost <= 0) return;
  const { requestsOf: owner, requestsPerMinute: perMinute } = key;
  await limiter.oweTokens({ owner, name: 'requests', perMinute, cost });
}

/** Counts any other call. Throws `AppError` 429 when the account makes too many. */
export async function countOtherCall(limiter: Limiter, key: { accountId: string }): Promise<void> {
  const tokens = await limiter.takeTokens({
    owner: key.accountId,
    name: 'other calls',
    perMinute: OTHER_CALLS_PER_MINUTE,
    cost: 1,
  });
  if (!tokens.admitted) {
    countRefusal('other');
    throw rateLimited('other calls of the account', OTHER_CALLS_PER_MINUTE, tokens.retrySeconds);
  }
}

/** Who tries to sign in: the network address, and the e-mail address where one is given. */
export interface SignInAttempt {
  address: string;
  email: string | null;
}

/**
 * Counts an attempt to sign in before its password is looked at, so that attempts at the same time cannot pass
 * the limit together; `forgetSignIn` takes a right one back. Throws `AppError` 429 when there are too many.
 */
export async function countSignIn(limiter: Limiter, attempt: SignInAttempt): Promise<void> {
  for (const bucket of signInBuckets(attempt)) {
    const tokens = await limiter.takeTokens({ ...bucket, cost: 1 });
    if (!tokens.admitted) {
      throw rateLimited('wrong sign-ins a minute', bucket.perMinute, tokens.retrySeconds);
    }
  }
}

/** Takes back what `countSignIn` counted: the sign-in was right. */
export async function forgetSignIn(limiter: Limiter, attempt: SignInAttempt): Promise<void> {
  for (const bucket of signInBuckets(attempt)) await limiter.takeTokens({ ...bucket, cost: -1 });
}

function signInBuckets({ address, email }: SignInAttempt): Omit<Bucket, 'cost'>[] {
  const { address: perAddress, addressAndEmail } = WRONG_SIGN_INS_PER_MINUTE;
  const name = 'sign-ins';
  const ofAddress = { owner: ownerNamed(address), name, perMinute: perAddress };
  if (email === null) return [ofAddress];
  const owner = ownerNamed(`${address} ${email}`);
  return [ofAddress, { owner, name, perMinute: addressAndEmail }];
}

/** Buckets belong to ids: this is the one that stands for a text. */
function ownerNamed(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Takes rows from the key's bucket, where it has one. Returns 0 when they may run, else the seconds after
 * which they may.
 */
export async function takeRows(
  limiter: Limiter,
  key: { rowsOf: string; rowsPerMinute: number | null },
  rows: number,
): Promise<number> {
  if (key.rowsPerMinute === null || rows === 0) return 0;
  const bucket = { owner: key.rowsOf, name: 'rows', perMinute: key.rowsPerMinute, cost: rows };
  const tokens = await limiter.takeTokens(bucket);
  if (!tokens.admitted) countRefusal('rows');
  return tokens.admitted ? 0 : tokens.retrySeconds;
}

/** Enough to correct the columns of a list and see the price each time. */
const QUOTES_PER_MINUTE = 5;

/** Counts a quote of a list. Throws `AppError` 429 when it is asked too often: options that change would probe it. */
export async function countQuote(limiter: Limiter, batchId: string): Promise<void> {
  const bucket = { owner: batchId, name: 'quotes', perMinute: QUOTES_PER_MINUTE, cost: 1 };
  const tokens = await limiter.takeTokens(bucket);
  if (tokens.admitted) return;
  countRefusal('quotes');
  throw rateLimited('quotes of one batch a minute', QUOTES_PER_MINUTE, tokens.retrySeconds);
}

/** Nobody knows when another answer ends: often enough to notice, seldom enough not to disturb. */
const OPEN_RETRY_SECONDS = 10;

/** The refusal of one more answer that stays open, such as a download, beside those that are. */
export function tooManyOpen(name: string, max: number, owner = 'the account'): AppError {
  return rateLimited(`${name} of ${owner} open at once`, max, OPEN_RETRY_SECONDS);
}

/** A list that waits for somebody may stay open for long; one that runs ends in seconds or minutes. */
const OPEN_LISTS_RETRY_SECONDS = 60;

/** The refusal of one more list or export, beside those of the account that have not ended. */
export function tooManyOpenLists(max: number): AppError {
  return rateLimited(
    'lists and exports of the account that have not ended',
    max,
    OPEN_LISTS_RETRY_SECONDS,
    'Cancel what is not needed, or try again',
  );
}

/** The refusal of a call: which limit, what to do, and when. */
function rateLimited(
  limit: string,
  quota: number,
  retrySeconds: number,
  advice = 'Try again',
): AppError {
  const retryAfter = Math.max(1, Math.ceil(retrySeconds));
  return new AppError({
    code: 'rate_limited',
    status: 429,
    message: `The limit of ${quota} for ${limit} is reached. ${advice} in ${retryAfter} s.`,
    extensions: { limit, quota, retry_after: retryAfter },
  });
}
