/**
 * The limits of a key. Metered calls have a token bucket and a daily cap per key; all other calls share a bucket
 * per account; rows of lists have a bucket of their own if a key sets one.
 */
import { createHash } from 'node:crypto';
import type { Config } from '../config.ts';
import type { Sql } from '../db/client.ts';
import { AppError } from '../lib/errors.ts';
import type { Bucket, LimitedKey, Limiter, RequestLimits, Tokens } from './limiter.ts';
import { takeFromDay } from './limits.sql.ts';
import { countRefusal } from './refusals.ts';

const DAY_SECONDS = 86_400;

/** Maximum unmetered calls of an account in a minute. */
const UNMETERED_CALLS_PER_MINUTE = 600;
/**
 * Maximum failed sign-ins in a minute. A whole office may share a network; people do not mistype passwords more
 * often than this. There is no limit per email address alone: others could use it to lock its owner out.
 */
const FAILED_SIGN_INS_PER_MINUTE = { network: 60, networkAndEmail: 6 };

/** Counts the refusal of a metered call and returns its error, by the limit that refused it. */
export function requestRefused(
  key: Omit<LimitedKey, 'requestsOf'>,
  limits: Pick<RequestLimits, 'refusedBy' | 'retrySeconds'>,
): AppError {
  countRefusal(limits.refusedBy === 'day' ? 'day' : 'minute');
  return limits.refusedBy === 'day'
    ? rateLimited('requests a day', key.requestsPerDay, limits.retrySeconds)
    : rateLimited('requests a minute', key.requestsPerMinute, limits.retrySeconds);
}

/** Requests that a search costs when it ran until its timeout. */
const TIMED_OUT_SEARCH_REQUESTS = 20;

/**
 * Takes the requests that an unfinished search costs from its key, beyond the one that it was admitted with.
 * `share` is the part of the timeout that the database spent on it, 0 to 1.
 */
export async function chargeUnfinishedSearch(
  limiter: Limiter,
  key: Pick<LimitedKey, 'requestsOf' | 'requestsPerMinute'>,
  share: number,
): Promise<void> {
  await oweRequests(limiter, key, Math.ceil(TIMED_OUT_SEARCH_REQUESTS * Math.min(1, share)) - 1);
}

/**
 * Counts the look-ups of a call beyond the request that it was admitted with, as requests of the key's day and minute. Throws
 * `AppError` 429 when the day has not as many left; the minute lends them, and the next call waits.
 */
export async function countFurtherRequests(
  { sql, limiter }: { sql: Sql; limiter: Limiter },
  key: LimitedKey,
  requests: number,
): Promise<void> {
  if (requests <= 0) return;
  const { requestsOf: owner, requestsPerDay: perDay } = key;
  if (!(await takeFromDay(sql, { owner, perDay, requests }))) {
    throw requestRefused(key, { refusedBy: 'day', retrySeconds: secondsOfDayLeft() });
  }
  await oweRequests(limiter, key, requests);
}

/**
 * Takes the requests that a metered call costs beyond the one that it was admitted with; the next one waits until they are
 * there again.
 */
async function oweRequests(
  limiter: Limiter,
  key: Pick<LimitedKey, 'requestsOf' | 'requestsPerMinute'>,
  cost: number,
): Promise<void> {
  if (cost <= 0) return;
  const { requestsOf: owner, requestsPerMinute: perMinute } = key;
  await limiter.oweTokens({ owner, name: 'requests', perMinute, cost });
}

/** Longest wait for a token of a bucket that owes a minute at most, with room for the slowest of them. */
const WAIT_SECONDS_MAX = 120;

/** Takes a token from a bucket that owes a minute at most. */
function takeToken(limiter: Limiter, of: Omit<Bucket, 'cost'>): Promise<Tokens> {
  return takeBounded(limiter, { ...of, cost: 1 }, WAIT_SECONDS_MAX);
}

