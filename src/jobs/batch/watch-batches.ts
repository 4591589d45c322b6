/**
 * Notifies listeners when a batch changes, and when their key or session ends. All listeners of a process share
 * one poll of all watched batches and one of all keys and sessions, and a poll returns only changes: a thousand
 * idle listeners cost two small queries every half second. A batch that is newly watched is polled more often: a small
 * list ends within a tenth of a second, and its caller may wait for it.
 */

import type { CallCredentials } from '../../core/call-credentials.ts';
import type { Sql } from '../../core/db/client.ts';
import type { Log } from '../../core/log.ts';
import { findEnded } from '../../core/sessions/still-valid.ts';
import type { Batch } from './batch.ts';
import { findChangedBatches } from './batches.sql.ts';

/** Longest pause between two polls of a batch. */
export const POLL_MS = 500;
/** The pause before the first poll of a newly watched batch; each pause after it is longer, up to `POLL_MS`. */
const FIRST_POLL_MS = 20;
const PAUSE_GROWTH = 1.5;

type Listener = (batch: Batch) => void;

export interface BatchWatcher {
  /**
   * Calls back at every change of the batch since `known`, and `onStop` when there will be no more, until the returned
   * function is called.
   */
  watch(known: Batch, listener: Listener, onStop?: () => void): () => void;
  /** Calls back once when the key or session is no longer valid, until the returned function is called. */
  watchCaller(credentials: CallCredentials, onEnd: () => void): () => void;
  stop(): void;
}

interface Watched {
  /** The lowest revision that a listener knows. */
  revision: number;
  /** Listeners with the revision sent to each last. */
  listeners: Map<Listener, number>;
  /** Time of its next poll on the monotonic clock, and the pause after that. */
  dueAt: number;
  pauseMs: number;
}

/** The credentials of listeners, and the callbacks for their end. */
interface WatchedCaller extends CallCredentials {
  listeners: Set<() => void>;
}

/** @param firstPollMs the pause before the first poll of a newly watched batch */
export function watchBatches(sql: Sql, log: Log, firstPollMs = FIRST_POLL_MS): BatchWatcher {
  const watched = new Map<string, Watched>();
  const callers = new Map<string, WatchedCaller>();
  const stops = new Set<() => void>();
  let callersDueAt = Number.POSITIVE_INFINITY;

  const pollCallers = async (now: number) => {
    if (callersDueAt > now) return;
    callersDueAt = now + POLL_MS;
    for (const { listeners } of await findEnded(sql, [...callers.values()])) {
      for (const onEnd of [...listeners]) onEnd();
    }
  };
  const alarm = openAlarm(async () => {
    const now = performance.now();
    await Promise.all([pollBatches(sql, watched, now), pollCallers(now)]).catch((error) =>
      log.warn({ err: error }, 'could not poll watched batches'),
    );
    if (callers.size === 0) callersDueAt = Number.POSITIVE_INFINITY;
    let next = callersDueAt;
    for (const { dueAt } of watched.values()) next = Math.min(next, dueAt);
    return next;
  });
  return {
    watch(known, listener, onStop = () => {}) {
      const { id, revision } = known;
      const one = watched.get(id) ?? newlyWatched(revision, firstPollMs);
      one.listeners.set(listener, revision);
      // A new listener may not know of a change that others were notified of.
      one.revision = Math.min(one.revision, revision);
      watched.set(id, one);
      stops.add(onStop);
      alarm.ringAt(one.dueAt);
      return () => {
        stops.delete(onStop);
        one.listeners.delete(listener);
        if (one.listeners.size === 0 && watched.get(id) === one) watched.delete(id);
      };
    },
    watchCaller(credentials, onEnd) {
      const name = `${credentials.keyId} ${credentials.sessionSha256?.toString('hex')}`;
      const caller = callers.get(name) ?? { ...credentials, listeners: new Set() };
      caller.listeners.add(onEnd);
      callers.set(name, caller);
      callersDueAt = Math.min(callersDueAt, performance.now() + POLL_MS);
      alarm.ringAt(callersDueAt);
      return () => {
        caller.listeners.delete(onEnd);
        if (caller.listeners.size === 0 && callers.get(name) === caller) callers.delete(name);
      };
    },
    stop() {
      for (const onStop of [...stops]) onStop();
      stops.clear();
      watched.clear();
      callers.clear();
      alarm.stop();
    },
  };
}

/**
 * Runs `work` at the earliest time that it was asked for, once at a time; it returns when it runs next. Times are those of
 * the monotonic clock.
 */
function openAlarm(work: () => Promise<number>): { ringAt(time: number): void; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let at = Number.POSITIVE_INFINITY;
  let isRunning = false;
  const ring = async () => {
    at = Number.POSITIVE_INFINITY;
    isRunning = true;
    const next = await work();
    isRunning = false;
    ringAt(next);
  };
  const ringAt = (time: number) => {
    // The end of running work sets the timer again.
    if (isRunning || time >= at) return;
    clearTimeout(timer);
    at = time;
    timer = setTimeout(() => void ring(), Math.max(0, time - performance.now()));
  };
  return { ringAt, stop: () => clearTimeout(timer) };
}

/** Reads the batches that are due at `now`, and notifies their listeners of changes. */
async function pollBatches(
  sql: Sql,
  watched: ReadonlyMap<string, Watched>,
  now: number,
): Promise<void> {
  const due = [...watched].filter(([, { dueAt }]) => dueAt <= now);
  if (due.length === 0) return;
  for (const [, one] of due) {
    one.dueAt = now + one.pauseMs;
    one.pauseMs = Math.min(one.pauseMs * PAUSE_GROWTH, POLL_MS);
  }
  const known = due.map(([id, { revision }]) => ({ id, revision }));
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
}

function newlyWatched(revision: number, firstPollMs: number): Watched {
  const pauseMs = Math.min(firstPollMs * PAUSE_GROWTH, POLL_MS);
  return { revision, listeners: new Map(), dueAt: performance.now() + firstPollMs, pauseMs };
}
