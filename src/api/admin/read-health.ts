/** The state of the whole service, with a sentence for each problem. */
import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { isLimiterDegraded } from '../../core/limits/availability.ts';
import { isSeen } from '../../jobs/monitor/heartbeat.ts';
import type { DatabaseState } from '../../jobs/monitor/monitor.sql.ts';
import { readParts } from '../../jobs/monitor/read-parts.ts';
import type { ApiContext } from '../http/api-context.ts';

/** Reads the state of the service. Throws when the database does not respond; other failures become problems. */
export async function readHealth(context: ApiContext): Promise<Record<string, unknown>> {
  const { config } = context;
  const { jobs, storage, state, server, problems } = await readParts(context);
  const degraded = config.redisUrl === undefined ? null : await isLimiterDegraded();
  if (degraded)
    problems.push(
      'Redis does not respond to this process in time: the process enforces limits by itself.',
    );
  return {
    ok: problems.length === 0,
    problems,
    checked_at: new Date().toISOString(),
    processes: state.processes.map((one) => ({ ...one, seen: isSeen(one) })),
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
      bytes_free: await freeBytes(config.storage),
    },
  };
}

/** Bytes that are free where files are kept; null for a store that is no folder of this machine. */
async function freeBytes(storage: ApiContext['config']['storage']): Promise<number | null> {
  if (storage.provider !== 'files') return null;
  const { folder } = storage;
  // The first file makes the folder.
  const found = await statfs(folder).catch(() => statfs(path.dirname(folder)).catch(() => null));
  return found === null ? null : found.bavail * found.bsize;
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
