/** Periodic work of every worker, independent of the queue. */

export interface Repeating {
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` at once, then every `everyMs` until stopped; while a run takes longer, no other one begins. Failures are
 * reported and retried.
 */
export function startRepeating(
  everyMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeating {
  let running: Promise<unknown> | null = null;
  const once = () => {
    running ??= work()
      .catch(onError)
      .finally(() => {
        running = null;
      });
  };
  once();
  const timer = setInterval(once, everyMs);
  return {
    async stop() {
      clearInterval(timer);
      await running;
    },
  };
}
