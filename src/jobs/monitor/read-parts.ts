/** The parts of the service as they are now, with a sentence for each problem. */
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Config } from '../../core/config.ts';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { isObjectMissing } from '../../core/storage/object-sum.ts';
import { describeStorage } from '../../core/storage-config.ts';
import { findStoreMistake, INSTALLATION_ID_LENGTH, INSTALLATION_KEY } from '../batch/own-store.ts';
import type { JobCount, Queues } from '../queue/queues.ts';
import { isSeen } from './heartbeat.ts';
import {
  type DatabaseState,
  readDatabaseState,
  readServiceState,
  type ServiceState,
} from './monitor.sql.ts';

/** A part that has not responded by then counts as down. */
const RESPONSE_MS_MAX = 2_000;
/** Longer waits are problems; `infra/grafana/alerts.yaml` has the same thresholds. */
const SECONDS_MAX = { chunk: 900, progress: 600, due: 60, delivery: 300 };

export interface Reading<T> {
  /** Null when the part is down. */
  value: T | null;
  /** The error of a part that failed; null for one that did not respond in time. */
  failure: string | null;
  milliseconds: number;
}

export interface Parts {
  jobs: Reading<JobCount[]>;
  /** `isOwn` is false for the store of another installation. */
  storage: Reading<{ isOwn: boolean }>;
  state: ServiceState;
  server: DatabaseState;
  problems: string[];
}

/** Reads all parts at once. Throws when the database does not respond; other failures become problems. */
export async function readParts(context: {
  watchSql: Sql;
  queues: Pick<Queues, 'countJobs'>;
  store: Pick<ObjectStore, 'getStream'>;
  config: Pick<Config, 'storage'>;
}): Promise<Parts> {
  const { watchSql, queues, store, config } = context;
  const [jobs, stored, service, database] = await Promise.all([
    timed(() => queues.countJobs()),
    timed(async (late) => ({ mark: await readMark(store, late) })),
    readServiceState(watchSql),
    readDatabaseState(watchSql),
  ]);
  const state = must(service, 'state of the service');
  const server = must(database, 'state of the database');
  const named = describeStorage(config.storage);
  const mistake =
    stored.value === null ? null : await findStoreMistake(watchSql, stored.value.mark, named);
  const storage = { ...stored, value: stored.value && { isOwn: mistake === null } };
  const problems = findProblems(state, jobs.value, mistake?.message ?? problemOf(named, stored));
  return { jobs, storage, state, server, problems };
}

/** Returns the mark in the store; null for a store without one. Reading it also fails for a bucket that does not exist. */
async function readMark(
  store: Pick<ObjectStore, 'getStream'>,
  late: AbortSignal,
): Promise<string | null> {
  const mark = store.getStream(INSTALLATION_KEY, { from: 0, to: INSTALLATION_ID_LENGTH });
  try {
    return await text(addAbortSignal(late, mark));
  } catch (error) {
    if (isObjectMissing(error)) return null;
    throw error;
  }
}

function problemOf(named: string, { value, failure }: Reading<unknown>): string | null {
  if (value !== null) return null;
  return failure === null ? `${named} does not respond.` : `${named} cannot be read: ${failure}`;
}

function findProblems(
  state: ServiceState,
  jobs: JobCount[] | null,
  storage: string | null,
): string[] {
  const workers = state.processes.filter((one) => one.kind === 'worker' && isSeen(one));
  const broken = state.audits.flatMap((audit) => audit.failed);
  const wrong: [boolean, string][] = [
    [workers.length === 0, 'No worker is running: lists and schedules wait.'],
    [jobs === null, 'The queue does not respond.'],
    [storage !== null, storage ?? ''],
    [
      state.oldestChunkSeconds > SECONDS_MAX.chunk,
      `A chunk has waited for ${Math.round(state.oldestChunkSeconds)} s.`,
    ],
    [
      state.oldestProgressSeconds > SECONDS_MAX.progress,
      `A batch has made no progress for ${Math.round(state.oldestProgressSeconds)} s.`,
    ],
    [
      state.oldestDueSeconds > SECONDS_MAX.due,
      `A schedule has been due for ${Math.round(state.oldestDueSeconds)} s.`,
    ],
    [
      state.oldestDeliverySeconds > SECONDS_MAX.delivery,
      `A webhook delivery has been due for ${Math.round(state.oldestDeliverySeconds)} s.`,
    ],
    [broken.length > 0, `The last audit failed: ${[...new Set(broken)].join('; ')}.`],
  ];
  return wrong.filter(([isSo]) => isSo).map(([, text]) => text);
}

/** Returns the response of a part and how long it took. A request that takes too long is told so, to end its connection. */
async function timed<T>(request: (late: AbortSignal) => Promise<T>): Promise<Reading<T>> {
  const start = performance.now();
  const abort = new AbortController();
  let failure: string | null = null;
  const failed = (error: unknown) => {
    if (!abort.signal.aborted) failure = error instanceof Error ? error.message : String(error);
    return null;
  };
  const late = delay(RESPONSE_MS_MAX, null, { ref: false });
  const value = await Promise.race([request(abort.signal).catch(failed), late]);
  abort.abort();
  return { value, failure, milliseconds: Math.round((performance.now() - start) * 10) / 10 };
}
