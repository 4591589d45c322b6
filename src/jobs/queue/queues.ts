/** The enqueueing side: any process may wake a job. */
import type { Queue } from 'bullmq';
import { Counter } from 'prom-client';
import { must } from '../../core/lib/assert.ts';
import { within } from '../../core/lib/within.ts';
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
  help: 'Wake-ups that the queue did not accept; the sweep repeats them.',
  labelNames: ['name'],
  registers: [metrics],
});

/** A healthy store takes milliseconds; a caller waits no longer for an unavailable one. */
const WAKE_MS_MAX = 2_000;

export interface WakeUp<Payload> {
  /** The trace of the job as stored with its batch; the active trace when absent. */
  trace?: string | null;
  /** Derived from the subject of the job; BullMQ ignores an id that it still holds. Must not contain `:`. */
  id: string;
  payload: Payload;
}

export interface JobCount {
  queue: QueueName;
  state: keyof typeof jobStates;
  jobs: number;
}

/** States of unfinished jobs and BullMQ's names for them. */
const jobStates = {
  waiting: ['waiting', 'prioritized'],
  active: ['active'],
  delayed: ['delayed'],
} as const;

/** States of jobs that a worker takes, or has just taken. */
const takenStates: ReadonlySet<string> = new Set([...jobStates.waiting, ...jobStates.active]);

/**
 * Finished chunks stay for a while, for people who look at the queue: each dispatch has an id of its own. Few do, because
 * on Postgres BullMQ reads all of them again whenever one is added.
 * Other jobs are removed when they end, because their next wake-up has the same id.
 */
const kept = {
  chunks: {
    removeOnComplete: { age: 60 * 60, count: 200 },
    removeOnFail: { age: 24 * 60 * 60, count: 1_000 },
  },
  others: { removeOnComplete: true, removeOnFail: true },
} as const;

export interface Queues {
  /**
   * Enqueues a job for each entry. Does not throw: the work is already in Postgres, and a lost wake-up is
   * logged and repeated by the sweep.
   */
  wake<Name extends JobName>(name: Name, wakeUps: WakeUp<JobPayloads[Name]>[]): Promise<void>;
  /** Jobs waiting in this job's queue; `Infinity` when the store fails. */
  countWaiting(name: JobName): Promise<number>;
  /**
   * Returns the ids of those jobs that wait, or that a worker took within the last `takenMs` by its clock, which may be ahead
   * of this one by as much. A worker that died keeps a job until the job's lock ends. A job that cannot be read, or that is in
   * no list of waiting jobs, is not among them, because no worker can run it. Throws when the store fails.
   */
  findHeld(name: JobName, ids: readonly string[], takenMs: number): Promise<ReadonlySet<string>>;
  /** Waiting and running jobs of each queue. Throws when the store fails. */
  countJobs(): Promise<JobCount[]>;
  /** The underlying BullMQ queues, for code that inspects single jobs. */
  opened(): Queue[];
  /** Recreates the lost schema of the queue's store. Throws while the store is unavailable. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the queues for adding jobs. Calls `onBroken` when a queue can never be used (see `runWorkers`): the
 * process has to restart.
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
  const queueFor = (name: JobName) => must(queues.get(queueOf[name]), `queue of ${name}`);
  return {
    async wake(name, wakeUps) {
      if (wakeUps.length === 0) return;
      const queue = queueFor(name);
      const keep = queueOf[name] === 'chunks' ? kept.chunks : kept.others;
      let lost = wakeUps.length;
      try {
        const adding = addEach(wakeUps, async ({ id, payload, trace }) => {
          await queue.add(name, payload, { jobId: id, ...keep, ...traceOption(trace) });
          lost--;
        });
        await within(WAKE_MS_MAX, adding);
      } catch (error) {
        wakeUpsLost.inc({ name }, lost);
        log.warn({ err: error, job: name, count: lost }, 'wake-up lost, the sweep will repeat it');
      }
    },
    async countWaiting(name) {
      const queue = queueFor(name);
      try {
        return await within(WAKE_MS_MAX, queue.count());
      } catch (error) {
        log.warn({ err: error, job: name }, 'could not count waiting jobs');
        return Number.POSITIVE_INFINITY;
      }
    },
    async findHeld(name, ids, takenMs) {
      const queue = queueFor(name);
      const isHeld = async (id: string) => {
        const job = await queue.getJob(id).catch(nullWhenUnreadable);
        if (!job || job.finishedOn) return false;
        if (job.processedOn) return Math.abs(job.processedOn - Date.now()) < takenMs;
        // The store may have lost the list and kept the job.
        return takenStates.has(await job.getState());
      };
      const held = await within(WAKE_MS_MAX, Promise.all(ids.map(isHeld)));
      return new Set(ids.filter((_, at) => held[at]));
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

/**
 * Adds the items one by one, in order: to add jobs in bulk, BullMQ creates two tables in Postgres, as dear as twenty jobs.
 * Tries all of them, because one that the queue always refuses must not keep those after it. Throws the first error.
 */
async function addEach<Item>(
  items: readonly Item[],
  add: (item: Item) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const item of items) await add(item).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}

/** Returns null for the error of a damaged job, that is neither JSON nor what BullMQ stores. Throws any other, of the store. */
function nullWhenUnreadable(error: unknown): null {
  if (error instanceof SyntaxError || String(error).includes('WRONGTYPE')) return null;
  throw error;
}

/** Recreates the lost schema of the queue's store. Throws while the store is unavailable. */
export async function repairQueue(backend: QueueBackend, log: Log): Promise<void> {
  if (await backend.repair()) log.warn('the queue had lost its schema; recreated it');
}
