/** Pausing, cancelling and deleting a running list. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from './batch-view.ts';
import type { BatchState } from './states.ts';

const ROWS = 10;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2', ACCOUNT_CHUNKS_MAX: '3' });
  await importGraph(pipeline.sql, { persons: crowd(ROWS) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.get;
  delete pipeline.faults.put;
  pipeline.queues.waiting = [];
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };
const list = `email\n${crowd(ROWS)
  .map(({ email }) => `${email}\n`)
  .join('')}`;

async function send(id: string, action: string, headers = {}): Promise<Response> {
  const isDelete = action === 'delete';
  const path = isDelete ? `/v1/batches/${id}` : `/v1/batches/${id}/${action}`;
  return pipeline.call(caller, path, { method: isDelete ? 'DELETE' : 'POST', headers });
}

async function act(id: string, action: string): Promise<BatchView> {
  const response = await send(id, action);
  expect(response.status).toBe(202);
  return (await response.json()) as BatchView;
}

/** Everything that must not change after a batch was cancelled. */
async function money(id: string) {
  const { sql } = pipeline;
  return {
    wallet: await pipeline.wallet(caller),
    charges: await pipeline.charges(caller),
    reservations: await sql`select * from reservations where batch_id = ${id} order by id`,
    charged: await sql`select credits_charged, credits_reserved from batches where id = ${id}`,
  };
}

/** Runs everything that may still be in flight, including sweeps an hour later. */
async function runOut(): Promise<void> {
  await pipeline.runUntilIdle(2);
  await pipeline.passAnHour();
  await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
  await pipeline.sweep();
  await pipeline.runUntilIdle(2);
}

/** A worker that freezes at its next read or write of an object, holding its lease. */
async function frozenAt(call: 'get' | 'put'): Promise<{ thaw(): Promise<void> }> {
  const frozen = new Signal();
  const thawed = new Signal();
  pipeline.faults[call] = () => {
    delete pipeline.faults[call];
    frozen.raise();
    return thawed.raised;
  };
  const woken = must(pipeline.queues.waiting[0], 'a wake-up');
  const running = pipeline.queues.run(pipeline.context, woken);
  await frozen.raised;
  return {
    async thaw() {
      thawed.raise();
      await running;
    },
  };
}

/** The outcomes of the rows of a result, in order. */
async function outcomes(id: string): Promise<string[]> {
  const { text } = await pipeline.results(caller, id);
  const lines = text.split('\n').slice(1, -1);
  expect(lines.map((line) => line.split(',')[0])).toEqual(
    list.split('\n').slice(1, lines.length + 1),
  );
  return lines.map((line) => line.split(',')[1] ?? '');
}

describe('pause', () => {
  test('lets chunks in flight finish and starts no other until resumed', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const inFlight = await frozenAt('put');
    expect(await act(id, 'pause')).toMatchObject({ state: 'paused', reason: 'user' });
    await inFlight.thaw();
    await runOut();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'user',
      rows: { processed: 2, matched: 2 },
      credits: { charged: 2, reserved: 0 },
    });
    expect((await outcomes(id)).length).toBe(2);
    expect(await act(id, 'resume')).toMatchObject({ state: 'running', reason: null });
    await pipeline.runUntilIdle(2);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      rows: { matched: ROWS },
      credits: { charged: ROWS },
    });
  });

  test('before the first chunk postpones the start', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    await act(id, 'pause');
    await runOut();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'paused', started_at: null });
    expect((await act(id, 'resume')).state).toBe('queued');
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
  });

  test('by a person is not lifted by credits', async () => {
    const poor = await pipeline.account(1);
    const id = await pipeline.enrich(poor, list, options);
    expect(await pipeline.batch(poor, id)).toMatchObject({ reason: 'insufficient_credits' });
    const paused = await pipeline.call(poor, `/v1/batches/${id}/pause`, { method: 'POST' });
    expect(await paused.json()).toMatchObject({ state: 'paused', reason: 'user' });
    await pipeline.grant(poor, 100, 'top-up');
    await runOut();
    expect(await pipeline.batch(poor, id)).toMatchObject({ state: 'paused', reason: 'user' });
    await pipeline.call(poor, `/v1/batches/${id}/resume`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(poor, id)).toMatchObject({ state: 'completed' });
  });

  test('while the last chunk finishes does not prevent the batch from ending', async () => {
    const id = await pipeline.upload(caller, 'email\np1@list.example\n', options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const last = await frozenAt('put');
    await act(id, 'pause');
    await last.thaw();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed', reason: null });
  });
});

