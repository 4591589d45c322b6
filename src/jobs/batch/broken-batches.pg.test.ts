/** Batches that cannot be processed end with a reason or can be cancelled, and what was paid stays paid. */
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { AppError } from '../../core/lib/errors.ts';
import type { ObjectStore } from '../../core/storage/object-store.ts';
import { audit } from '../audit/audit.ts';
import { markStore } from './own-store.ts';

const ROWS = 6;
const ROUNDS_MAX = 60;
const ROUNDS_AT_REST = 4;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(ROWS) });
  caller = await pipeline.account(1_000_000);
  // A store without it is treated as unavailable.
  await markStore(pipeline.context);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  pipeline.queues.waiting = [];
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };
const list = `email\n${crowd(ROWS)
  .map(({ email }) => `${email}\n`)
  .join('')}`;
const ended = ['completed', 'cancelled', 'failed'];

async function rowOf(id: string) {
  const [row] = await pipeline.sql<
    { state: string; error: { code: string } | null; jobAttempts: number }[]
  >`select state, error, job_attempts from batches where id = ${id}`;
  if (row === undefined) throw new Error(`no batch ${id}`);
  return row;
}

/** Wakes and runs waiting jobs, including failing ones. */
async function sweepAndRun(store?: ObjectStore): Promise<void> {
  await pipeline.sql`
    update batches set created_at = created_at - interval '1 minute' where finished_at is null`;
  await pipeline.sweep();
  await pipeline.runWhatWaits(store);
}

/** Runs rounds an hour apart until the batch has ended; returns its final state. */
async function runToTheEnd(id: string, store?: ObjectStore): Promise<string> {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    await sweepAndRun(store);
    const { state } = await rowOf(id);
    if (ended.includes(state)) return state;
    await pipeline.passAnHour();
  }
  throw new Error(`batch ${id} did not end: ${JSON.stringify(await rowOf(id))}`);
}

/**
 * Runs rounds an hour apart until nothing of the batch is left to do, as it has ended or waits for its owner, and then a few
 * more, which must find it so; returns its state.
 */
async function runToRest(id: string): Promise<string> {
  const rests: string[] = [];
  for (let round = 0; round < ROUNDS_MAX && rests.length < ROUNDS_AT_REST; round++) {
    await sweepAndRun();
    await pipeline.passAnHour();
    const [row] = await pipeline.sql<{ state: string; isQuoting: boolean }[]>`
      select state, coalesce(quote->>'state' = 'running', false) as is_quoting
      from batches where id = ${id}`;
    const { state, isQuoting } = must(row, 'the batch');
    const isAtRest = ended.includes(state) || (state === 'ready' && !isQuoting);
    expect(isAtRest || rests.length === 0, `${state} after ${rests}`).toBe(true);
    if (isAtRest) rests.push(state);
  }
  expect(new Set(rests).size, `${rests}`).toBe(1);
  return must(rests[0], 'a state');
}

/** A store whose calls from a split all fail. */
function failingStore(error: () => Error): ObjectStore {
  const fail = () => {
    throw error();
  };
  return { ...pipeline.context.store, getStream: fail, putStream: async () => fail() };
}

const made: Record<string, () => Promise<string>> = {
  list: () => pipeline.upload(caller, list, options),
  export: () => pipeline.makeExport(caller, { filter: 'id=1001-1999', fields: ['id'] }),
};

