import pLimit from 'p-limit';
import type { ObjectStore } from './object-store.ts';

/** Wraps a store so that at most `concurrency` whole-object reads and writes are in flight. */
export function limitStore(store: ObjectStore, concurrency: number): ObjectStore {
  const limit = pLimit(concurrency);
  return {
    ...store,
    get: (key, range) => limit(() => store.get(key, range)),
    put: (key, bytes) => limit(() => store.put(key, bytes)),
  };
}
