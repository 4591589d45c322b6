/** The consuming side: one BullMQ worker for each queue, with all jobs of the registry. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'bullmq';
import { Histogram } from 'prom-client';
import { must } from '../../core/lib/assert.ts';
import { metrics } from '../../core/metrics.ts';
import type { QueueBackend } from './backend.ts';
import type { JobDefinition, Jobs } from './define-job.ts';
import type { JobContext } from './job-context.ts';
import { type JobName, type QueueName, queueNames } from './job-names.ts';
import { RETRY_MS } from './pausing-worker.ts';

const jobSeconds = new Histogram({
  name: 'enrich_job_seconds',
  help: 'Duration of jobs by outcome.',
  labelNames: ['name', 'end'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  registers: [metrics],
});

/**
 * Closing a worker waits for its connection to end, which a client that reconnects, or that follows a move of slots in a
 * cluster, never reports. Once running jobs are done, this is enough for a healthy connection.
 */
const CLOSE_MS_MAX = 3_000;

export interface RunningWorkers {
  /** Takes no new jobs and resolves when running ones are done. */
  close(): Promise<void>;
}

/**
 * How soon the job of a dead worker moves to another. A lost chunk is recovered by its lease and a new wake-up
 * in some 20 s; a batch job has only this lock, because the queue ignores an id that it still holds.
 */
function lockOf(queue: QueueName): { lockDuration: number; stalledInterval: number } {
  return queue === 'chunks'
    ? { lockDuration: 30_000, stalledInterval: 30_000 }
    : { lockDuration: 15_000, stalledInterval: 5_000 };
}

/**
 * Concurrent jobs of a queue. Quotes have one more: each belongs to a different account and may take as long as
 * processing a list.
 */
function concurrencyOf(queue: QueueName, chunks: number): number {
  if (queue === 'chunks') return chunks;
  return queue === 'quotes' ? 3 : 2;
}

/**
 * Closes workers, which take no new jobs from then on. Resolves to true when they are closed, and to false when they are not
 * 3 s after `jobsEnd`: then they are left.
 */
export async function closeWorkers(
  workers: readonly Pick<Worker, 'close'>[],
  jobsEnd: Promise<unknown>,
): Promise<boolean> {
  const closed = Promise.all(workers.map((worker) => worker.close())).then(() => true);
  const waited = jobsEnd.then(() => delay(CLOSE_MS_MAX, false, { ref: false }));
  return Promise.race([closed, waited]);
}

/**
 * Starts the workers. Chunks run `workerConcurrency` at a time. On Postgres, BullMQ checks its store once and
 * caches a failure for good; a worker that keeps running then retries without a pause, so that the process does
 * not even handle a signal. Hence no worker starts before the store is available. Otherwise `onBroken` is called:
 * the process has to restart.
 */
export function runWorkers(
  context: JobContext,
  backend: QueueBackend,
  jobs: Jobs,
  onBroken: (error: unknown) => void = () => {},
): RunningWorkers {
  // Starts each counter at 0, so that an alert on its growth sees the first event.
  for (const name of Object.keys(jobs)) jobSeconds.zero({ name, end: 'failed' });
  let isEnding = false;
  const slot = { mustStop: () => isEnding };
  const inHand = new Set<Promise<void>>();
  const workers = queueNames.map((queue) => {
    const worker = backend.openWorker(
      queue,
      async ({ name, data }) => {
        const job = must(jobs[name as JobName], `job ${name}`) as JobDefinition<JobName>;
        const stop = jobSeconds.startTimer({ name: job.name });
        try {
          const log = context.log.child({ job: job.name });
          const run = job.run({ ...context, log }, job.payload.parse(data), slot);
          inHand.add(run);
          await run.finally(() => inHand.delete(run));
          stop({ end: 'done' });
        } catch (error) {
          stop({ end: 'failed' });
          throw error;
        }
      },
      {
        autorun: false,
        concurrency: concurrencyOf(queue, context.config.workerConcurrency),
        // The chunk's lease decides which worker may write; this lock only stops the queue from retrying.
        ...lockOf(queue),
        maxStalledCount: 10,
        runRetryDelay: RETRY_MS,
      },
    );
    worker.on('error', (error) => context.log.warn({ err: error, queue }, 'worker error'));
    worker.on('failed', (job, error) => {
      context.log.error({ err: error, queue, job: job?.name, id: job?.id }, 'job failed');
    });
    worker
      .waitUntilReady()
      .then(() => worker.run())
      .catch(onBroken);
    return worker;
  });
  return {
    async close() {
      isEnding = true;
      const jobsEnd = async () => {
        while (inHand.size > 0) await Promise.allSettled(inHand);
      };
      if (await closeWorkers(workers, jobsEnd())) return;
      context.log.warn('queue workers did not close in time; no job was running');
    },
  };
}
