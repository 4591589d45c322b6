/**
 * BullMQ on Redis through ioredis, standalone or cluster: each queue has its own hash tag, so that its keys are
 * on one node. Adding a job fails fast while Redis is unavailable; workers wait until it is back.
 */
import { Queue } from 'bullmq';
import type { Log } from '../../core/log.ts';
import { connectRedis, JOB_WAIT_SECONDS, type RedisClient } from '../../core/redis/client.ts';
import type { QueueBackend } from './backend.ts';
import type { QueueName } from './job-names.ts';
import { PausingWorker } from './pausing-worker.ts';
import type { QueueTelemetry } from './telemetry.ts';

export function openRedisBackend(
  { url, prefix }: { url: string; prefix: string },
  log: Log,
  telemetry?: QueueTelemetry,
): QueueBackend {
  const adding = connectRedis(url, 'enqueue', log);
  let working: RedisClient | null = null;
  const traces = telemetry === undefined ? {} : { telemetry };
  const prefixOf = (name: QueueName) => `{${prefix}-${name}}`;
  return {
    openQueue: (name) => new Queue(name, { connection: adding, prefix: prefixOf(name), ...traces }),
    openWorker(name, work, options) {
      working ??= connectRedis(url, 'work', log);
      const own = { ...options, ...traces, prefix: prefixOf(name), drainDelay: JOB_WAIT_SECONDS };
      return new PausingWorker(name, work, { ...own, connection: working });
    },
    // The first job creates the keys.
    repair: async () => false,
    async close() {
      adding.disconnect();
      working?.disconnect();
    },
  };
}
