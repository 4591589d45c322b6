/**
 * The choice of the queue's store: Postgres beside everything else, or Redis where REDIS_URL names one.
 * Nothing that matters is in there alone: losing all of it costs the time until the next sweep.
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

/** The store that the configuration names. */
export function queueStoreOf(
  { redisUrl, redisPrefix: prefix }: Pick<Config, 'redisUrl' | 'redisPrefix'>,
  databaseUrl: string,
): QueueStore {
  return redisUrl === undefined
    ? { kind: 'postgres', url: databaseUrl }
    : { kind: 'redis', url: redisUrl, prefix };
}

/** `listeners` is how many workers this process will open; jobs are traced with `telemetry`. */
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
