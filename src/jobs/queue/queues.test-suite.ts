/** The contract of the queue, for every store. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { Signal } from '../../../tests/support/signal.ts';
import { must } from '../../core/lib/assert.ts';
import { createLog } from '../../core/log.ts';
import type { QueueBackend } from './backend.ts';
import { type QueueName, queueNames } from './job-names.ts';
import { openQueues, type Queues } from './queues.ts';
import { closeWorkers } from './run-workers.ts';

/** A queue's store under test. */
export interface QueueHarness {
  backend: QueueBackend;
  /** Deletes everything in the store. */
  lose(): Promise<unknown>;
  /** Lets the store respond with errors until `obey`. */
  refuse(): Promise<unknown>;
  obey(): Promise<unknown>;
  close(): Promise<void>;
}

interface Ran {
  name: string;
  data: unknown;
}

const log = createLog('silent', 'test');

export function testQueues(open: () => Promise<QueueHarness>): void {
  let harness: QueueHarness;
  let queues: Queues;
  let workers: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    harness = await open();
    queues = openQueues(harness.backend, log);
  });
  afterEach(async () => {
    const closing = workers;
    workers = [];
    await closeWorkers(closing, Promise.resolve());
  });
  afterAll(async () => {
    await queues?.close();
    await harness?.backend.close();
    await harness?.close();
  });

  /** A worker of each queue; `onRun` sees each job before it counts as done. */
  const startWorkers = async (
    onRun: (job: Ran) => void | Promise<void>,
    concurrency = 2,
    onError: (queue: string) => void = () => {},
  ) => {
    const work = async ({ name, data }: Ran) => onRun({ name, data });
    const opened = queueNames.map((queue) =>
      harness.backend.openWorker(queue, work, { concurrency, autorun: false }),
    );
    workers = opened;
    // One that finds no store when it opens retries without a pause, see `runWorkers`.
    await Promise.all(opened.map((worker) => worker.waitUntilReady()));
    for (const worker of opened) {
      worker.on('error', () => onError(worker.name));
      worker.run().catch(() => {});
    }
  };
  const openedQueue = (name: QueueName) =>
    must(
      queues.opened().find((queue) => queue.name === name),
      `queue ${name}`,
    );
  const chunkPayload = (chunkId: number) => ({
    batchId: 'list',
    chunk: chunkId,
    attempt: 1,
    chunkId,
    epoch: 1,
  });
  const wakeChunk = (chunkId: number) =>
    queues.wake('run-chunk', [{ id: `list-${chunkId}-1`, payload: chunkPayload(chunkId) }]);

  test('a woken job runs on its queue, with its payload', async () => {
    const ran: Ran[] = [];
    const done = new Signal();
    await startWorkers((job) => {
      ran.push(job);
      if (ran.length === 3) done.raise();
    });
    await wakeChunk(1);
    await queues.wake('split-batch', [{ id: 'split-batch-a', payload: { batchId: 'a' } }]);
    await wakeChunk(2);
    await done.raised;
    expect(ran).toContainEqual({ name: 'run-chunk', data: chunkPayload(1) });
    expect(ran).toContainEqual({ name: 'run-chunk', data: chunkPayload(2) });
    expect(ran).toContainEqual({ name: 'split-batch', data: { batchId: 'a' } });
  });

  test('a wake-up whose id is already waiting is ignored; one whose job has run is accepted', async () => {
    const wakeBatch = (batchId: string) =>
      queues.wake('split-batch', [{ id: `split-batch-${batchId}`, payload: { batchId } }]);
    await wakeBatch('b');
    await wakeBatch('b');
    await wakeBatch('c');
    const ran: Ran[] = [];
    const both = new Signal();
    const again = new Signal();
    await startWorkers((job) => {
      ran.push(job);
      if (ran.length === 2) both.raise();
      if (ran.length === 3) again.raise();
    });
    await both.raised;
    expect(ran.map(({ data }) => data)).toEqual([{ batchId: 'b' }, { batchId: 'c' }]);
    // A job completes a moment after its handler; until then its id is refused.
    while (ran.length === 2) await wakeBatch('b');
    await again.raised;
  });

  test('waiting jobs run in the order of their wake-ups', async () => {
    for (const chunkId of [3, 5, 1, 2, 0, 4]) await wakeChunk(20 + chunkId);
    const ran: Ran[] = [];
    const done = new Signal();
    await startWorkers((job) => {
      ran.push(job);
      if (ran.length === 6) done.raise();
    }, 1);
    await done.raised;
    const order = ran.map(({ data }) => (data as { chunkId: number }).chunkId - 20);
    expect(order).toEqual([3, 5, 1, 2, 0, 4]);
  });

  test('a failed job runs again when woken again, and leaves nothing behind', async () => {
    const ran: Ran[] = [];
    const again = new Signal();
    await startWorkers((job) => {
      ran.push(job);
      if (ran.length > 1) return again.raise();
      throw new Error('the first run fails');
    });
    const wakeBatch = () =>
      queues.wake('split-batch', [{ id: 'split-batch-d', payload: { batchId: 'd' } }]);
    await wakeBatch();
    while (ran.length < 2) await wakeBatch();
    await again.raised;
    const queue = openedQueue('batches');
    while ((await queue.getJobCountByTypes('active')) > 0);
    expect(await queue.getJobCountByTypes('failed', 'completed')).toBe(0);
  });

  test('jobs of chunks can be seen waiting, running, done and failed', async () => {
    const queue = openedQueue('chunks');
    const stateOf = (chunkId: number) => queue.getJobState(`list-${chunkId}-1`);
    await wakeChunk(40);
    await wakeChunk(41);
    expect(await stateOf(40)).toBe('waiting');
    const started = new Signal();
    const end = new Signal();
    await startWorkers(({ data }) => {
      if ((data as { chunkId: number }).chunkId === 41) throw new Error('no part was written');
      started.raise();
      return end.raised;
    });
    await started.raised;
    expect(await stateOf(40)).toBe('active');
    while ((await stateOf(41)) !== 'failed');
    const held = await queues.findHeld(
      'run-chunk',
      ['list-40-1', 'list-41-1', 'list-42-1'],
      60_000,
    );
    expect([...held]).toEqual(['list-40-1']);
    // The queue takes the job of a worker that died for running.
    expect(await queues.findHeld('run-chunk', ['list-40-1'], 0)).toEqual(new Set());
    // Taken before the clock was set back, or by a worker whose clock is ahead.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    const ofLater = await queues.findHeld('run-chunk', ['list-40-1'], 60_000);
    vi.useRealTimers();
    expect(ofLater).toEqual(new Set());
    end.raise();
    while ((await stateOf(40)) !== 'completed');
    const failed = await queue.getJob('list-41-1');
    expect(failed).toMatchObject({
      data: chunkPayload(41),
      failedReason: 'no part was written',
      attemptsMade: 1,
    });
    expect(await queues.findHeld('run-chunk', ['list-40-1'], 60_000)).toEqual(new Set());
  });

  test('running jobs are not counted as waiting, and each queue counts its own', async () => {
    expect(await queues.countWaiting('run-chunk')).toBe(0);
    await wakeChunk(8);
    expect(await queues.countWaiting('run-chunk')).toBe(1);
    expect(await queues.countWaiting('split-batch')).toBe(0);
    const started = new Signal();
    const end = new Signal();
    await startWorkers(() => {
      started.raise();
      return end.raised;
    });
    await started.raised;
    expect(await queues.countWaiting('run-chunk')).toBe(0);
    end.raise();
  });

  test('the queue counts waiting and running jobs', async () => {
    const jobsOf = async (queue: string) =>
      Object.fromEntries(
        (await queues.countJobs())
          .filter((count) => count.queue === queue)
          .map(({ state, jobs }) => [state, jobs]),
      );
    const none = { waiting: 0, active: 0, delayed: 0 };
    await wakeChunk(9);
    await wakeChunk(10);
    expect(await jobsOf('chunks')).toEqual({ ...none, waiting: 2 });
    expect(await jobsOf('batches')).toEqual(none);
    const started = new Signal();
    const end = new Signal();
    await startWorkers(() => {
      started.raise();
      return end.raised;
    });
    await started.raised;
    while ((await jobsOf('chunks')).active !== 2);
    expect(await jobsOf('chunks')).toEqual({ ...none, active: 2 });
    end.raise();
    while ((await jobsOf('chunks')).active !== 0);
    expect(await jobsOf('chunks')).toEqual(none);
  });

  test('a worker whose store refuses its commands pauses before it asks again', async () => {
    const started = new Signal();
    const end = new Signal();
    const errors: number[] = [];
    const repeated = new Signal();
    await startWorkers(
      () => {
        started.raise();
        return end.raised;
      },
      1,
      (queue) => {
        // Of the job that ends, two at once; then of each time that it asks for the next one.
        if (queue === 'chunks' && errors.push(performance.now()) === 4) repeated.raise();
      },
    );
    await wakeChunk(50);
    await started.raised;
    await harness.refuse();
    end.raise();
    await repeated.raised;
    await harness.obey();
    const [first = 0, , , fourth = 0] = errors;
    expect(fourth - first).toBeGreaterThan(1_000);
  });

  test('workers recover after the store has lost everything', async () => {
    const ran: Ran[] = [];
    let seen = new Signal();
    await startWorkers((job) => {
      ran.push(job);
      seen.raise();
    });
    await wakeChunk(5);
    await seen.raised;
    await harness.lose();
    seen = new Signal();
    // Does not throw, whatever error the store returns.
    await wakeChunk(6);
    await repairedBySweeps();
    await wakeChunk(7);
    await seen.raised;
    while (!ran.some(({ data }) => (data as { chunkId: number }).chunkId === 7)) {
      seen = new Signal();
      await seen.raised;
    }
    await queues.repair();
  });

  /** Repairs fail while workers that lost their tables hold all connections; each sweep tries again. */
  async function repairedBySweeps(): Promise<void> {
    const repair = () =>
      queues.repair().then(
        () => true,
        () => false,
      );
    await expect.poll(repair).toBe(true);
  }
}