describe.each(Object.keys(made))('the split of a %s', (kind) => {
  const make = () => made[kind]?.() ?? Promise.reject(new Error(kind));

  test('that fails for an unknown reason is tried eight times, then ends with a reason', async () => {
    const id = await make();
    const store = failingStore(() => new RangeError('Maximum call stack size exceeded'));
    for (let attempt = 1; attempt < 8; attempt++) {
      await sweepAndRun(store);
      expect(await rowOf(id)).toMatchObject({ state: 'validating', jobAttempts: attempt });
      // It is not retried before its pause is over.
      await sweepAndRun(store);
      expect(await rowOf(id)).toMatchObject({ jobAttempts: attempt });
      await pipeline.passAnHour();
    }
    await sweepAndRun(store);
    expect(await rowOf(id)).toMatchObject({
      state: 'failed',
      error: { code: 'processing_failed', status: 500 },
    });
  });

  test('whose workers die is tried the same number of times', async () => {
    const id = await make();
    for (let died = 0; died < 8; died++) {
      await pipeline.sql`update batches set job_attempts = job_attempts + 1 where id = ${id}`;
    }
    expect(await runToTheEnd(id)).toBe('failed');
    expect(await rowOf(id)).toMatchObject({ error: { code: 'processing_failed' } });
  });

  test('resumes when the database or the store is back, however often they failed', async () => {
    const id = await make();
    const full = () =>
      Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    const gone = () => Object.assign(new Error('terminated'), { code: '57P01' });
    for (let round = 0; round < 10; round++) {
      await sweepAndRun(failingStore(round % 2 === 0 ? full : gone));
      expect(await rowOf(id)).toMatchObject({ state: 'validating', jobAttempts: 0 });
      await pipeline.passAnHour();
    }
    expect(await runToTheEnd(id)).toBe('completed');
  });

  test('that is refused with a reason ends with it at once', async () => {
    const id = await make();
    const timeout = { code: 'search_timeout', status: 503, message: 'It took too long.' };
    await sweepAndRun(failingStore(() => new AppError(timeout)));
    expect(await rowOf(id)).toMatchObject({ state: 'failed', error: { code: 'search_timeout' } });
  });
});

test('a finish job that keeps failing for an unknown reason fails the batch; paid rows stay', async () => {
  const { sql } = pipeline;
  const id = await pipeline.upload(caller, list, options);
  await sql`
    create function refuse_ends() returns trigger language plpgsql as $$
    begin raise exception 'poison'; end $$`;
  await sql`
    create trigger refuse_ends before update on batches
    for each row when (new.state = 'completed') execute function refuse_ends()`;
  try {
    expect(await runToTheEnd(id)).toBe('failed');
  } finally {
    await sql`drop function refuse_ends cascade`;
  }
  expect(await pipeline.batch(caller, id)).toMatchObject({
    error: { code: 'processing_failed' },
    rows: { processed: ROWS, matched: ROWS },
    credits: { charged: ROWS, reserved: 0 },
  });
  expect((await pipeline.results(caller, id)).text.split('\n')).toHaveLength(ROWS + 2);
});

