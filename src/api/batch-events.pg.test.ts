/** Listening to a batch, one listener or a thousand. */
import v8 from 'node:v8';
import vm from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { serveWithLimits } from '../../tests/support/raw-http.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { revokeKey } from '../core/keys/account-keys.ts';
import { displayPrefix } from '../core/keys/key-format.ts';
import { createLog } from '../core/log.ts';
import type { Batch } from '../jobs/batch/batch.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import { findBatch } from '../jobs/batch/batches.sql.ts';
import { type BatchWatcher, watchBatches } from '../jobs/batch/watch-batches.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(6) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
const list = `email\n${crowd(6)
  .map(({ email }) => `${email}\n`)
  .join('')}`;

/** The events of a stream as they come; ends with the stream. */
async function* events(id: string): AsyncGenerator<BatchView> {
  const response = await pipeline.call(caller, `/v1/batches/${id}/events`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    text += decoder.decode(bytes, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const event = text.slice(0, end);
      text = text.slice(end + 2);
      if (event.startsWith(':')) continue;
      const [, data] = /^event: batch\ndata: (.*)$/.exec(event) ?? [];
      yield JSON.parse(data ?? 'null') as BatchView;
    }
  }
  expect(text).toBe('');
}

/** Hears the events of a batch, each newer than the last. */
function listen(id: string) {
  const heard = events(id);
  let revision = -1;
  return {
    async until(state: string): Promise<void> {
      for (;;) {
        const { value } = await heard.next();
        expect(value).toMatchObject({ state: expect.any(String) });
        expect(value.revision).toBeGreaterThan(revision);
        revision = value.revision;
        if (value.state === state) return;
      }
    },
    hasEnded: async () => (await heard.next()).done,
  };
}

describe('the events of a batch', () => {
  test('tell its states in order, each once, and end with its last', async () => {
    const id = await pipeline.upload(caller, list, options);
    const seen: BatchView[] = [];
    const { queues, context } = pipeline;
    const control = (action: string) =>
      pipeline.call(caller, `/v1/batches/${id}/${action}`, { method: 'POST' });
    // Each step is taken when the state before it was heard. On a busy machine others are heard between them.
    const steps: [state: string, next: () => Promise<unknown>][] = [
      ['created 0', () => queues.runNext(context, 'split-batch')],
      ['queued 0', () => queues.runNext(context, 'run-chunk')],
      ['running 2', () => control('pause')],
      ['paused 2', () => control('resume')],
      ['running 2', () => pipeline.runUntilIdle()],
      ['completed 6', async () => {}],
    ];
    for await (const event of events(id)) {
      seen.push(event);
      const [expected, next] = steps[0] ?? ['nothing more', async () => {}];
      if (`${event.state} ${event.rows.processed}` !== expected) continue;
      steps.shift();
      await next();
    }
    expect(steps).toEqual([]);
    const revisions = seen.map(({ revision }) => revision);
    expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
    expect(seen.at(-1)).toEqual(await pipeline.batch(caller, id));
  });

  test('of an ended batch are its last state alone', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const seen: string[] = [];
    for await (const { state } of events(id)) seen.push(state);
    expect(seen).toEqual(['completed']);
  });

  test('go to every listener, also to one that came later', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
    const first = listen(id);
    await first.until('ready');
    const second = listen(id);
    await second.until('ready');
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await first.until('queued');
    await second.until('queued');
    await pipeline.runUntilIdle();
    for (const listener of [first, second]) {
      await listener.until('completed');
      expect(await listener.hasEnded()).toBe(true);
    }
  });

  test('end when the key is revoked, for a list that goes on', async () => {
    const { keyId: _, ...other } = await pipeline.keyOf(caller.accountId, 'live');
    const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
    const response = await pipeline.call({ ...caller, key: other.key }, `/v1/batches/${id}/events`);
    const kept = events(id);
    await kept.next();
    await revokeKey(pipeline.sql, displayPrefix(other.key));
    expect(await response.text()).toMatch(/"state":"ready"/);
    // The other key's stream goes on.
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    expect((await kept.next()).value).toMatchObject({ state: 'queued' });
    await pipeline.runUntilIdle();
    await kept.return(undefined);
  });

  test('are not shown to other accounts', async () => {
    const id = await pipeline.upload(caller, list, options);
    const stranger = await pipeline.account(1);
    const response = await pipeline.call(stranger, `/v1/batches/${id}/events`);
    await expectProblem(response, { status: 404, code: 'not_found' });
    await pipeline.runUntilIdle();
  });
});

