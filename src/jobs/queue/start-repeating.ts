/** Work that every worker does now and then every so often, whatever the queue does. */

export interface Repeating {
  /** Starts no more, and resolves when what runs has ended. */
  stop(): Promise<void>;
}

/** Does `work` at once and then every `everyMs` until stopped. A failure is told, and tried again. */
export function startRepeating(
  everyMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): Repeating {
  let running: Promise<unknown> = Promise.resolve();
  const once = () => {
    running = work().catch(onError);
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