test.each(['run', 'cancel'])('a %s whose parts always fail still ends', async (how) => {
  const { sql } = pipeline;
  const id = await pipeline.upload(caller, list, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  if (how === 'cancel') await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
  await sql`
    create function refuse_parts() returns trigger language plpgsql as $$
    begin raise exception 'poison'; end $$`;
  await sql`
    create trigger refuse_parts before insert on parts
    for each row when (new.chunk_number = 2) execute function refuse_parts()`;
  try {
    expect(await runToTheEnd(id)).toBe(how === 'cancel' ? 'cancelled' : 'failed');
  } finally {
    await sql`drop function refuse_parts cascade`;
  }
  const { rows, credits } = await pipeline.batch(caller, id);
  expect(rows.processed).toBe(ROWS);
  expect(credits).toMatchObject({ charged: rows.matched, reserved: 0 });
});

describe('an object that is missing', () => {
  const objectsOf = async (id: string) => {
    const [row] = await pipeline.sql<{ keys: string[] }[]>`
      select array_remove(array[upload_key, canonical_key], null) as keys from batches where id = ${id}`;
    return row?.keys ?? [];
  };
  const lose = async (id: string) => {
    for (const key of await objectsOf(id)) await pipeline.context.store.delete(key);
  };

  test('before the split fails its list after some minutes, not earlier', async () => {
    const id = await pipeline.upload(caller, list, options);
    await lose(id);
    await sweepAndRun();
    expect(await rowOf(id)).toMatchObject({ state: 'validating', jobAttempts: 0 });
    expect(await runToTheEnd(id)).toBe('failed');
    expect((await pipeline.batch(caller, id)).error).toMatchObject({
      code: 'object_missing',
      detail: expect.stringMatching(/\/upload is missing\. .* upload the list again\.$/),
    });
  });

  test.each(Object.keys(made))(
    'during the run of a %s ends it: what is paid stays, the rest is free',
    async (kind) => {
      const id = (await made[kind]?.()) ?? '';
      const { context, queues } = pipeline;
      await queues.runNext(context, kind === 'export' ? 'write-ids' : 'split-batch');
      await queues.runNext(context, 'run-chunk');
      const before = await pipeline.wallet(caller);
      const [counted] = await pipeline.sql<{ matched: number }[]>`
      select matched from batches where id = ${id}`;
      const matched = counted?.matched ?? 0;
      await lose(id);
      const [{ rows } = { rows: 0 }] = await pipeline.sql<{ rows: number }[]>`
      select rows_total as rows from batches where id = ${id}`;
      // An export of so few people is one chunk.
      expect(await runToTheEnd(id)).toBe(matched === rows ? 'completed' : 'failed');
      const [row] = await pipeline.sql`
      select not_processed, credits_charged, credits_reserved from batches where id = ${id}`;
      expect(row).toEqual({
        notProcessed: rows - matched,
        creditsCharged: matched,
        creditsReserved: 0,
      });
      expect(await pipeline.wallet(caller)).toEqual(before);
    },
  );

  test('only for a moment does not count towards the next time', async () => {
    const id = await pipeline.upload(caller, list, options);
    const { context, queues, faults, sql } = pipeline;
    await queues.runNext(context, 'split-batch');
    const [key = ''] = await objectsOf(id);
    const missing = () =>
      Promise.reject(new AppError({ code: 'object_missing', status: 503, message: key }));
    faults.get = missing;
    await sweepAndRun();
    delete faults.get;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await queues.runNext(context, 'run-chunk');
    expect(await pipeline.batch(caller, id)).toMatchObject({ rows: { processed: 2 } });
    faults.get = missing;
    await sweepAndRun();
    delete faults.get;
    expect(await rowOf(id)).toMatchObject({ state: 'running' });
    await sql`update chunks set run_after = null where batch_id = ${id}`;
    expect(await runToTheEnd(id)).toBe('completed');
  });

  test('does not prevent cancelling a list, before or after the split', async () => {
    for (const isSplit of [false, true]) {
      const id = await pipeline.upload(caller, list, options);
      if (isSplit) await pipeline.queues.runNext(pipeline.context, 'split-batch');
      await lose(id);
      const answer = await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
      expect(answer.status).toBe(202);
      await sweepAndRun();
      expect(await pipeline.batch(caller, id)).toMatchObject({
        state: 'cancelled',
        rows: { not_processed: isSplit ? ROWS : 0 },
      });
    }
  });

  test('fails a held list when its quote is requested', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
    await lose(id);
    await pipeline.call(caller, `/v1/batches/${id}/quote`, { method: 'POST' });
    expect(await runToTheEnd(id)).toBe('failed');
    expect(await rowOf(id)).toMatchObject({ error: { code: 'object_missing' } });
  });

  test('ends nothing in a store without the mark of the service, as that of a disk that is not mounted', async () => {
    const id = await pipeline.upload(caller, list, options);
    const notMounted: ObjectStore = {
      ...failingStore(() => new AppError({ code: 'object_missing', status: 503, message: 'gone' })),
      head: async () => null,
      async *list() {
        // Uploaded meanwhile.
        yield 'batches/other/upload';
      },
    };
    for (let round = 0; round < 10; round++) {
      await sweepAndRun(notMounted);
      await pipeline.passAnHour();
    }
    expect(await rowOf(id)).toMatchObject({ state: 'validating', jobAttempts: 0 });
    expect(await runToTheEnd(id)).toBe('completed');
  });
});

