/**
 * The pipeline with its real queue: BullMQ on Postgres, or on Redis when the environment has a REDIS_URL, and
 * workers in this process. Sweeps run on a test's command.
 */
import { must } from '../../src/core/lib/assert.ts';
import type { QueueBackend } from '../../src/jobs/queue/backend.ts';
import { queueNames } from '../../src/jobs/queue/job-names.ts';
import { openQueueBackend, queueStoreOf } from '../../src/jobs/queue/open-backend.ts';
import { openQueues } from '../../src/jobs/queue/queues.ts';
import { runWorkers } from '../../src/jobs/queue/run-workers.ts';
import { loadQueueTelemetry } from '../../src/jobs/queue/telemetry.ts';
import { jobs } from '../../src/jobs/registry.ts';
import { type Caller, openPipelineWith, type Storage } from './pipeline.ts';

export type WorkingPipeline = Awaited<ReturnType<typeof openWorkingPipeline>>;

export async function openWorkingPipeline(
  environment: Record<string, string> = {},
  storage: Storage = 'files',
) {
  let opened: QueueBackend | undefined;
  const telemetry = await loadQueueTelemetry();
  const pipeline = await openPipelineWith(environment, storage, (config, databaseUrl, log) => {
    const store = queueStoreOf(config, databaseUrl);
    opened = openQueueBackend(store, log, queueNames.length, telemetry);
    return openQueues(opened, log);
  });
  const backend = must(opened, 'backend of the queues');
  let workers = runWorkers(pipeline.context, backend, jobs);
  return {
    ...pipeline,
    backend,

    /** Waits until the batch has ended. */
    async finished(caller: Caller, id: string): Promise<void> {
      const events = await pipeline.call(caller, `/v1/batches/${id}/events`);
      await events.text();
    },

    /** Shuts down the workers as a process does on a signal. */
    endWorkers: () => workers.close(),

    startWorkers(): void {
      workers = runWorkers(pipeline.context, backend, jobs);
    },

    async close(): Promise<void> {
      await workers.close();
      await pipeline.context.queues.close();
      await backend.close();
      await pipeline.close();
    },
  };
}
