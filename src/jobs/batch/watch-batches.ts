/**
 * Notifies listeners when a batch changes, and when their key or session ends. All listeners of a process share
 * one poll of all watched batches and one of all keys and sessions, and a poll returns only changes: a thousand
 * idle listeners cost two small queries every half second.
 */
import { createHash } from 'node:crypto';
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
  /** Version of the row when last read; empty before. */
  version: string;
  /** Listeners with the digest of the last state sent to each: a thousand copies of a batch would fill the memory. */
  listeners: Map<Listener, string>;
}

/** The credentials of listeners, and the callbacks for their end. */
interface WatchedCaller extends CallCredentials {
  listeners: Set<() => void>;
}

function digestOf(batch: Batch): string {
  return createHash('sha256').update(JSON.stringify(batch)).digest('base64');
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
      const now = digestOf(batch);
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
        .catch((error) => log.warn({ err: error }, 'could not poll watched batches'))
        .finally(() => {
          timer = null;
          if (watched.size + callers.size > 0) schedule();
        });
    }, POLL_MS);
  };
  return {
    watch(known, listener) {
      const { id } = known;
      const one: Watched = watched.get(id) ?? { version: '', listeners: new Map() };
      one.listeners.set(listener, digestOf(known));
      // A new listener may not know of a change that others were notified of.
      one.version = '';
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
