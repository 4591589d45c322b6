/** Runs lists while something else is measured. */
import { createClient } from '../src/client/client.ts';
import type { BenchStack } from './bench-stack.ts';
import { upload } from './line.ts';
import { completed } from './measured-run.ts';

export interface RunningBatches {
  /** Waits for the running list to end. Returns the number of finished lists. */
  stop(): Promise<number>;
}

/** Enriches the list repeatedly with the given key until stopped. */
export function runBatches(
  stack: BenchStack,
  list: Parameters<typeof upload>[2],
  nextKey: () => Promise<string>,
): RunningBatches {
  let stopped = false;
  let done = 0;
  const running = (async () => {
    while (!stopped) {
      const key = await nextKey();
      const client = createClient(stack.url, key);
      const id = await upload(stack.url, key, list);
      await completed(() => client.getBatch(id));
      done++;
    }
  })();
  return {
    async stop() {
      stopped = true;
      await running;
      return done;
    },
  };
}
