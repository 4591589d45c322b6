/** The state of the whole service, with a sentence for each problem. */
import { setTimeout as delay } from 'node:timers/promises';
import { must } from '../../core/lib/assert.ts';
import { isLimiterDegraded } from '../../core/limits/availability.ts';
import { SEEN_SECONDS_MAX } from '../../jobs/monitor/heartbeat.ts';
import {
  type DatabaseState,
  readDatabaseState,
  readServiceState,
  type ServiceState,
} from '../../jobs/monitor/monitor.sql.ts';
import type { JobCount } from '../../jobs/queue/queues.ts';
import type { ApiContext } from '../api-context.ts';

/** A part that has not responded by then counts as down. */
const RESPONSE_MS_MAX = 2_000;
/** Longer waits are problems; `infra/grafana/alerts.yaml` has the same thresholds. */
const SECONDS_MAX = { chunk: 900, progress: 600, due: 60, delivery: 300 };

/** The key of an object that never exists: looking it up is the cheapest request to a store. */
const NO_OBJECT = 'batches/none';

interface Reading<T> {
  /** Null when the part is down. */
  value: T | null;
  milliseconds: number;
}

/** Reads the state of the service. Throws when the database does not respond; other failures become problems. */
export async function readHealth(context: ApiContext): Promise<Record<string, unknown>> {
  const { watchSql, queues, store, config } = context;
  const [jobs, storage, service, database] = await Promise.all([
    timed(queues.countJobs()),
    timed(store.head(NO_OBJECT).then(() => true)),
    readServiceState(watchSql),
    readDatabaseState(watchSql),
  ]);
  const state = must(service, 'state of the service');
  const server = must(database, 'state of the database');
  const problems = findProblems(state, jobs.value, storage.value !== null);
  const degraded = config.redisUrl === undefined ? null : await isLimiterDegraded();
  if (degraded)
    problems.push(
      'Redis does not respond to this process in time: the process enforces limits by itself.',
    );
  return {
    ok: problems.length === 0,
    problems,
    checked_at: new Date().toISOString(),
    processes: state.processes.map((one) => ({
      ...one,
      seen: one.seen_seconds_ago <= SEEN_SECONDS_MAX,
    })),
    queue: {
      kept_in: config.redisUrl === undefined ? 'postgres' : 'redis',
      answers: jobs.value !== null,
      milliseconds: jobs.milliseconds,
      jobs: jobs.value,
      chunks: state.chunks,
      oldest_chunk_seconds: state.oldestChunkSeconds,
      leases_reclaimed: state.leasesReclaimed,
    },
    batches: { open: state.batches, oldest_progress_seconds: state.oldestProgressSeconds },
    credits: { reservations: state.reservations, reserved: state.reservedCredits },
    schedules: { due: state.schedulesDue, oldest_due_seconds: state.oldestDueSeconds },
    webhooks: { oldest_due_seconds: state.oldestDeliverySeconds },
    audits: state.audits,
    database: viewDatabase(server),
    limits: { kept_in: context.limiter.store, degraded },
    storage: {
      kept_in: config.storage.provider,
      answers: storage.value !== null,
      milliseconds: storage.milliseconds,
    },
  };
}

function viewDatabase(server: DatabaseState) {
  return {
    version: server.version,
    bytes: server.bytes,
    connections: server.connections.reduce((sum, { count }) => sum + count, 0),
    sessions: server.connections,
    connections_max: server.connectionsMax,
    oldest_transaction_seconds: server.oldestTransactionSeconds,
    replicas: server.replicas,
  };
}

function findProblems(
  state: ServiceState,
  jobs: JobCount[] | null,
  isStorageThere: boolean,
): string[] {
  const workers = state.processes.filter(
    ({ kind, seen_seconds_ago: seconds }) => kind === 'worker' && seconds <= SEEN_SECONDS_MAX,
  );
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
