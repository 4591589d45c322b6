/**
 * Chooses the queue's store: Redis if REDIS_URL is set, else Postgres. The store is not a source of truth:
 * losing all of it costs the time until the next sweep.
 */
import type { Config } from '../../core/config.ts';
import type { Log } from '../../core/log.ts';
import type { QueueBackend } from './backend.ts';
import { openPostgresBackend } from './backend-postgres.ts';
import { openRedisBackend } from './backend-redis.ts';
import type { QueueTelemetry } from './telemetry.ts';

export type QueueStore =
  | { kind: 'postgres'; url: string }
  | { kind: 'redis'; url: string; prefix: string };

/** The configured store. */
export function queueStoreOf(
  { redisUrl, redisPrefix: prefix }: Pick<Config, 'redisUrl' | 'redisPrefix'>,
  databaseUrl: string,
): QueueStore {
  return redisUrl === undefined
    ? { kind: 'postgres', url: databaseUrl }
    : { kind: 'redis', url: redisUrl, prefix };
}

/** `listeners` is the number of workers this process will open; `telemetry` traces the jobs. */
export function openQueueBackend(
  store: QueueStore,
  log: Log,
  listeners: number,
  telemetry?: QueueTelemetry,
): QueueBackend {
  return store.kind === 'redis'
    ? openRedisBackend(store, log, telemetry)
    : openPostgresBackend(store.url, log, listeners, telemetry);
}
