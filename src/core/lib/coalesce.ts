/**
 * Coalesces calls: those that arrive while a batch is in flight wait for the next one. There is no timer, so a
 * lone call runs at once and the size of a batch follows the load. Most of the cost of a batch is fixed (above all
 * its commits): two small batches cost twice as much as one and finish no sooner. A second large one keeps this
 * process busy while Postgres works on the first, so it starts when a dozen calls wait. For the same reason the stages
 * of one call share a lane: each waits for the batches of the others.
 *
 * A batch takes one call of each owner after the other, so that the next call of one owner does not wait for the thousands that
 * another one has sent at once.
 */
import { assert } from './assert.ts';

/**
 * Minimum number of calls for a batch while another is in flight. Measured with 32 callers at 4, 8, 12 and 32: 12 had
 * the highest throughput, a tenth more than 32, a number that never waited at once.
 */
const FURTHER_BATCH_MIN = 12;

interface Waiting<Input, Output> {
  input: Input;
  resolve(output: Output): void;
  reject(error: unknown): void;
}

/** The waiting calls of each owner, in the order of the owners' turns. */
type WaitingOfOwners<Input, Output> = Map<string, Set<Waiting<Input, Output>>>;

interface Coalescing<Input> {
  lane: Lane;
  batchMax: number;
  /** Names whose call it is. */
  ownerOf(input: Input): string;
}

/** Calls of one kind that wait for each other. */
interface Stage {
  isDue(inFlight: number): boolean;
  run(): Promise<void>;
}

/** The batches of one or several kinds that are in flight, with a limit on their total. */
export interface Lane {
  add(stage: Stage): void;
  /** Starts the stages that are due, after the callbacks of this turn have added their calls. */
  schedule(): void;
}

/**
 * Opens a lane for `inFlightMax` batches. Of the waiting kinds, the one added last goes first: it finishes calls.
 */
export function openLane(inFlightMax: number): Lane {
  const stages: Stage[] = [];
  let inFlight = 0;
  let isScheduled = false;

  const flush = () => {
    isScheduled = false;
    while (inFlight < inFlightMax) {
      const stage = stages.findLast(({ isDue }) => isDue(inFlight));
      if (stage === undefined) return;
      inFlight++;
      void stage.run().finally(() => {
        inFlight--;
        schedule();
      });
    }
  };
  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(flush);
  };
  return { add: (stage) => stages.push(stage), schedule };
}

/**
 * Returns a function of one input that runs as part of batches of at most `batchMax`. `runBatch` returns one
 * output for each input, in their order, an `Error` for an input that failed alone; when it throws, every call of
 * the batch fails.
 */
export function coalesce<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<(Output | Error)[]>,
  { lane, batchMax, ownerOf }: Coalescing<Input>,
): (input: Input) => Promise<Output> {
  const queue: WaitingOfOwners<Input, Output> = new Map();
  let waiting = 0;
  lane.add({
    isDue: (inFlight) => waiting >= (inFlight === 0 ? 1 : FURTHER_BATCH_MIN),
    run() {
      const batch = takeInTurn(queue, batchMax);
      waiting -= batch.length;
      return runOne(runBatch, batch);
    },
  });
  return (input) =>
    new Promise((resolve, reject) => {
      const owner = ownerOf(input);
      const own = queue.get(owner) ?? new Set();
      queue.set(owner, own.add({ input, resolve, reject }));
      waiting++;
      lane.schedule();
    });
}

/**
 * Removes and returns at most `max` calls: one of each owner, then a second one of each. Owners that are not reached come
 * first next time.
 */
function takeInTurn<Input, Output>(
  queue: WaitingOfOwners<Input, Output>,
  max: number,
): Waiting<Input, Output>[] {
  const taken: Waiting<Input, Output>[] = [];
  // An owner that is set again comes again, after all others.
  for (const [owner, own] of queue) {
    if (taken.length === max) break;
    queue.delete(owner);
    const [next] = own;
    if (next === undefined) continue;
    taken.push(next);
    own.delete(next);
    if (own.size > 0) queue.set(owner, own);
  }
  return taken;
}

async function runOne<Input, Output>(
  runBatch: (inputs: Input[]) => Promise<(Output | Error)[]>,
  batch: Waiting<Input, Output>[],
): Promise<void> {
  try {
    const outputs = await runBatch(batch.map(({ input }) => input));
    assert(outputs.length === batch.length, 'each call has an output');
    for (const [index, { resolve, reject }] of batch.entries()) {
      const output = outputs[index] as Output | Error;
      if (output instanceof Error) reject(output);
      else resolve(output);
    }
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}
