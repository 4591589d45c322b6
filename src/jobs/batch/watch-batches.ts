/**
 * Tells listeners when a batch changes. All listeners of a process share one poll of all watched
 * batches, so a thousand idle listeners cost one small query every half second.
 */
import type { Sql } from '../../core/db/client.ts';
import type { Log } from '../../core/log.ts';
import { type Batch, findBatches } from './queries.ts';

const POLL_MS = 500;

type Listener = (batch: Batch) => void;

export interface BatchWatcher {
  /** Calls back at every change of the batch after what `known` says of it, until the returned function. */
  watch(known: Batch, listener: Listener): () => void;
  stop(): void;
}

/** The listeners of a batch, each with what it knows. */
type Listeners = Map<Listener, string>;

export function watchBatches(sql: Sql, log: Log): BatchWatcher {
  const watched = new Map<string, Listeners>();
  let timer: NodeJS.Timeout | null = null;

  const poll = async () => {
    if (watched.size === 0) return;
    for (const batch of await findBatches(sql, [...watched.keys()])) {
      const now = JSON.stringify(batch);
      const listeners: Listeners = watched.get(batch.id) ?? new Map();
      for (const [listener, known] of [...listeners]) {
        if (known === now) continue;
        listeners.set(listener, now);
        listener(batch);
      }
    }
  };
  const schedule = () => {
    timer = setTimeout(() => {
      poll()
        .catch((error) => log.warn({ err: error }, 'watched batches could not be read'))
        .finally(() => {
          timer = null;
          if (watched.size > 0) schedule();
        });
    }, POLL_MS);
  };
  return {
    watch(known, listener) {
      const listeners: Listeners = watched.get(known.id) ?? new Map();
      listeners.set(listener, JSON.stringify(known));
      watched.set(known.id, listeners);
      if (timer === null) schedule();
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && watched.get(known.id) === listeners) watched.delete(known.id);
      };
    },
    stop() {
      watched.clear();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
