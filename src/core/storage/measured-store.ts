/** Metrics of the object store's operations. */
import { Histogram } from 'prom-client';
import { metrics } from '../metrics.ts';
import type { ObjectStore } from './object-store.ts';

const storageSeconds = new Histogram({
  name: 'enrich_storage_seconds',
  help: 'Time of operations on the object store, by how they ended. A streamed read counts once, when it has ended.',
  labelNames: ['operation', 'end'],
  buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60],
  registers: [metrics],
});

/** Wraps a store so that each operation is measured. */
export function measureStore(store: ObjectStore): ObjectStore {
  return {
    ...store,
    putStream: (key, source) => measured('put_stream', store.putStream(key, source)),
    put: (key, bytes) => measured('put', store.put(key, bytes)),
    get: (key, range) => measured('get', store.get(key, range)),
    getStream(key, range) {
      const stop = storageSeconds.startTimer({ operation: 'get_stream' });
      const stream = store.getStream(key, range);
      // A reader that goes away is not a failure of the store.
      stream.once('close', () => stop({ end: stream.errored === null ? 'done' : 'failed' }));
      return stream;
    },
    head: (key) => measured('head', store.head(key)),
    delete: (key) => measured('delete', store.delete(key)),
    deletePrefix: (prefix) => measured('delete_prefix', store.deletePrefix(prefix)),
  };
}

async function measured<T>(operation: string, work: Promise<T>): Promise<T> {
  const stop = storageSeconds.startTimer({ operation });
  try {
    const answer = await work;
    stop({ end: 'done' });
    return answer;
  } catch (error) {
    stop({ end: 'failed' });
    throw error;
  }
}
