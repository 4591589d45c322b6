/**
 * Queues without a server: wake-ups are kept in execution order, by age, and run on a test's
 * command. As in BullMQ, an id that is still waiting or running is not accepted again.
 */
import type { JobDefinition } from '../../src/jobs/queue/define-job.ts';
import type { JobContext } from '../../src/jobs/queue/job-context.ts';
import {
  type JobName,
  type JobPayloads,
  queueNames,
  queueOf,
} from '../../src/jobs/queue/job-names.ts';
import type { JobCount, Queues, WakeUp } from '../../src/jobs/queue/queues.ts';
import { jobs } from '../../src/jobs/registry.ts';

export interface Woken {
  name: JobName;
  id: string;
  payload: JobPayloads[JobName];
}

export class MemoryQueues implements Queues {
  /** False to let a job continue beyond its wake-up; by default every step is a wake-up. */
  mustStop = true;
  /** Waiting wake-ups in execution order. A test may inspect and reorder them. */
  waiting: Woken[] = [];
  /** Every accepted wake-up, in order. */
  readonly history: Woken[] = [];
  readonly #running = new Set<string>();

  async wake<Name extends JobName>(
    name: Name,
    wakeUps: WakeUp<JobPayloads[Name]>[],
  ): Promise<void> {
    for (const { id, payload } of wakeUps) {
      if (this.#running.has(id) || this.waiting.some((woken) => woken.id === id)) continue;
      const woken: Woken = { name, id, payload };
      this.waiting.push(woken);
      this.history.push(woken);
    }
  }

  async countWaiting(name: JobName): Promise<number> {
    return this.waiting.filter((woken) => queueOf[woken.name] === queueOf[name]).length;
  }

  async findHeld(
    _name: JobName,
    ids: readonly string[],
    _takenMs: number,
  ): Promise<ReadonlySet<string>> {
    const isHeld = (id: string) =>
      this.#running.has(id) || this.waiting.some((woken) => woken.id === id);
    return new Set(ids.filter(isHeld));
  }

  async countJobs(): Promise<JobCount[]> {
    return queueNames.map((queue) => {
      const jobs = this.waiting.filter((woken) => queueOf[woken.name] === queue).length;
      return { queue, state: 'waiting', jobs };
    });
  }

  opened(): never[] {
    return [];
  }

  async repair(): Promise<void> {}

  async close(): Promise<void> {}

  /** Runs one wake-up through the registry, as a worker does. Rejects with the job's error. */
  async run(context: JobContext, woken: Woken): Promise<void> {
    this.waiting = this.waiting.filter((other) => other !== woken);
    this.#running.add(woken.id);
    try {
      const job = jobs[woken.name] as JobDefinition<JobName>;
      await job.run(context, job.payload.parse(woken.payload), { mustStop: () => this.mustStop });
    } finally {
      this.#running.delete(woken.id);
    }
  }

  /** Runs the oldest wake-up of a name; false when none waits. */
  async runNext(context: JobContext, name: JobName): Promise<boolean> {
    const woken = this.waiting.find((other) => other.name === name);
    if (woken === undefined) return false;
    await this.run(context, woken);
    return true;
  }

  /**
   * Runs waiting wake-ups, and those they cause, `workers` at a time, until none is waiting. As in BullMQ, the
   * failure of a chunk ends its job alone. Rejects with the error of any other job.
   */
  async runUntilIdle(context: JobContext, workers = 1): Promise<void> {
    const running = new Set<Promise<void>>();
    while (this.waiting.length > 0 || running.size > 0) {
      const [next] = this.waiting;
      if (next !== undefined && running.size < workers) {
        const run = this.run(context, next)
          .catch((error: unknown) => {
            if (next.name !== 'run-chunk') throw error;
          })
          .finally(() => running.delete(run));
        running.add(run);
      } else {
        await Promise.race(running);
      }
    }
  }
}
