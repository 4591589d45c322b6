/** Lists that run while something else is measured. */
import { createClient } from '../src/client/client.ts';
import type { BenchStack } from './bench-stack.ts';
import { upload } from './line.ts';
import { completed } from './measured-run.ts';

export interface RunningBatches {
  /** Lets the list that runs end. Returns how many were finished. */
  stop(): Promise<number>;
}

/** Enriches the list again and again, each time with the key that is given, until it is told to stop. */
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
