/**
 * Reads a local copy in a thread: a look-up is a system call for each person, and from a cold disk each takes a while,
 * which the process that matches lists and renews their leases must not wait for.
 */
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { packageRoot } from '../lib/package-root.ts';
import { type Entity, type Manifest, UnusableCopy } from './manifest.ts';
import type { Answer, LookUpAnswer, Request, TextsAnswer, ThreadInput } from './thread-messages.ts';

/** Compiled, also where the rest runs from its source. */
const program = path.join(packageRoot, 'dist', 'src', 'core', 'graph-copy', 'copy-thread.js');

/** Its garbage lives for one look-up: a larger young heap would only take memory. */
const YOUNG_HEAP_MIB = 4;

/** The records of one kind of an open copy. Calls reject with `UnusableCopy` for files that are not as they were written. */
export interface RecordsReader {
  /** Finds the records that have these values, of which there is one at least. */
  lookUp(values: readonly string[]): Promise<LookUpAnswer>;
  /** Reads further texts at places (rows of `PLACE`). */
  readFurther(places: Float64Array): Promise<TextsAnswer>;
  /**
   * Reads texts of these records, whose ids ascend, or with `further` their further texts; of no bytes for a record that
   * has none in the copy.
   */
  readTexts(ids: Float64Array, options: { further: boolean }): Promise<TextsAnswer>;
}

export interface CopyReader extends Record<Entity, RecordsReader> {
  /** Takes buffers of answers back: nothing may read them from then on. */
  release(buffers: ArrayBuffer[]): void;
  close(): void;
}

interface Waiting {
  resolve(answer: Answer): void;
  reject(error: Error): void;
}

/** Opens the copy that a manifest names. Rejects with `UnusableCopy` when its files are not what it says. */
export type OpenReader = (folder: string, manifest: Manifest) => Promise<CopyReader>;

/** Opens a copy for lists: a thread reads it. */
export async function readInThread(folder: string, manifest: Manifest): Promise<CopyReader> {
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
  const recordsOf = (entity: Entity): RecordsReader => ({
    lookUp: (values) => ask((id) => ({ id, entity, lines: values.join('\n') })),
    readFurther: (places) => ask((id) => ({ id, entity, places })),
    readTexts: (ids, { further }) => ask((id) => ({ id, entity, ids, further })),
  });
  return {
    people: recordsOf('people'),
    companies: recordsOf('companies'),
    release(used) {
      if (used.length > 0) thread.postMessage({ used } satisfies Request, used);
    },
    close() {
      void thread.terminate();
    },
  };
}