/**
 * Takes tokens from a bucket whose waits are at most `secondsMax`. A longer wait comes from a clock that was set back; then
 * the bucket owes a minute.
 */
async function takeBounded(limiter: Limiter, bucket: Bucket, secondsMax: number): Promise<Tokens> {
  const tokens = await limiter.takeTokens(bucket);
  if (tokens.retrySeconds <= secondsMax) return tokens;
  // Owing nothing bounds the debt.
  await limiter.oweTokens({ ...bucket, cost: 0 });
  return limiter.takeTokens(bucket);
}

/** Counts an unmetered call. Throws `AppError` 429 when the account makes too many. */
export async function countUnmeteredCall(
  limiter: Limiter,
  key: { accountId: string },
): Promise<void> {
  const tokens = await takeToken(limiter, {
    owner: key.accountId,
    name: 'other calls',
    perMinute: UNMETERED_CALLS_PER_MINUTE,
  });
  if (!tokens.admitted) {
    countRefusal('other');
    throw rateLimited(
      'unmetered calls of the account a minute',
      UNMETERED_CALLS_PER_MINUTE,
      tokens.retrySeconds,
    );
  }
}

/** Takes the unmetered calls that a call costs beyond the one that it was counted as. */
export async function oweUnmeteredCalls(
  limiter: Limiter,
  { accountId }: { accountId: string },
  cost: number,
): Promise<void> {
  if (cost <= 0) return;
  const perMinute = UNMETERED_CALLS_PER_MINUTE;
  await limiter.oweTokens({ owner: accountId, name: 'other calls', perMinute, cost });
}

/** The origin of a sign-in: the network, and the email address if one is given. */
export interface SignInAttempt {
  network: string;
  email: string | null;
}

/**
 * Counts a sign-in attempt before its password is checked, so that concurrent attempts cannot exceed the limit;
 * `forgetSignIn` undoes it for a successful one. Throws `AppError` 429 when there are too many.
 */
export async function countSignIn(limiter: Limiter, attempt: SignInAttempt): Promise<void> {
  for (const bucket of signInBuckets(attempt)) {
    const tokens = await takeToken(limiter, bucket);
    if (!tokens.admitted) {
      throw rateLimited('failed sign-ins a minute', bucket.perMinute, tokens.retrySeconds);
    }
  }
}

/** Undoes what `countSignIn` counted: the sign-in succeeded. */
export async function forgetSignIn(limiter: Limiter, attempt: SignInAttempt): Promise<void> {
  for (const bucket of signInBuckets(attempt)) await limiter.takeTokens({ ...bucket, cost: -1 });
}

function signInBuckets({ network, email }: SignInAttempt): Omit<Bucket, 'cost'>[] {
  const { network: perNetwork, networkAndEmail } = FAILED_SIGN_INS_PER_MINUTE;
  const name = 'sign-ins';
  const ofNetwork = { owner: ownerNamed(network), name, perMinute: perNetwork };
  if (email === null) return [ofNetwork];
  const owner = ownerNamed(`${network} ${email}`);
  return [ofNetwork, { owner, name, perMinute: networkAndEmail }];
}

