/**
 * Tells listeners when a batch changes, and when the key or session that they came with ends. All listeners
 * of a process share one poll of all watched batches and one of what they came with, and a poll returns only what has changed: a
 * thousand idle listeners cost two small queries every half second.
 */
import type { Sql } from '../../core/db/client.ts';
import type { CallCredentials } from '../../core/keys/keys.ts';
import type { Log } from '../../core/log.ts';
import { findEnded } from '../../core/sessions/still-in-force.ts';
import type { Batch } from './batch.ts';
import { findChangedBatches } from './batches.sql.ts';

const POLL_MS = 500;

type Listener = (batch: Batch) => void;

export interface BatchWatcher {
  /** Calls back at every change of the batch after what `known` says of it, until the returned function. */
  watch(known: Batch, listener: Listener): () => void;
  /** Calls back once the key or the session is not in force any more, until the returned function. */
  watchCaller(credentials: CallCredentials, onEnd: () => void): () => void;
  stop(): void;
}

interface Watched {
  /** Of the row, when it was last read; empty before. */
  version: string;
  /** Each with what it knows. */
  listeners: Map<Listener, string>;
}

/** What listeners came with, and whom to tell of its end. */
interface WatchedCaller extends CallCredentials {
  listeners: Set<() => void>;
}

export function watchBatches(sql: Sql, log: Log): BatchWatcher {
  const watched = new Map<string, Watched>();
  const callers = new Map<string, WatchedCaller>();
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
  const pollCallers = async () => {
    if (callers.size === 0) return;
    for (const { listeners } of await findEnded(sql, [...callers.values()])) {
      for (const onEnd of [...listeners]) onEnd();
    }
  };
  const schedule = () => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      Promise.all([pollBatches(), pollCallers()])
        .catch((error) => log.warn({ err: error }, 'watched batches could not be read'))
        .finally(() => {
          timer = null;
          if (watched.size + callers.size > 0) schedule();
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
    watchCaller(credentials, onEnd) {
      const name = `${credentials.keyId} ${credentials.sessionSha256?.toString('hex')}`;
      const caller = callers.get(name) ?? { ...credentials, listeners: new Set() };
      caller.listeners.add(onEnd);
      callers.set(name, caller);
      schedule();
      return () => {
        caller.listeners.delete(onEnd);
        if (caller.listeners.size === 0 && callers.get(name) === caller) callers.delete(name);
      };
    },
    stop() {
      watched.clear();
      callers.clear();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
