/**
 * Who calls, whether the key may call now, and what its wallet holds: asked for every counted call, so
 * calls of one moment ask together, in one statement.
 */
import type { Sql } from '../db/client.ts';
import { coalesce } from '../lib/coalesce.ts';
import { hashKey, parseKey } from './key-format.ts';
import { invalidKey, keyRevoked } from './keys.ts';
import { type AdmittedCall, admitCalls } from './queries.ts';

/** A counted call that is let in, or refused by a limit (`limits.admitted` is false). */
export type Admission = AdmittedCall;

/** Admits a call by the key that it presented. Throws as `authenticate` does. */
export type Admit = (presented: string | undefined) => Promise<Admission>;

const IN_FLIGHT_MAX = 2;
const BATCH_MAX = 128;

export function openAdmission(sql: Sql): Admit {
  const admit = coalesce<Buffer, AdmittedCall | undefined>((hashes) => admitCalls(sql, hashes), {
    inFlightMax: IN_FLIGHT_MAX,
    batchMax: BATCH_MAX,
  });
  return async (presented) => {
    // A mistyped key is refused here, without asking the database.
    if (presented === undefined || parseKey(presented) === null) throw invalidKey();
    const admitted = await admit(hashKey(presented));
    if (admitted === undefined) throw invalidKey();
    if (admitted.key.revokedAt !== null) throw keyRevoked();
    return admitted;
  };
}
