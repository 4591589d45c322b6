/**
 * One list on each stack (embedded; Redis with S3), on each queue store, and without a queue: the same bytes,
 * the same credits.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { loseQueue } from '../../../tests/support/lose-queue.ts';
import { type Caller, openPipeline, type Storage } from '../../../tests/support/pipeline.ts';
import {
  describeWithRedis,
  startRedis,
  type TestRedis,
} from '../../../tests/support/redis-server.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import {
  openWorkingPipeline,
  type WorkingPipeline,
} from '../../../tests/support/working-pipeline.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';

const PEOPLE = 40;
/** Small chunks, for many queue jobs. */
const environment = { CHUNK_ROWS: '3' };
const options = { operation: 'people.enrich', fields: 'id,name' };
const people = crowd(PEOPLE);
const rows = people.flatMap(({ email }, index) => [
  `${index},${email}`,
  `${index},nobody-${index}@home.example`,
]);
const list = `Ref,Email\n${rows.join('\n')}\n`;

/** The result of a pipeline without a queue store. */
async function runWithoutStore(): Promise<string> {
  const pipeline = await openPipeline(environment);
  await importGraph(pipeline.sql, { persons: people });
  const caller = await pipeline.account(1000);
  const { text } = await pipeline.results(caller, await pipeline.enrich(caller, list, options));
  await pipeline.close();
  return text;
}

let expected: string;
beforeAll(async () => {
  expected = await runWithoutStore();
});

function testQueue(
  open: () => Promise<Record<string, string>>,
  lose: (pipeline: WorkingPipeline) => Promise<unknown>,
  storage: Storage = 'files',
): void {
  let pipeline: WorkingPipeline;
  let caller: Caller;
  beforeAll(async () => {
    pipeline = await openWorkingPipeline({ ...environment, ...(await open()) }, storage);
    await importGraph(pipeline.sql, { persons: people });
    caller = await pipeline.account(1000);
  });
  afterAll(() => pipeline?.close());

  const check = async (id: string, before: number) => {
    await pipeline.finished(caller, id);
    expect(await pipeline.results(caller, id)).toEqual({ text: expected, complete: 'true' });
    expect((await pipeline.wallet(caller))?.balance).toBe(before - PEOPLE);
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  };

  test('an uploaded list has the same result as without a queue, and costs its matches', async () => {
    const before = (await pipeline.wallet(caller))?.balance ?? 0;
    await check(await pipeline.upload(caller, list, options), before);
  });

  test('each chunk of a list is a job that stays in sight, named by batch and number', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.finished(caller, id);
    const queue = pipeline.context.queues.opened().find(({ name }) => name === 'chunks');
    const jobsOfList = async () => {
      const jobs = (await queue?.getJobs(['completed'])) ?? [];
      return jobs.filter(({ data }) => data.batchId === id);
    };
    const chunks = Math.ceil((2 * PEOPLE) / Number(environment.CHUNK_ROWS));
    // A job completes a moment after its handler.
    while ((await jobsOfList()).length < chunks);
    const jobs = await jobsOfList();
    const names = jobs.map((job) => job.id?.replace(/-\d+$/, ''));
    expect(names.toSorted()).toEqual(
      Array.from({ length: chunks }, (_, n) => `${id}-${n + 1}`).toSorted(),
    );
  });

  test('a list completes and an opt-out is applied while quotes and exports of others fill every slot', async () => {
    const leaving = { id: 9001, email: 'leaving@list.example' };
    await importGraph(pipeline.sql, { persons: [leaving] });
    const before = await pipeline.upload(caller, `email\n${leaving.email}\n`, options);
    await pipeline.finished(caller, before);
    const quotes = new Map<string, Caller>();
    for (let quote = 0; quote < 3; quote++) {
      const other = await pipeline.account(1000);
      const id = await pipeline.upload(other, list, { ...options, hold: 'true' });
      while ((await pipeline.batch(other, id)).state !== 'ready');
      quotes.set(id, other);
    }
    const end = new Signal();
    const started = new Map([...quotes.keys()].map((id) => [id, new Signal()]));
    pipeline.faults.get = async (key) => {
      const [, id = ''] = key.split('/');
      started.get(id)?.raise();
      if (started.has(id)) await end.raised;
    };
    for (const [id, other] of quotes) {
      await pipeline.call(other, `/v1/batches/${id}/quote`, { method: 'POST' });
      await started.get(id)?.raised;
    }
    const selecting = [new Signal(), new Signal()];
    let exports = 0;
    pipeline.faults.putStream = async (key) => {
      if (key.endsWith('/upload')) return;
      selecting[exports++]?.raise();
      await end.raised;
    };
    for (const { raised } of selecting) {
      await pipeline.makeExport(await pipeline.account(1000), {
        filter: 'id=1001',
        fields: ['id'],
      });
      await raised;
    }
    await pipeline.finished(caller, await pipeline.upload(caller, list, options));
    await suppress(pipeline.sql, leaving.email);
    await pipeline.sweep();
    const isBehind = async () => {
      const [part] = await pipeline.sql`
        select suppression_number from parts where batch_id = ${before}`;
      return part?.suppressionNumber === 0;
    };
    while (await isBehind());
    for (const [id, other] of quotes) {
      expect((await pipeline.batch(other, id)).quote).toMatchObject({ state: 'running' });
    }
    end.raise();
    delete pipeline.faults.get;
    delete pipeline.faults.putStream;
  });

  test('workers that shut down during a list finish their chunk, and others continue', async () => {
    const before = (await pipeline.wallet(caller))?.balance ?? 0;
    // After the chunks dispatched at the start, workers continue without wake-ups.
    let puts = 0;
    const inTheMiddle = new Signal();
    const told = new Signal();
    pipeline.faults.put = async () => {
      if (++puts !== 30) return;
      inTheMiddle.raise();
      await told.raised;
    };
    const id = await pipeline.upload(caller, list, options);
    await inTheMiddle.raised;
    const ended = pipeline.endWorkers();
    told.raise();
    await ended;
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'running' });
    pipeline.startWorkers();
    await check(id, before);
  });

  test('losing the whole queue during a run loses no row and no credit', async () => {
    const before = (await pipeline.wallet(caller))?.balance ?? 0;
    let puts = 0;
    let lost = () => {};
    const isLost = new Promise<void>((resolve) => {
      lost = resolve;
    });
    pipeline.faults.put = async () => {
      if (++puts !== 3) return;
      await lose(pipeline);
      lost();
    };
    const id = await pipeline.upload(caller, list, options);
    await isLost;
    // A job that is added while the queue is away is lost too: workers sweep every few seconds.
    while ((await pipeline.batch(caller, id)).state !== 'completed') {
      const leased = await pipeline.sql`select from chunks where state = 'leased' limit 1`;
      if (leased.length > 0) continue;
      await pipeline.passAnHour();
      await pipeline.sweep();
    }
    await check(id, before);
  });
}

