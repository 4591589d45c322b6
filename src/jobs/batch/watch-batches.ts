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
  /** Calls back soon with the batch as it is, and then at every change, until the returned function. */
  watch(id: string, listener: Listener): () => void;
  stop(): void;
}

interface Watched {
  listeners: Set<Listener>;
  /** What was told last. */
  told: string;
}

export function watchBatches(sql: Sql, log: Log): BatchWatcher {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | null = null;

  const poll = async () => {
    for (const batch of await findBatches(sql, [...watched.keys()])) {
      const entry = watched.get(batch.id);
      const now = JSON.stringify(batch);
      if (entry === undefined || entry.told === now) continue;
      entry.told = now;
      for (const listener of entry.listeners) listener(batch);
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
    watch(id, listener) {
      const entry = watched.get(id) ?? { listeners: new Set(), told: '' };
      // A new listener is told the present state, which the others may know already.
      entry.told = '';
      entry.listeners.add(listener);
      watched.set(id, entry);
      if (timer === null) schedule();
      return () => {
        entry.listeners.delete(listener);
        if (entry.listeners.size === 0) watched.delete(id);
      };
    },
    stop() {
      watched.clear();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