test('a quote that cannot be computed is dropped, and its list is unchanged', async () => {
  const { sql } = pipeline;
  const id = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
  await pipeline.call(caller, `/v1/batches/${id}/quote`, { method: 'POST' });
  pipeline.queues.waiting = [];
  await sql`alter table chunks rename to chunks_away`;
  try {
    for (let attempt = 0; attempt < 8; attempt++) {
      const { context, queues } = pipeline;
      const payload = { batchId: id };
      const woken = { name: 'quote-batch', id: `quote-batch-${id}`, payload } as const;
      await queues.run(context, woken).catch(() => {});
      await pipeline.sql`update batches set job_after = null where id = ${id}`;
    }
  } finally {
    await sql`alter table chunks_away rename to chunks`;
  }
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'ready', quote: null });
});

describe('for any damage to its objects at any moment', () => {
  const damage = fc.constantFrom('delete', 'delete', 'delete', 'empty', 'cut', 'garbage');
  const plan = fc.record({
    kind: fc.constantFrom('list', 'export'),
    hold: fc.boolean(),
    dedupe: fc.boolean(),
    /** Wake-ups that run before the damage. */
    steps: fc.nat({ max: 6 }),
    damage,
    of: fc.constantFrom(0, 0, 1, 2),
    action: fc.constantFrom('nothing', 'cancel', 'pause and cancel', 'quote'),
  });

  async function harm(id: string, how: string, which: number): Promise<unknown> {
    const { store } = pipeline.context;
    const keys: string[] = [];
    for await (const key of store.list()) if (key.includes(id)) keys.push(key);
    const [row] = await pipeline.sql<{ uploadKey: string | null }[]>`
      select upload_key from batches where id = ${id}`;
    if (row?.uploadKey) keys.unshift(row.uploadKey);
    const key = keys[which % Math.max(1, keys.length)];
    if (key === undefined) return undefined;
    const bytes = (await store.head(key)) ?? 0;
    if (how === 'delete') return store.delete(key);
    const whole = await store.get(key, { from: 0, to: bytes });
    if (how === 'empty') return store.put(key, [Buffer.alloc(0)]);
    if (how === 'cut') return store.put(key, [whole.subarray(0, bytes >> 1)]);
    return store.put(key, [Buffer.from(whole.map((byte, index) => (index % 3 ? byte : 0xff)))]);
  }

  test('a batch ends or can be cancelled', async () => {
    const { context, queues, sql } = pipeline;
    await fc.assert(
      fc.asyncProperty(plan, async ({ kind, hold, dedupe, steps, damage: how, of, action }) => {
        queues.waiting = [];
        const who = await pipeline.account(1000);
        const isList = kind === 'list';
        const id = isList
          ? await pipeline.upload(who, list, {
              ...options,
              hold: String(hold),
              dedupe: String(dedupe),
            })
          : await pipeline.makeExport(who, { filter: 'id=1001-1999', fields: ['id'], hold });
        for (let step = 0; step < steps && queues.waiting[0] !== undefined; step++) {
          await queues.run(context, queues.waiting[0]);
        }
        await harm(id, how, of);
        const act = (action: string) =>
          pipeline.call(who, `/v1/${isList ? 'batches' : 'exports'}/${id}/${action}`, {
            method: 'POST',
          });
        if (action === 'pause and cancel') await act('pause');
        if (action.endsWith('cancel')) await act('cancel');
        if (action === 'quote' && isList) await act('quote');
        if ((await runToRest(id)) === 'ready') {
          await act('cancel');
          await runToRest(id);
        }
        const [row] = await sql`
          select state, credits_reserved, credits_charged = matched as right_charge,
            rows_total is null or rows_total = matched + no_match + ambiguous + invalid + suppressed
              + duplicate + error_rows + not_processed as adds_up
          from batches where id = ${id}`;
        expect(ended).toContain(row?.state);
        expect(row).toMatchObject({ creditsReserved: 0, rightCharge: true, addsUp: true });
      }),
      { numRuns: 20 },
    );
  }, 600_000);
});
