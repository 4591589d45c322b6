/** A list or an export as it is now: its present state, then every change as the server tells it. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { call } from '../api.ts';
import { asProblem, type Problem } from '../problem.ts';
import { isFinal, type Progress } from './batch.ts';

const AGAIN_MS = 2_000;

export interface Live<Item> {
  item: Item | undefined;
  problem: Problem | null;
  /** False while changes may be missed: the connection is being made again. */
  isConnected: boolean;
  /** Reads it anew, as after a refusal. */
  reload(): void;
  /** Shows it as an action has answered it. */
  show(item: Item): void;
}

/** Follows a path such as `/v1/batches/ID`, whose events are named `event`. */
export function useLive<Item extends Progress>(path: string, event: string): Live<Item> {
  const [item, setItem] = useState<Item | undefined>(undefined);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [isConnected, setIsConnected] = useState(true);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let events: EventSource | null = null;
    let again: ReturnType<typeof setTimeout> | undefined;
    let isGone = false;
    const read = async () => {
      try {
        const now = await call<Item>('GET', path);
        if (isGone) return;
        setItem(now);
        setProblem(null);
        if (!isFinal(now.state)) listen();
      } catch (error) {
        if (isGone) return;
        const found = asProblem(error);
        setProblem(found);
        if (found.code === 'unreachable') again = setTimeout(read, AGAIN_MS);
      }
    };
    const listen = () => {
      events = new EventSource(`${path}/events`);
      events.addEventListener(event, (message) => {
        const now = JSON.parse((message as MessageEvent<string>).data) as Item;
        setItem(now);
        setIsConnected(true);
        if (isFinal(now.state)) events?.close();
      });
      events.onopen = () => setIsConnected(true);
      events.onerror = () => {
        setIsConnected(false);
        // The browser tries again by itself after a lost connection, but not after a refusal.
        if (events?.readyState === EventSource.CLOSED) again = setTimeout(read, AGAIN_MS);
      };
    };
    void read();
    return () => {
      isGone = true;
      events?.close();
      clearTimeout(again);
    };
  }, [path, event, round]);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  return { item, problem, isConnected, reload, show: setItem };
}
