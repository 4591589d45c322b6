/**
 * Queues without a server: wake-ups are kept in the order in which they are taken, by priority and then by
 * age, and run when a test says so. As BullMQ does, an id that still waits or runs is not taken a second
 * time.
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
  priority: number;
}

export class MemoryQueues implements Queues {
  /** Whether a job may do more of its kind than it was woken for; here every step is a wake-up. */
  mayGoOn = false;
  /** What waits, in the order in which it is taken. A test may look at it and reorder it. */
  waiting: Woken[] = [];
  /** Every wake-up that was taken, in order. */
  readonly history: Woken[] = [];
  readonly #running = new Set<string>();

  async wake<Name extends JobName>(
    name: Name,
    wakeUps: WakeUp<JobPayloads[Name]>[],
  ): Promise<void> {
    for (const { id, payload, priority = 0 } of wakeUps) {
      if (this.#running.has(id) || this.waiting.some((woken) => woken.id === id)) continue;
      const woken: Woken = { name, id, payload, priority };
      const behind = this.waiting.findIndex((other) => other.priority > priority);
      this.waiting.splice(behind < 0 ? this.waiting.length : behind, 0, woken);
      this.history.push(woken);
    }
  }

  async countWaiting(name: JobName): Promise<number> {
    return this.waiting.filter((woken) => queueOf[woken.name] === queueOf[name]).length;
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

  /** Runs one wake-up through the registry, as a worker does. Rejects with what the job throws. */
  async run(context: JobContext, woken: Woken): Promise<void> {
    this.waiting = this.waiting.filter((other) => other !== woken);
    this.#running.add(woken.id);
    try {
      const job = jobs[woken.name] as JobDefinition<JobName>;
      await job.run(context, job.payload.parse(woken.payload), { mayGoOn: () => this.mayGoOn });
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

  /** Runs what waits, and what that wakes, `workers` at a time, until nothing waits any more. */
  async runUntilIdle(context: JobContext, workers = 1): Promise<void> {
    const running = new Set<Promise<void>>();
    while (this.waiting.length > 0 || running.size > 0) {
      const [next] = this.waiting;
      if (next !== undefined && running.size < workers) {
        const run = this.run(context, next).finally(() => running.delete(run));
        running.add(run);
      } else {
        await Promise.race(running);
      }
    }
  }
}
