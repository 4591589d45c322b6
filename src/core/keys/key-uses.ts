/**
 * The last use of keys, for their holders. A process writes it at most every five minutes for a key, beside the call: no
 * call waits for it, and none fails by it.
 */
import type { Sql } from '../db/client.ts';
import type { Log } from '../log.ts';
import { upsertKeyUse } from './key-uses.sql.ts';

const EVERY_MS = 5 * 60 * 1000;
/** Keys that one process remembers. */
const KEYS_MAX = 10_000;

export interface KeyUses {
  /** Notes a call of the key. */
  note(keyId: string): void;
  /** Resolves when everything noted so far is written. */
  written(): Promise<void>;
}

/** Opens the record of one process. */
export function openKeyUses(sql: Sql, log: Log, now: () => number = Date.now): KeyUses {
  const noted = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();
  return {
    note(keyId) {
      const at = now();
      if (at - (noted.get(keyId) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return;
      if (noted.size >= KEYS_MAX) noted.clear();
      noted.set(keyId, at);
      // One after the other: a burst of keys must not take the pool from their calls.
      writing = writing
        .then(() => upsertKeyUse(sql, keyId))
        .catch((error: unknown) => {
          noted.delete(keyId);
          log.warn({ err: error, key: keyId }, 'the last use of a key could not be written');
        });
    },
    written: () => writing,
  };
}
