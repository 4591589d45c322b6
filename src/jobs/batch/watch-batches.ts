/**
 * Tells listeners when a batch changes, and when the key that they came with ends. All listeners of a process
 * share one poll of all watched batches and one of their keys, and a poll returns only what has changed: a
 * thousand idle listeners cost two small queries every half second.
 */
import type { Sql } from '../../core/db/client.ts';
import { findEndedKeys } from '../../core/keys/keys.ts';
import type { Log } from '../../core/log.ts';
import { type Batch, findChangedBatches } from './queries.ts';

const POLL_MS = 500;

type Listener = (batch: Batch) => void;

export interface BatchWatcher {
  /** Calls back at every change of the batch after what `known` says of it, until the returned function. */
  watch(known: Batch, listener: Listener): () => void;
  /** Calls back once the key was revoked or has ended by itself, until the returned function. */
  watchKey(keyId: string, onEnd: () => void): () => void;
  stop(): void;
}

interface Watched {
  /** Of the row, when it was last read; empty before. */
  version: string;
  /** Each with what it knows. */
  listeners: Map<Listener, string>;
}

export function watchBatches(sql: Sql, log: Log): BatchWatcher {
  const watched = new Map<string, Watched>();
  const keys = new Map<string, Set<() => void>>();
  let timer: NodeJS.Timeout | null = null;

  const pollBatches = async () => {
    if (watched.size === 0) return;
    const versions = [...watched].map(([id, { version }]) => ({ id, version }));
    for (const { version, ...row } of await findChangedBatches(sql, versions)) {
      const batch = row as Batch;
      const one = watched.get(batch.id);
      if (one === undefined) continue;
      one.version = version;
      const now = JSON.stringify(batch);
      for (const [listener, known] of [...one.listeners]) {
        if (known === now) continue;
        one.listeners.set(listener, now);
        listener(batch);
      }
    }
  };
  const pollKeys = async () => {
    if (keys.size === 0) return;
    for (const id of await findEndedKeys(sql, [...keys.keys()])) {
      for (const onEnd of [...(keys.get(id) ?? [])]) onEnd();
    }
  };
  const schedule = () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      Promise.all([pollBatches(), pollKeys()])
        .catch((error) => log.warn({ err: error }, 'watched batches could not be read'))
        .finally(() => {
          timer = null;
          if (watched.size + keys.size > 0) schedule();
        });
    }, POLL_MS);
  };
  return {
    watch(known, listener) {
      const one: Watched = watched.get(known.id) ?? { version: '', listeners: new Map() };
      one.listeners.set(listener, JSON.stringify(known));
      // Who comes after a change that others have heard may not know of it.
      one.version = '';
      watched.set(known.id, one);
      schedule();
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size === 0 && watched.get(known.id) === one) watched.delete(known.id);
      };
    },
    watchKey(keyId, onEnd) {
      const listeners = keys.get(keyId) ?? new Set();
      listeners.add(onEnd);
      keys.set(keyId, listeners);
      schedule();
      return () => {
        listeners.delete(onEnd);
        if (listeners.size === 0 && keys.get(keyId) === listeners) keys.delete(keyId);
      };
    },
    stop() {
      watched.clear();
      keys.clear();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
