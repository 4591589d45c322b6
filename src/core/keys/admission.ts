/**
 * Admits metered calls: finds the key, checks its limits and reads its wallet. Concurrent calls are coalesced: one
 * statement when the limits are in Postgres, otherwise one statement for keys and wallets and one round trip for
 * all limits.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { coalesce, type Lane, openLane } from '../lib/coalesce.ts';
import { describeRequests } from '../limits/bucket.ts';
import type { Limiter, RedisLimiter, RequestLimits } from '../limits/limiter.ts';
import {
  type Caller,
  countCallers,
  findCallers,
  type LimitedCaller,
  type PresentedKey,
} from './keys.sql.ts';
import { isValid, refusalOf } from './keys.ts';
import { openKnownOwners } from './known-owners.ts';

/** A metered call that was admitted, or refused by a limit (`limits.admitted` is false). */
export interface Admission extends Caller {
  limits: RequestLimits;
}

/** Admits a call by the hash of its key. Throws as `authenticate`. */
export type Admit = (keySha256: Buffer) => Promise<Admission>;

/** Finds the key of a call by its hash, with the credits of its account. Throws as `authenticate`. */
export type Authenticate = (keySha256: Buffer) => Promise<Caller>;

const BATCH_MAX = 128;

/** One result for each call of a key: errors when the key is unknown or revoked. */
type Found = (Admission | Error)[];

/** Opens the admission of metered calls. Later stages of a call may share the lane. */
export function openAdmission(sql: Sql, limiter: Limiter, lane: Lane = openLane(2)): Admit {
  const admit = coalesce<string, Admission>((hashes) => admitTogether(sql, limiter, hashes), {
    lane,
    batchMax: BATCH_MAX,
    ownerOf: owners.ownerOf,
  });
  return (keySha256) => remembering(admit, keySha256);
}

/** Opens the authentication of unmetered calls, which others count. Concurrent calls are found in one statement. */
export function openAuthentication(sql: Sql, lane: Lane = openLane(2)): Authenticate {
  const find = coalesce<string, Caller>((hashes) => findTogether(sql, hashes), {
    lane,
    batchMax: BATCH_MAX,
    ownerOf: owners.ownerOf,
  });
  return (keySha256) => remembering(find, keySha256);
}

const owners = openKnownOwners();

async function remembering<Found extends Caller>(
  find: (hash: string) => Promise<Found>,
  keySha256: Buffer,
): Promise<Found> {
  const hash = keySha256.toString('hex');
  const found = await find(hash);
  owners.remember(hash, found.key.accountId);
  return found;
}

/** Returns the callers in the order of the hashes, each of which is looked up once. */
async function findTogether(sql: Sql, hashes: readonly string[]): Promise<(Caller | Error)[]> {
  const presented = [...new Set(hashes)];
  const callers = await findCallers(sql, presented);
  const callerOf = new Map(presented.map((hash, place) => [hash, callers[place]]));
  return hashes.map((hash) => {
    const caller = callerOf.get(hash);
    return isValid(caller) ? caller : refusalOf(caller);
  });
}

/**
 * Returns the results of the calls in their order; each key is found and counted once for all its calls. The
 * hashes are hexadecimal.
 */
async function admitTogether(
  sql: Sql,
  limiter: Limiter,
  hashes: readonly string[],
): Promise<(Admission | Error)[]> {
  const callsOf = new Map<string, number>();
  for (const hash of hashes) callsOf.set(hash, (callsOf.get(hash) ?? 0) + 1);
  const presented = [...callsOf].map(([keySha256, calls]) => ({ keySha256, calls }));
  const found =
    limiter.store === 'redis'
      ? await findAndLimit(sql, limiter, presented)
      : await findCounted(sql, presented);
  const resultsOf = new Map([...callsOf.keys()].map((hash, at) => [hash, found[at]?.values()]));
  return hashes.map((hash) => must(resultsOf.get(hash)?.next().value, 'a result for each call'));
}

async function findCounted(sql: Sql, presented: readonly PresentedKey[]): Promise<Found[]> {
  const callers = await countCallers(sql, presented);
  return presented.map(({ calls }, place) => {
    const caller = callers[place];
    if (caller?.taken == null) return refuse(caller, calls);
    const { taken, ...found } = caller;
    return describeRequests(found.key, taken, calls).map((limits) => ({ ...found, limits }));
  });
}

async function findAndLimit(
  sql: Sql,
  limiter: RedisLimiter,
  presented: readonly PresentedKey[],
): Promise<Found[]> {
  const hashes = presented.map(({ keySha256 }) => keySha256);
  const callers = await findCallers(sql, hashes);
  const counted = presented.flatMap(({ calls }, place) => {
    const caller = callers[place];
    if (!isValid(caller)) return [];
    return new Array<LimitedCaller>(calls).fill(caller);
  });
  const limits = (await limiter.takeRequests(counted.map(({ key }) => key))).values();
  const next = () => must(limits.next().value, 'limits of a call');
  return presented.map(({ calls }, place) => {
    const caller = callers[place];
    if (!isValid(caller)) return refuse(caller, calls);
    return Array.from({ length: calls }, () => ({ ...caller, limits: next() }));
  });
}

function refuse(caller: Caller | undefined, calls: number): Error[] {
  return Array.from({ length: calls }, () => refusalOf(caller));
}