/** Brings a batch to a state, with a worker in flight if the state has one. */
const roads: Record<string, (id: string) => Promise<{ thaw(): Promise<void> } | undefined>> = {
  created: async () => undefined,
  validating: async (id) => {
    await pipeline.sql`update batches set state = 'validating' where id = ${id}`;
    return undefined;
  },
  ready: async (id) => {
    await pipeline.sql`update batches set hold = true where id = ${id}`;
    await pipeline.runUntilIdle();
    return undefined;
  },
  queued: async () => {
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    return undefined;
  },
  running: async () => {
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    return undefined;
  },
  'running, matching': async () => {
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    return frozenAt('get');
  },
  'running, credits reserved': async () => {
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    return frozenAt('put');
  },
  paused: async (id) => {
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    await act(id, 'pause');
    return undefined;
  },
};
const done: Record<string, number> = { running: 2, paused: 2 };
/** A list has no rows before the split. */
const unsplit = ['created', 'validating'];

describe.each(Object.keys(roads))('in %s', (state) => {
  async function batchThere() {
    const id = await pipeline.upload(caller, list, options);
    const worker = await roads[state]?.(id);
    expect((await pipeline.batch(caller, id)).state).toBe(state.split(',')[0]);
    return { id, worker };
  }

  test('cancel ends all charges with its response, and the rest is not processed', async () => {
    const { id, worker } = await batchThere();
    const isSplit = !unsplit.includes(state);
    expect(await act(id, 'cancel')).toMatchObject({
      state: isSplit ? 'cancelling' : 'cancelled',
      credits: { charged: done[state] ?? 0, reserved: 0 },
    });
    const before = await money(id);
    await worker?.thaw();
    expect(await money(id)).toEqual(before);
    await runOut();
    expect(await money(id)).toEqual(before);
    const matched = done[state] ?? 0;
    const rows = isSplit ? ROWS : 0;
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'cancelled',
      reason: null,
      rows: {
        total: isSplit ? ROWS : null,
        processed: rows,
        matched,
        not_processed: rows - matched,
      },
      credits: { charged: matched, reserved: 0 },
    });
    expect(await outcomes(id)).toEqual(
      Array.from({ length: rows }, (_, row) => (row < matched ? 'matched' : 'not_processed')),
    );
    expect((await pipeline.results(caller, id)).complete).toBe(String(isSplit));
    const invalidState = { status: 409, code: 'invalid_state' };
    await expectProblem(await send(id, 'cancel'), invalidState);
    await expectProblem(await send(id, 'resume'), invalidState);
  });

  test('delete does the same, keeps the counts and leaves no file', async () => {
    const { id, worker } = await batchThere();
    const other = await pipeline.upload(caller, list, { ...options, hold: 'true' });
    const response = await send(id, 'delete');
    expect([response.status, await response.text()]).toEqual([204, '']);
    const before = await money(id);
    expect((await pipeline.objects()).filter((key) => key.includes(id))).toEqual([]);
    await worker?.thaw();
    await runOut();
    expect(await money(id)).toEqual(before);
    const batch = await pipeline.batch(caller, id);
    expect(batch).toMatchObject({ state: 'cancelled', credits: { charged: done[state] ?? 0 } });
    if (batch.rows.total !== null) expect(batch.rows.processed).toBe(ROWS);
    const expired = { status: 410, code: 'files_expired' };
    for (const what of ['results', 'results?format=jsonl', 'preview']) {
      const gone = await pipeline.call(caller, `/v1/batches/${id}/${what}`);
      await expectProblem(gone, expired);
    }
    expect((await send(id, 'delete')).status).toBe(204);
    // Another batch keeps its own.
    expect((await pipeline.batch(caller, other)).state).toBe('ready');
    expect((await pipeline.objects()).some((key) => key.includes(other))).toBe(true);
  });
});

