/**
 * The state of Postgres and the queue as metrics of a worker. It is read on each scrape, but at most once every
 * few seconds. All workers report the same values, so take the maximum.
 */
import { Gauge } from 'prom-client';
import type { Sql } from '../../core/db/client.ts';
import { metrics } from '../../core/metrics.ts';
import type { JobCount, Queues } from '../queue/queues.ts';
import { isSeen } from './heartbeat.ts';
import {
  type DatabaseState,
  readDatabaseState,
  readServiceState,
  type ServiceState,
} from './monitor.sql.ts';

/** Concurrent scrapes share a reading. */
const CACHED_MS = 2_000;

interface Reading extends ServiceState {
  database: DatabaseState;
}

type Sample = [labels: Record<string, string>, value: number];

interface Watched<From> {
  name: string;
  help: string;
  labels?: string[];
  samples(from: From): Sample[];
}

const one = (value: number): Sample[] => [[{}, value]];
const known = (states: string[], found: Record<string, number>) =>
  states.map((state): Sample => [{ state }, found[state] ?? 0]);

const ofService: Watched<Reading>[] = [
  {
    name: 'enrich_batches',
    help: 'Open batches by state; paused ones also by reason.',
    labels: ['state', 'reason'],
    samples: ({ batches }) => batches.map(({ state, reason, count }) => [{ state, reason }, count]),
  },
  {
    name: 'enrich_chunks',
    help: 'Unfinished chunks: waiting, dispatched to the queue, running, delayed by a limit or a failure, or held by a batch that is not running.',
    labels: ['state'],
    samples: ({ chunks }) =>
      known(
        ['waiting', 'dispatched', 'running', 'delayed', 'held'],
        Object.fromEntries(chunks.map(({ state, count }) => [state, count])),
      ),
  },
  {
    name: 'enrich_chunk_oldest_waiting_seconds',
    help: 'Age of the oldest runnable chunk that waits for a worker.',
    samples: (state) => one(state.oldestChunkSeconds),
  },
  {
    name: 'enrich_batch_oldest_progress_seconds',
    help: 'Age of the oldest batch without progress.',
    samples: (state) => one(state.oldestProgressSeconds),
  },
  {
    name: 'enrich_reservations_open',
    help: 'Open reservations of credits, neither settled nor voided.',
    samples: (state) => one(state.reservations),
  },
  {
    name: 'enrich_credits_reserved',
    help: 'Credits in open reservations.',
    samples: (state) => one(state.reservedCredits),
  },
  {
    name: 'enrich_schedules_due',
    help: 'Schedules with a due slot that no worker has taken yet.',
    samples: (state) => one(state.schedulesDue),
  },
  {
    name: 'enrich_schedule_oldest_due_seconds',
    help: 'Age of the oldest due slot of a schedule; at most some 5 s in a healthy service.',
    samples: (state) => one(state.oldestDueSeconds),
  },
  {
    name: 'enrich_webhook_oldest_due_seconds',
    help: 'Age of the oldest due webhook delivery; at most some 5 s while no receiver is slow.',
    samples: (state) => one(state.oldestDeliverySeconds),
  },
  {
    name: 'enrich_processes',
    help: 'Processes with a recent heartbeat.',
    labels: ['kind'],
    samples: ({ processes }) =>
      ['api', 'worker'].map((kind) => {
        const seen = processes.filter(isSeen);
        return [{ kind }, seen.filter((one) => one.kind === kind).length];
      }),
  },
  {
    name: 'enrich_audit_violations',
    help: 'Rows that violated a rule in the last run of `enrich audit`.',
    labels: ['depth'],
    samples: ({ audits }) =>
      audits.map(({ deep, violations }) => [{ depth: deep ? 'deep' : 'plain' }, violations]),
  },
  {
    name: 'enrich_audit_age_seconds',
    help: 'Time since the last run of `enrich audit`.',
    labels: ['depth'],
    samples: ({ audits }) =>
      audits.map(({ deep, seconds_ago }) => [{ depth: deep ? 'deep' : 'plain' }, seconds_ago]),
  },
  {
    name: 'enrich_backup_age_seconds',
    help: 'Time since the last `enrich backup` (enrich), and since Postgres last archived a piece of its log (archive).',
    labels: ['by'],
    samples: ({ backups }) => backups.map(({ by, seconds_ago }) => [{ by }, seconds_ago]),
  },
  {
    name: 'enrich_database_bytes',
    help: 'Size of the database.',
    samples: ({ database }) => one(database.bytes),
  },
  {
    name: 'enrich_database_connections',
    help: 'Sessions of the database, of all programs, by state.',
    labels: ['state'],
    samples: ({ database }) => database.connections.map(({ state, count }) => [{ state }, count]),
  },
  {
    name: 'enrich_database_connections_max',
    help: 'Maximum number of sessions of the server.',
    samples: ({ database }) => one(database.connectionsMax),
  },
  {
    name: 'enrich_database_oldest_transaction_seconds',
    help: 'Age of the oldest open transaction; younger dead rows cannot be vacuumed.',
    samples: ({ database }) => one(database.oldestTransactionSeconds),
  },
];

const ofQueue: Watched<JobCount[]>[] = [
  {
    name: 'enrich_jobs',
    help: 'Jobs in the queue, by state, without those that have ended.',
    labels: ['queue', 'state'],
    samples: (counts) => counts.map(({ queue, state, jobs }) => [{ queue, state }, jobs]),
  },
];

/** Registers the metrics. `watchSql` must have a statement timeout. */
export function watchService(
  { watchSql, queues }: { watchSql: Sql; queues: Pick<Queues, 'countJobs'> },
  cachedMs = CACHED_MS,
): void {
  const readService = cached(cachedMs, async () => {
    const service = await readServiceState(watchSql);
    const database = await readDatabaseState(watchSql);
    return service && database ? { ...service, database } : null;
  });
  register('enrich_database_up', 'Postgres', readService, ofService);
  register(
    'enrich_queue_up',
    'the queue',
    cached(cachedMs, () => queues.countJobs()),
    ofQueue,
  );
}

/**
 * Registers the metrics of one reading. When it fails none of them has a value: an old one would pass for a new
 * one.
 */
function register<From>(
  name: string,
  source: string,
  read: () => Promise<From | null>,
  watched: readonly Watched<From>[],
): void {
  const help = `1 when ${source} responded to this scrape, else 0, and its metrics are missing.`;
  new Gauge({
    name,
    help,
    registers: [metrics],
    async collect() {
      this.set((await read()) === null ? 0 : 1);
    },
  });
  for (const { name, help, labels = [], samples } of watched) {
    new Gauge({
      name,
      help,
      labelNames: labels,
      registers: [metrics],
      async collect() {
        const from = await read();
        this.reset();
        for (const [of, value] of from === null ? [] : samples(from)) this.set(of, value);
        // A gauge without labels is 0 after a reset, which would be a value.
        if (from === null && labels.length === 0) this.remove();
      },
    });
  }
}

/** Shares one reading among calls during it and for `ms` after it; null when it fails. */
function cached<T>(ms: number, read: () => Promise<T | null>): () => Promise<T | null> {
  let reading: Promise<T | null> | null = null;
  const forget = () => {
    reading = null;
  };
  return () => {
    reading ??= read()
      .catch(() => null)
      .finally(() => setTimeout(forget, ms).unref());
    return reading;
  };
}
