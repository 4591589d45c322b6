/** A value that components follow. */
import { useEffect, useState } from 'preact/hooks';

export interface Store<Value> {
  get(): Value;
  set(value: Value): void;
  /** Calls the listener at every change until the returned function is called. */
  follow(listener: () => void): () => void;
}

export function createStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener();
    },
    follow(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's value; the component is rendered again when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  const [, render] = useState(0);
  const shown = store.get();
  useEffect(() => {
    const renderAgain = () => render((count) => count + 1);
    // What changed between the first rendering and now.
    if (store.get() !== shown) renderAgain();
    return store.follow(renderAgain);
  }, [store]);
  return shown;
}