describe('cancel', () => {
  test('of a list that turns out to be unreadable still ends it', async () => {
    const broken = `${list.repeat(10_000)}${'x'.repeat(3_000_000)}\n`;
    const id = await pipeline.upload(caller, broken, options);
    await act(id, 'cancel');
    await runOut();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'cancelled',
      error: null,
      rows: { total: null, processed: 0 },
    });
  });

  test('of a list without rows ends it with its header', async () => {
    const id = await pipeline.upload(caller, `email\n${'\n'.repeat(70_000)}`, options);
    await act(id, 'cancel');
    await runOut();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'cancelled' });
    expect(await outcomes(id)).toEqual([]);
  });

  test('whose wake-ups are all lost is ended by the sweep, split or not', async () => {
    for (const isSplit of [false, true]) {
      const id = await pipeline.upload(caller, list, options);
      if (isSplit) await pipeline.queues.runNext(pipeline.context, 'split-batch');
      await act(id, 'cancel');
      pipeline.queues.waiting = [];
      await runOut();
      expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'cancelled' });
    }
  });

  test('concurrent with a commit yields one or the other, nothing in between', async () => {
    for (let round = 0; round < 10; round++) {
      const id = await pipeline.upload(caller, list, options);
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
      const woken = must(pipeline.queues.waiting[0], 'a chunk');
      const [after] = await Promise.all([
        act(id, 'cancel'),
        pipeline.queues.run(pipeline.context, woken),
      ]);
      const { charged } = (await pipeline.batch(caller, id)).credits;
      expect([0, 2]).toContain(charged);
      expect(after.credits.charged).toBe(charged);
      await runOut();
      expect(await pipeline.batch(caller, id)).toMatchObject({
        state: 'cancelled',
        rows: { total: ROWS, matched: charged, not_processed: ROWS - charged },
        credits: { charged, reserved: 0 },
      });
    }
  });
});

test('an action repeated with its Idempotency-Key returns the first response', async () => {
  const id = await pipeline.upload(caller, list, options);
  const headers = { 'Idempotency-Key': `cancel-${id}` };
  const first = await send(id, 'cancel', headers);
  const body = (await first.json()) as BatchView;
  expect(first.status).toBe(202);
  await runOut();
  const second = await send(id, 'cancel', headers);
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect([second.status, await second.json()]).toEqual([202, body]);
  // A refusal is not stored: the same key may succeed later.
  const held = await pipeline.upload(caller, list, { ...options, hold: 'true' });
  const start = { 'Idempotency-Key': `start-${held}` };
  await expectProblem(await send(held, 'start', start), { status: 409, code: 'invalid_state' });
  await pipeline.runUntilIdle();
  expect((await send(held, 'start', start)).status).toBe(202);
});

test('a committed action succeeds even though no worker can be woken', async () => {
  const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  const { wake } = pipeline.queues;
  pipeline.queues.wake = () => Promise.reject(new Error('the queue is unavailable'));
  try {
    expect((await act(id, 'start')).state).toBe('queued');
    const upload = await pipeline.upload(caller, list, options);
    const created: BatchState = 'created';
    expect((await pipeline.batch(caller, upload)).state).toBe(created);
  } finally {
    pipeline.queues.wake = wake;
  }
  await runOut();
  expect((await pipeline.batch(caller, id)).state).toBe('completed');
});
