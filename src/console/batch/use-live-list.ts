/** Lists of the API that follow what happens to their items, in this tab, another one, or by themselves. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { mergeItems, updateItems } from '../merge-items.ts';
import { dataChanged } from '../session.ts';
import { useStore } from '../store.ts';
import { type List, useList } from '../use-call.ts';
import { isFinal, type Progress } from './batch.ts';

/** How often a list is read again while something in it moves, and otherwise. */
const MOVING_MS = 4_000;
const RESTING_MS = 20_000;

/**
 * As `useList`, and its first page is read again as long as the tab is in sight. In another order than the newest first,
 * that page updates what is shown, and adds nothing.
 */
export function useLiveList<Item extends Progress>(
  path: string,
  isNewestFirst: boolean,
): List<Item> {
  const list = useList<Item>(path);
  const [latest, setLatest] = useState<readonly Item[] | null>(null);
  const [round, setRound] = useState(0);
  const changes = useStore(dataChanged);
  const items = list.items && (isNewestFirst ? mergeItems : updateItems)(list.items, latest);
  const isMoving = items?.some(({ state }) => !isFinal(state) && state !== 'ready') === true;
  useEffect(() => {
    const gone = new AbortController();
    let isReading = false;
    const readAgain = () => {
      // One at a time: an older response never comes after a newer one.
      if (isReading || document.visibilityState === 'hidden') return;
      isReading = true;
      call<{ data: Item[] }>('GET', path, { signal: gone.signal })
        .then(({ data }) => setLatest(data))
        // The next round tries again.
        .catch(() => {})
        .finally(() => {
          isReading = false;
        });
    };
    if (changes > 0) readAgain();
    const timer = setInterval(readAgain, isMoving ? MOVING_MS : RESTING_MS);
    document.addEventListener('visibilitychange', readAgain);
    return () => {
      gone.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', readAgain);
    };
  }, [path, isMoving, round, changes]);
  return {
    ...list,
    items,
    reload() {
      setLatest(null);
      list.reload();
      setRound(round + 1);
    },
  };
}