/** Buckets belong to ids: returns the id that represents a text. */
function ownerNamed(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/**
 * Takes rows from the key's bucket, if it has one; a negative number returns them. Returns 0 when they may run, otherwise the
 * seconds after which they may. A full bucket lends the rows of the longest list, for a quote of it.
 */
export async function takeRows(
  { limiter, config }: { limiter: Limiter; config: Pick<Config, 'batchRowsMax'> },
  key: { rowsOf: string; rowsPerMinute: number | null },
  rows: number,
): Promise<number> {
  const perMinute = key.rowsPerMinute;
  if (perMinute === null || rows === 0) return 0;
  const bucket = { owner: key.rowsOf, name: 'rows', perMinute, cost: rows };
  const lentSeconds = (Math.max(rows, config.batchRowsMax) / perMinute) * 60;
  const tokens = await takeBounded(limiter, bucket, lentSeconds + WAIT_SECONDS_MAX);
  if (!tokens.admitted) countRefusal('rows');
  return tokens.admitted ? 0 : tokens.retrySeconds;
}

/** As many as the requests that a key may make by default: each discloses as much as a single call. */
const UNPAID_DISCLOSURES_PER_MINUTE = 60;
/** Those of the longest chunk are regained in less. */
const DISCLOSURES_WAIT_SECONDS_MAX = 2 * DAY_SECONDS;

/**
 * Takes unpaid ambiguous rows of lists from the account's bucket. Returns how many of them may be disclosed: all when the
 * bucket is full, and then the next ones wait, so that a first list of any length is disclosed in full.
 */
export async function takeUnpaidDisclosures(
  limiter: Limiter,
  accountId: string,
  rows: number,
): Promise<number> {
  const perMinute = UNPAID_DISCLOSURES_PER_MINUTE;
  let cost = rows;
  while (cost > 0) {
    const bucket = { owner: accountId, name: 'unpaid disclosures', perMinute, cost };
    const { admitted, remaining } = await takeBounded(
      limiter,
      bucket,
      DISCLOSURES_WAIT_SECONDS_MAX,
    );
    if (admitted) return cost;
    cost = Math.min(cost - 1, remaining);
  }
  return 0;
}

/** Enough to correct the columns of a list and see the price each time. */
const QUOTES_PER_MINUTE = 5;

/**
 * Counts a quote of a list. Throws `AppError` 429 when there are too many: quotes with varied options would probe
 * the list.
 */
export async function countQuote(limiter: Limiter, batchId: string): Promise<void> {
  const bucket = { owner: batchId, name: 'quotes', perMinute: QUOTES_PER_MINUTE };
  const tokens = await takeToken(limiter, bucket);
  if (tokens.admitted) return;
  countRefusal('quotes');
  throw rateLimited('quotes of one batch a minute', QUOTES_PER_MINUTE, tokens.retrySeconds);
}

/** The end of another open response is unknown: frequent enough to notice, rare enough not to disturb. */
const OPEN_RETRY_SECONDS = 10;

/** Returns the error for one more long-lived response, such as a download, beyond the maximum. */
export function tooManyOpen(name: string, max: number, owner = 'the account'): AppError {
  return rateLimited(`${name} of ${owner} open at once`, max, OPEN_RETRY_SECONDS);
}

/** A list that waits for a person may stay open for long; a running one ends in seconds or minutes. */
const OPEN_LISTS_RETRY_SECONDS = 60;

/** Returns the error for one more list or export beyond the maximum of unfinished ones. */
export function tooManyOpenLists(max: number): AppError {
  return rateLimited(
    'unfinished lists and exports of the account',
    max,
    OPEN_LISTS_RETRY_SECONDS,
    'Cancel those that are not needed, or try again',
  );
}

/**
 * Counts a list or an export that the account makes in its UTC day, in the transaction that records it. Throws `AppError` 429
 * when it has made `perDay`.
 */
export async function countRecorded(tx: Sql, accountId: string, perDay: number): Promise<void> {
  if (await takeFromDay(tx, { owner: accountId, perDay, requests: 1 })) return;
  countRefusal('lists');
  throw rateLimited('lists and exports of the account a day', perDay, secondsOfDayLeft());
}

/** Returns the error for one more key than an account may make in a UTC day. */
export function tooManyKeysToday(perDay: number): AppError {
  return rateLimited('keys that the account makes a day', perDay, secondsOfDayLeft());
}

function secondsOfDayLeft(): number {
  return DAY_SECONDS - ((Date.now() / 1000) % DAY_SECONDS);
}

/** Returns the error of a limited call: the limit, what to do, and when. */
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
