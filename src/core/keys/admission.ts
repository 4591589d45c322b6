/**
 * Who calls, whether the key may call now, and what its wallet holds: asked for every counted call, so
 * calls of one moment ask together: one statement where the limits are in Postgres, else one statement
 * for keys and wallets and one round trip for the limits of all of them.
 */
import type { Sql } from '../db/client.ts';
import { must } from '../lib/assert.ts';
import { coalesce } from '../lib/coalesce.ts';
import type { Limiter, RedisLimiter } from '../limits/limiter.ts';
import { hashKey, parseKey } from './key-format.ts';
import { invalidKey, keyRevoked } from './keys.ts';
import { type AdmittedCall, admitCalls, type Caller, findCallers } from './queries.ts';

/** A counted call that is let in, or refused by a limit (`limits.admitted` is false). */
export type Admission = AdmittedCall;

/** Admits a call by the key that it presented. Throws as `authenticate` does. */
export type Admit = (presented: string | undefined) => Promise<Admission>;

const IN_FLIGHT_MAX = 2;
const BATCH_MAX = 128;

/** What one call finds: undefined for an unknown key, an error for one that was revoked. */
type Found = AdmittedCall | Error | undefined;

export function openAdmission(sql: Sql, limiter: Limiter): Admit {
  const admit = coalesce<Buffer, AdmittedCall | undefined>(
    (hashes) =>
      limiter.store === 'redis'
        ? findAndLimit(sql, limiter, hashes)
        : admitCalls(sql, hashes).then((calls) => calls.map(refuseRevoked)),
    { inFlightMax: IN_FLIGHT_MAX, batchMax: BATCH_MAX },
  );
  return async (presented) => {
    // A mistyped key is refused here, without asking the database.
    if (presented === undefined || parseKey(presented) === null) throw invalidKey();
    const admitted = await admit(hashKey(presented));
    if (admitted === undefined) throw invalidKey();
    return admitted;
  };
}

async function findAndLimit(
  sql: Sql,
  limiter: RedisLimiter,
  hashes: readonly Buffer[],
): Promise<Found[]> {
  const callers = await findCallers(sql, hashes);
  const counted = callers.flatMap((caller) =>
    caller === undefined || isRevoked(caller) ? [] : [caller],
  );
  const limits = await limiter.takeRequests(counted.map((caller) => caller.key));
  const limitsOf = new Map(counted.map((caller, index) => [caller, limits[index]]));
  return callers.map((caller) => {
    if (caller === undefined) return undefined;
    if (isRevoked(caller)) return keyRevoked();
    return { ...caller, limits: must(limitsOf.get(caller), 'limits of a caller') };
  });
}

function refuseRevoked(call: AdmittedCall | undefined): Found {
  return call !== undefined && isRevoked(call) ? keyRevoked() : call;
}

function isRevoked({ key }: Caller): boolean {
  return key.revokedAt !== null;
}
