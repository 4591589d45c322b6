/** Periodic work of every worker, independent of the queue. */

export interface Repeating {
  /** Starts no further run, and resolves when the current one has ended. */
  stop(): Promise<void>;
}

/**
 * Runs `work` at once, then every `everyMs` until stopped; while a run takes longer, no other one begins. `work` may end early
 * once `mustStop()` is true. Failures are reported and retried.
 */
export function startRepeating(
  everyMs: number,
  work: (mustStop: () => boolean) => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeating {
  let running: Promise<unknown> | null = null;
  let isStopped = false;
  const once = () => {
    running ??= work(() => isStopped)
      .catch(onError)
      .finally(() => {
        running = null;
      });
  };
  once();
  const timer = setInterval(once, everyMs);
  return {
    async stop() {
      isStopped = true;
      clearInterval(timer);
      await running;
    },
  };
}
