/** A list or an export as it is now: its present state, then every change as the server reports it. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { asProblem, type Problem } from '../problem.ts';
import { isFinal, type Progress } from './batch.ts';

const AGAIN_MS = 2_000;
/** How often it is read besides its events: one may be lost, as in a proxy, and none tells what is left of the credits. */
const BESIDES_MS = 8_000;

export interface Live<Item> {
  item: Item | undefined;
  problem: Problem | null;
  /** False while changes may be missed: the connection is being made again. */
  isConnected: boolean;
  /** Reads it anew, as after a refusal. */
  reload(): void;
  /** Shows the response of an action, unless something newer is shown already. */
  show(item: Item): void;
}

/** The newer one of what is shown and what arrives, in whatever order the two were sent. */
function newerOf<Item extends Progress>(shown: Item | undefined, arrived: Item): Item {
  const isSame = shown?.id === arrived.id;
  return isSame && shown.revision > arrived.revision ? shown : arrived;
}

/** Follows a path such as `/v1/batches/ID`, whose events are named `event`. */
export function useLive<Item extends Progress>(path: string, event: string): Live<Item> {
  const [item, setItem] = useState<Item | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isConnected, setIsConnected] = useState(true);
  const [round, setRound] = useState(0);
  const isOfPath = useCallback(({ id }: Item) => path.endsWith(`/${id}`), [path]);
  const show = useCallback(
    // The response of an action may arrive when the page shows another list.
    (arrived: Item) => setItem((shown) => (isOfPath(arrived) ? newerOf(shown, arrived) : shown)),
    [isOfPath],
  );
  useEffect(() => {
    const gone = new AbortController();
    let events: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    const readAfter = (ms: number) => {
      clearTimeout(again);
      again = setTimeout(read, ms);
    };
    const take = (arrived: Item) => {
      show(arrived);
      if (!isFinal(arrived.state)) return;
      clearTimeout(again);
      events?.close();
    };
    const read = async () => {
      try {
        const now = await call<Item>('GET', path, { signal: gone.signal });
        if (gone.signal.aborted) return;
        setProblem(null);
        take(now);
        if (isFinal(now.state)) return;
        readAfter(BESIDES_MS);
        listen();
      } catch (error) {
        if (gone.signal.aborted) return;
        const found = asProblem(error);
        setProblem(found);
        if (found.code === 'unreachable') readAfter(AGAIN_MS);
        // A proxy refuses while the service is updated, and limits of calls pass.
        else if (found.status >= 500 || found.status === 429) readAfter(BESIDES_MS);
      }
    };
    const listen = () => {
      if (events !== null && events.readyState !== EventSource.CLOSED) return;
      const source = new EventSource(`${path}/events`);
      events = source;
      source.addEventListener(event, (message) => {
        setIsConnected(true);
        take(JSON.parse((message as MessageEvent<string>).data) as Item);
      });
      source.onopen = () => setIsConnected(true);
      source.onerror = () => {
        setIsConnected(false);
        // The browser tries again by itself after a lost connection, but not after a refusal.
        if (source.readyState === EventSource.CLOSED) readAfter(AGAIN_MS);
      };
    };
    void read();
    return () => {
      gone.abort();
      events?.close();
      clearTimeout(again);
    };
  }, [path, event, round, show]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const isShown = item !== undefined && isOfPath(item);
  return { item: isShown ? item : undefined, problem, isConnected, reload, show };
}
