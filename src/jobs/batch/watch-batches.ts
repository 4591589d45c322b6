/**
 * Notifies listeners when a batch changes, and when their key or session ends. All listeners of a process share
 * one poll of all watched batches and one of all keys and sessions, and a poll returns only changes: a thousand
 * idle listeners cost two small queries every half second.
 */
import type { Sql } from '../../core/db/client.ts';
import type { CallCredentials } from '../../core/keys/keys.ts';
import type { Log } from '../../core/log.ts';
import { findEnded } from '../../core/sessions/still-valid.ts';
import type { Batch } from './batch.ts';
import { findChangedBatches } from './batches.sql.ts';

const POLL_MS = 500;

type Listener = (batch: Batch) => void;

export interface BatchWatcher {
  /** Calls back at every change of the batch since `known`, until the returned function is called. */
  watch(known: Batch, listener: Listener): () => void;
  /** Calls back once when the key or session is no longer valid, until the returned function is called. */
  watchCaller(credentials: CallCredentials, onEnd: () => void): () => void;
  stop(): void;
}

interface Watched {
  /** The lowest revision that a listener knows. */
  revision: number;
  /** Listeners with the revision sent to each last. */
  listeners: Map<Listener, number>;
}

/** The credentials of listeners, and the callbacks for their end. */
interface WatchedCaller extends CallCredentials {
  listeners: Set<() => void>;
}

export function watchBatches(sql: Sql, log: Log): BatchWatcher {
  const watched = new Map<string, Watched>();
  const callers = new Map<string, WatchedCaller>();
  let timer: NodeJS.Timeout | null = null;

  const pollBatches = async () => {
    if (watched.size === 0) return;
    const known = [...watched].map(([id, { revision }]) => ({ id, revision }));
    for (const batch of await findChangedBatches(sql, known)) {
      const one = watched.get(batch.id);
      if (one === undefined) continue;
      for (const [listener, revision] of [...one.listeners]) {
        if (revision >= batch.revision) continue;
        one.listeners.set(listener, batch.revision);
        listener(batch);
      }
      one.revision = Math.min(...one.listeners.values());
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
        .catch((error) => log.warn({ err: error }, 'could not poll watched batches'))
        .finally(() => {
          timer = null;
          if (watched.size + callers.size > 0) schedule();
        });
    }, POLL_MS);
  };
  return {
    watch(known, listener) {
      const { id, revision } = known;
      const one: Watched = watched.get(id) ?? { revision, listeners: new Map() };
      one.listeners.set(listener, revision);
      // A new listener may not know of a change that others were notified of.
      one.revision = Math.min(one.revision, revision);
      watched.set(id, one);
      schedule();
      return () => {
        one.listeners.delete(listener);
        if (one.listeners.size === 0 && watched.get(id) === one) watched.delete(id);
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
