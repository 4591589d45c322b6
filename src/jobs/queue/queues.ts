/** The enqueueing side: any process may wake a job. */
import type { Queue } from 'bullmq';
import { Counter } from 'prom-client';
import { must } from '../../core/lib/assert.ts';
import type { Log } from '../../core/log.ts';
import { metrics } from '../../core/metrics.ts';
import type { QueueBackend } from './backend.ts';
import {
  type JobName,
  type JobPayloads,
  type QueueName,
  queueNames,
  queueOf,
} from './job-names.ts';
import { traceOption } from './telemetry.ts';

const wakeUpsLost = new Counter({
  name: 'enrich_wake_ups_lost_total',
  help: 'Wake-ups that the queue did not take; the sweep makes them again.',
  labelNames: ['name'],
  registers: [metrics],
});

/** A healthy store takes milliseconds; a caller does not wait longer for one that is away. */
const WAKE_MS_MAX = 2_000;

export interface WakeUp<Payload> {
  /** The trace that the job is part of, as its batch keeps it; what is active when absent. */
  trace?: string | null;
  /** Derived from what the job is about; BullMQ ignores an id that it still keeps. No `:` in it. */
  id: string;
  payload: Payload;
  /** From 1; of those that wait, the lowest is taken first. One without comes before all. */
  priority?: number;
}

export interface JobCount {
  queue: QueueName;
  state: keyof typeof jobStates;
  jobs: number;
}

/** What a job of ours can be, and BullMQ's names for it. Of one that is over, however, nothing is kept. */
const jobStates = {
  waiting: ['waiting', 'prioritized'],
  active: ['active'],
  delayed: ['delayed'],
} as const;

export interface Queues {
  /**
   * Wakes a job for each entry. It does not throw: what is to be done is in Postgres already, and a
   * wake-up that is lost here is logged and made again by the sweep.
   */
  wake<Name extends JobName>(name: Name, wakeUps: WakeUp<JobPayloads[Name]>[]): Promise<void>;
  /** Jobs of this kind's queue that wait for a worker; infinitely many when the store does not say. */
  countWaiting(name: JobName): Promise<number>;
  /** Jobs of each queue that wait and run. Throws when the store does not say. */
  countJobs(): Promise<JobCount[]>;
  /** The queues as BullMQ has them, for what looks at jobs one by one. */
  opened(): Queue[];
  /** Makes again what the queue's store has lost of its own structure. Throws while it is away. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the queues for adding jobs. `onBroken` is called when one can never be used (see `runWorkers`):
 * the process has to start again.
 */
export function openQueues(
  backend: QueueBackend,
  log: Log,
  onBroken: (error: unknown) => void = () => {},
): Queues {
  const queues = new Map<QueueName, Queue>();
  for (const name of queueNames) {
    const queue = backend.openQueue(name);
    queue.on('error', (error) => log.warn({ err: error, queue: name }, 'queue error'));
    queue.waitUntilReady().catch(onBroken);
    queues.set(name, queue);
  }
  return {
    async wake(name, wakeUps) {
      if (wakeUps.length === 0) return;
      const queue = must(queues.get(queueOf[name]), `queue of ${name}`);
      // Of a job that failed nothing is kept either: its id would be ignored, and the sweep could not wake it.
      const kept = { removeOnComplete: true, removeOnFail: true };
      const added = queue.addBulk(
        wakeUps.map(({ id, payload, priority = 0, trace }) => ({
          name,
          data: payload,
          opts: { jobId: id, priority, ...kept, ...traceOption(trace) },
        })),
      );
      try {
        await within(WAKE_MS_MAX, added);
      } catch (error) {
        const lost = { job: name, count: wakeUps.length };
        wakeUpsLost.inc({ name }, wakeUps.length);
        log.warn({ err: error, ...lost }, 'wake-up lost, the sweep will find it');
      }
    },
    async countWaiting(name) {
      const queue = must(queues.get(queueOf[name]), `queue of ${name}`);
      try {
        return await within(WAKE_MS_MAX, queue.count());
      } catch (error) {
        log.warn({ err: error, job: name }, 'the queue does not say what waits');
        return Number.POSITIVE_INFINITY;
      }
    },
    async countJobs() {
      const counting = [...queues].map(async ([queue, opened]) => {
        const counts = await opened.getJobCounts(...Object.values(jobStates).flat());
        return Object.entries(jobStates).map(([state, names]) => {
          const jobs = names.reduce((sum, name) => sum + (counts[name] ?? 0), 0);
          return { queue, state: state as JobCount['state'], jobs };
        });
      });
      return (await within(WAKE_MS_MAX, Promise.all(counting))).flat();
    },
    opened: () => [...queues.values()],
    async repair() {
      await repairQueue(backend, log);
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
    },
  };
}

/** Makes again what the queue's store has lost of its own structure. Throws while it is away. */
export async function repairQueue(backend: QueueBackend, log: Log): Promise<void> {
  if (await backend.repair()) log.warn('the queue had lost its schema, it was made again');
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
