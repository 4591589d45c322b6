/**
 * Rides calls together: those that come while a batch is in flight wait for the next one. Nobody waits
 * for a timer, so a lone call goes at once and the size of a batch follows the load.
 */
import { assert } from './assert.ts';

export interface CoalesceOptions {
  /** Batches under way at once. */
  inFlightMax: number;
  /** Calls of one batch. */
  batchMax: number;
}

interface Waiting<Input, Output> {
  input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/**
 * A function of one input that runs as part of batches. `runBatch` answers its inputs in their order, an
 * `Error` for one that failed by itself; when it throws, every call of the batch fails.
 */
export function coalesce<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<(Output | Error)[]>,
  options: CoalesceOptions,
): (input: Input) => Promise<Output> {
  const queue: Waiting<Input, Output>[] = [];
  let inFlight = 0;
  let scheduled = false;

  const flush = () => {
    scheduled = false;
    while (queue.length > 0 && inFlight < options.inFlightMax) {
      inFlight++;
      void run(queue.splice(0, options.batchMax)).finally(() => {
        inFlight--;
        flush();
      });
    }
  };
  const run = async (batch: Waiting<Input, Output>[]) => {
    try {
      const outputs = await runBatch(batch.map(({ input }) => input));
      assert(outputs.length === batch.length, 'each call has an answer');
      for (const [index, { resolve, reject }] of batch.entries()) {
        const output = outputs[index] as Output | Error;
        if (output instanceof Error) reject(output);
        else resolve(output);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  return (input) =>
    new Promise((resolve, reject) => {
      queue.push({ input, resolve, reject });
      if (scheduled) return;
      scheduled = true;
      setImmediate(flush);
    });
}