describe('on Postgres', () => {
  testQueue(
    async () => ({}),
    (pipeline) => loseQueue(pipeline.sql),
  );
});

describeWithRedis('on Redis', () => {
  let server: TestRedis;
  afterAll(() => server?.[Symbol.asyncDispose]());
  testQueue(
    async () => {
      server = await startRedis();
      return { REDIS_URL: server.url };
    },
    () => server.client.flushall(),
  );

  test('workers that shut down while Redis is unavailable do not wait for it', async () => {
    await using own = await startRedis();
    const pipeline = await openWorkingPipeline({ ...environment, REDIS_URL: own.url });
    const caller = await pipeline.account(1000);
    const id = await pipeline.upload(caller, list, options);
    await pipeline.finished(caller, id);
    await own.kill();
    await pipeline.endWorkers();
    await own.start();
    await pipeline.close();
  });

  test('while Redis is unavailable, calls succeed and lists are accepted, to run when it is back', async () => {
    await using own = await startRedis();
    const pipeline = await openWorkingPipeline({ ...environment, REDIS_URL: own.url });
    await importGraph(pipeline.sql, { persons: people });
    const caller = await pipeline.account(1000);
    await own.kill();
    const id = await pipeline.upload(caller, list, options);
    for (const path of ['/v1/me', `/v1/people/enrich?email=${people[0]?.email}&fields=id`]) {
      const { status } = await pipeline.call(caller, path);
      expect(status).toBe(200);
    }
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'created' });
    await own.start();
    // Sweeps repeat; the first may run before the connection is open.
    let state = 'created';
    while (state === 'created') {
      await pipeline.sql`update batches set created_at = created_at - interval '1 minute'`;
      await pipeline.sweep();
      ({ state } = await pipeline.batch(caller, id));
    }
    await pipeline.finished(caller, id);
    expect((await pipeline.results(caller, id)).text).toBe(expected);
    await pipeline.close();
  });
});

describeWithRedis('on Redis and S3', () => {
  let server: TestRedis;
  afterAll(() => server?.[Symbol.asyncDispose]());
  testQueue(
    async () => {
      server = await startRedis();
      return { REDIS_URL: server.url };
    },
    () => server.client.flushall(),
    's3',
  );
});