test('an account has at most 100 streams, and the next when one ends', async () => {
  const { key } = await pipeline.account(1);
  const owner = { ...caller, key };
  const id = await pipeline.upload(owner, list, { ...options, hold: 'true' });
  const open = () => pipeline.call(owner, `/v1/batches/${id}/events`);
  const streams = await Promise.all(Array.from({ length: 100 }, open));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  const refused = await expectProblem(await open(), { status: 429, code: 'rate_limited' });
  expect(refused.detail).toContain('100 for event streams of the account');
  await streams.pop()?.body?.cancel();
  let next = await open();
  while (next.status !== 200) next = await open();
  for (const { body } of [...streams, next]) await body?.cancel();
});

test('streams end at once when the service shuts down, for a list that goes on', async () => {
  const server = await serveWithLimits(pipeline.context, {});
  try {
    const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
    const url = `http://127.0.0.1:${server.port}/v1/batches/${id}/events`;
    const response = await fetch(url, { headers: { Authorization: `Bearer ${caller.key}` } });
    server.watcher.stop();
    expect(await response.text()).toMatch(/^event: batch\n.*"state":"ready".*\n\n$/);
  } finally {
    server.close();
  }
});

test('a new listener hears of a change within a tenth of a second', async () => {
  const id = await pipeline.upload(caller, list, options);
  const batch = await findBatch(pipeline.sql, id);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const watcher = watchBatches(pipeline.sql, createLog('silent', 'test'));
  try {
    const heard = new Promise<Batch>((resolve) => watcher.watch(batch as Batch, resolve));
    await pipeline.sql`update batches set state = 'validating' where id = ${id}`;
    vi.advanceTimersByTime(100);
    expect(await heard).toMatchObject({ id, state: 'validating' });
  } finally {
    vi.useRealTimers();
    watcher.stop();
  }
});

describe('a thousand listeners', () => {
  let watcher: BatchWatcher | undefined;
  afterEach(() => {
    vi.useRealTimers();
    watcher?.stop();
  });

  test('keep no copy of their batch', async () => {
    const id = await pipeline.makeExport(caller, { filter: 'gender=1', hold: true });
    const row = await findBatch(pipeline.sql, id);
    watcher = watchBatches(pipeline.sql, createLog('silent', 'test'));
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    collect();
    const before = process.memoryUsage().heapUsed;
    for (let listener = 0; listener < 1000; listener++) {
      // Each request reads its own row.
      watcher.watch({ ...row, filter: 'x'.repeat(60_000 + listener) } as Batch, () => {});
    }
    collect();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  });

  test('that hear nothing cost one query each half second, and all hear a change', async () => {
    const ids = await Promise.all(
      Array.from({ length: 10 }, () => pipeline.upload(caller, list, options)),
    );
    const batches = await Promise.all(ids.map((id) => findBatch(pipeline.sql, id)));
    let queries = 0;
    const answered: Promise<unknown>[] = [];
    const counting = new Proxy(pipeline.sql, {
      apply(target, self, args) {
        const query = Reflect.apply(target as never, self, args) as Promise<unknown>;
        // The list of columns is a piece of the statement, and none by itself.
        if (/^\s*select /.test(String(args[0]))) {
          queries++;
          answered.push(query);
        }
        return query;
      },
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    watcher = watchBatches(counting, createLog('silent', 'test'));
    const heard: string[] = [];
    const leave: (() => void)[] = [];
    for (let listener = 0; listener < 1000; listener++) {
      const stop = watcher.watch(batches[listener % 10] as Batch, ({ id, state }) =>
        heard.push(`${id} ${state}`),
      );
      leave.push(stop);
    }
    const pass = async (ms: number) => {
      vi.advanceTimersByTime(ms);
      await answered.at(-1);
      // What the poll does with its answer comes after it.
      await new Promise((resolve) => setImmediate(resolve));
    };
    const poll = () => pass(500);
    // At first the pauses are shorter.
    for (let pause = 0; pause < 20; pause++) await poll();
    await pass(0);
    queries = 0;
    for (let half = 1; half <= 5; half++) {
      await pass(490);
      expect(queries).toBe(half - 1);
      await pass(10);
      expect(queries).toBe(half);
    }
    // What has not changed is not sent again.
    expect(await answered.at(-1)).toHaveLength(0);
    expect(heard).toEqual([]);
    const [changed] = ids;
    await pipeline.sql`update batches set state = 'validating' where id = ${changed ?? ''}`;
    await poll();
    expect(heard).toEqual(Array.from({ length: 100 }, () => `${changed} validating`));
    await poll();
    expect(heard).toHaveLength(100);
    // Who went away is not asked for any more.
    for (const stop of leave) stop();
    const before = queries;
    await poll();
    await poll();
    expect(queries).toBe(before);
  });
});
