/** The parts of the service as they are now, with a sentence for each problem. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
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

/** The key of an object that never exists: looking it up is the cheapest request to a store. */
const NO_OBJECT = 'batches/none';

export interface Reading<T> {
  /** Null when the part is down. */
  value: T | null;
  milliseconds: number;
}

export interface Parts {
  jobs: Reading<JobCount[]>;
  storage: Reading<true>;
  state: ServiceState;
  server: DatabaseState;
  problems: string[];
}

/** Reads all parts at once. Throws when the database does not respond; other failures become problems. */
export async function readParts(context: {
  watchSql: Sql;
  queues: Pick<Queues, 'countJobs'>;
  store: Pick<ObjectStore, 'head'>;
}): Promise<Parts> {
  const { watchSql, queues, store } = context;
  const [jobs, storage, service, database] = await Promise.all([
    timed(queues.countJobs()),
    timed(store.head(NO_OBJECT).then(() => true as const)),
    readServiceState(watchSql),
    readDatabaseState(watchSql),
  ]);
  const state = must(service, 'state of the service');
  const server = must(database, 'state of the database');
  const problems = findProblems(state, jobs.value, storage.value !== null);
  return { jobs, storage, state, server, problems };
}

function findProblems(
  state: ServiceState,
  jobs: JobCount[] | null,
  isStorageThere: boolean,
): string[] {
  const workers = state.processes.filter((one) => one.kind === 'worker' && isSeen(one));
  const broken = state.audits.flatMap((audit) => audit.failed);
  const wrong: [boolean, string][] = [
    [workers.length === 0, 'No worker is running: lists and schedules wait.'],
    [jobs === null, 'The queue does not respond.'],
    [!isStorageThere, 'The object store does not respond.'],
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

/** Returns the response of a part and how long it took; null for a part that fails or takes too long. */
async function timed<T>(request: Promise<T>): Promise<Reading<T>> {
  const start = performance.now();
  const late = delay(RESPONSE_MS_MAX, null, { ref: false });
  const value = await Promise.race([request.catch(() => null), late]);
  return { value, milliseconds: Math.round((performance.now() - start) * 10) / 10 };
}
