/** The working side: one BullMQ worker for each queue, all jobs of the registry. */
import { setTimeout as delay } from 'node:timers/promises';
import { Histogram } from 'prom-client';
import { must } from '../../core/lib/assert.ts';
import { metrics } from '../../core/metrics.ts';
import type { QueueBackend } from './backend.ts';
import type { JobDefinition, Jobs } from './define-job.ts';
import type { JobContext } from './job-context.ts';
import { type JobName, type QueueName, queueNames } from './job-names.ts';

const jobSeconds = new Histogram({
  name: 'enrich_job_seconds',
  help: 'Time of jobs, by how they ended.',
  labelNames: ['name', 'end'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  registers: [metrics],
});

/**
 * Closing a worker waits for its connection to end, which a client that waits to connect again never tells. When
 * what is in hand is done, so long is enough for one that works.
 */
const CLOSE_MS_MAX = 3_000;

export interface RunningWorkers {
  /** Takes no new work and resolves when what is in hand is done. */
  close(): Promise<void>;
}

/**
 * How soon a job of a worker that died is given to another. A lost chunk has its lease and a wake-up of
 * its own in some 20 s; a job about a whole batch has this lock alone, because an id that the queue still
 * keeps is not taken again.
 */
function lockOf(queue: QueueName): { lockDuration: number; stalledInterval: number } {
  return queue === 'chunks'
    ? { lockDuration: 30_000, stalledInterval: 30_000 }
    : { lockDuration: 15_000, stalledInterval: 5_000 };
}

/**
 * Jobs of a queue that run at a time. Quotes have one more: each is of another account, and may take as long as the
 * run of a list.
 */
function concurrencyOf(queue: QueueName, chunks: number): number {
  if (queue === 'chunks') return chunks;
  return queue === 'quotes' ? 3 : 2;
}

/**
 * Starts working. Chunks run `workerConcurrency` at a time. On
 * Postgres, BullMQ asks once whether its store is there and keeps a no for ever; a worker that runs on
 * then asks again without a pause, so that not even a signal reaches the process. Hence none runs before
 * the store is there, and `onBroken` is called when it is not: the process has to start again.
 */
export function runWorkers(
  context: JobContext,
  backend: QueueBackend,
  jobs: Jobs,
  onBroken: (error: unknown) => void = () => {},
): RunningWorkers {
  // What never happened yet is 0: an alert on its growth sees the first time.
  for (const name of Object.keys(jobs)) jobSeconds.zero({ name, end: 'failed' });
  let isEnding = false;
  const slot = { mayGoOn: () => !isEnding };
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
        // The lease on the chunk decides who may write; this lock only keeps the queue quiet.
        ...lockOf(queue),
        maxStalledCount: 10,
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
      const closed = Promise.all(workers.map((worker) => worker.close())).then(() => true);
      const waited = async () => {
        while (inHand.size > 0) await Promise.allSettled(inHand);
        return delay(CLOSE_MS_MAX, false, { ref: false });
      };
      if (await Promise.race([closed, waited()])) return;
      context.log.warn('the queue does not close its workers; they have nothing in hand');
    },
  };
}
