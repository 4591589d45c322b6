/**
 * Reads a local copy in a thread: a look-up is a system call for each person, and from a cold disk each takes a while,
 * which the process that matches lists and renews their leases must not wait for.
 */
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../lib/package-root.ts';
import { type Manifest, UnusableCopy } from './manifest.ts';
import type {
  Answer,
  LookUpAnswer,
  RecordsAnswer,
  Request,
  ThreadInput,
} from './thread-messages.ts';

/** Compiled, also where the rest runs from its source. */
const program = path.join(packageRoot, 'dist', 'src', 'core', 'graph-copy', 'copy-thread.js');

/** Its garbage lives for one look-up: a larger young heap would only take memory. */
const YOUNG_HEAP_MIB = 4;

/** An open copy. Calls reject with `UnusableCopy` for files that are not as they were written. */
export interface CopyReader {
  /** Finds the people who hold these values, of which there is one at least. */
  lookUp(values: readonly string[]): Promise<LookUpAnswer>;
  /** Reads full records at places (rows of `PLACE`). */
  readRecords(places: Float64Array): Promise<RecordsAnswer>;
  /** Reads the records of these people, whose ids ascend; a record of no bytes for one who has none in the copy. */
  readPeople(ids: Float64Array, brief: boolean): Promise<RecordsAnswer>;
  /** Takes buffers of answers back: nothing may read them from then on. */
  release(buffers: ArrayBuffer[]): void;
  close(): void;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Opens the copy that a manifest names. Rejects with `UnusableCopy` when its files are not what it says. */
export async function openReader(folder: string, manifest: Manifest): Promise<CopyReader> {
  const workerData: ThreadInput = { folder, manifest };
  const thread = new Worker(program, {
    workerData,
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_HEAP_MIB },
  });
  // It ends with its process.
  thread.unref();
  const waiting = new Map<number, Waiting>();
  let last = 0;
  /** Why the thread answers no more. */
  let ended: Error | null = null;
  const fail = (error: Error) => {
    ended ??= error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  thread.on('message', (answer: Answer) => {
    const request = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (!('error' in answer)) request?.resolve(answer);
    else if (answer.unusable) request?.reject(new UnusableCopy(answer.error));
    else request?.reject(new Error(answer.error));
    if (waiting.size === 0) thread.unref();
  });
  thread.on('error', (error) => fail(new UnusableCopy(`its thread failed: ${error.message}`)));
  thread.on('exit', () => fail(new UnusableCopy('its thread ended')));
  const answerTo = (id: number) =>
    new Promise<Answer>((resolve, reject) => {
      if (ended !== null) return reject(ended);
      waiting.set(id, { resolve, reject });
      thread.ref();
    });
  const ask = <Kind extends Answer>(request: (id: number) => Request) => {
    const id = ++last;
    const answer = answerTo(id);
    thread.postMessage(request(id));
    return answer as Promise<Kind>;
  };
  await answerTo(0);
  return {
    lookUp: (values) => ask((id) => ({ id, lines: values.join('\n') })),
    readRecords: (places) => ask((id) => ({ id, places })),
    readPeople: (ids, brief) => ask((id) => ({ id, ids, brief })),
    release(used) {
      if (used.length > 0) thread.postMessage({ used } satisfies Request, used);
    },
    close() {
      void thread.terminate();
    },
  };
}
