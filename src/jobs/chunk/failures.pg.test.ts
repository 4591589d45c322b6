/** Repeated failures: a poison row costs one row, and a failing store or an empty rate limit costs none. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Woken } from '../../../tests/support/memory-queues.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { audit } from '../audit/audit.ts';
import { endWaits, waitForKey } from './chunk-waits.sql.ts';
import { claimChunk } from './claim-chunk.sql.ts';

const ROWS = 20;
const ROUNDS_MAX = 80;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: String(ROWS) });
  await importGraph(pipeline.sql, { persons: crowd(ROWS) });
  caller = await pipeline.account(100_000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.get;
  delete pipeline.faults.put;
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };
const emails = crowd(ROWS).map(({ email }) => String(email));
const list = `email\n${emails.join('\n')}\n`;

/** Runs, advancing time between retries, until the batch has ended; returns the number of rounds. */
async function runToTheEnd(id: string, run = () => pipeline.runUntilIdle()): Promise<number> {
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    await run();
    if ((await pipeline.batch(caller, id)).state === 'completed') return round;
    await pipeline.passAnHour();
    await pipeline.sweep();
  }
  throw new Error(`batch ${id} did not end`);
}

/** Expects every row matched except these indexes, which are errors. */
async function expectErrors(id: string, failed: readonly number[]): Promise<void> {
  const { text } = await pipeline.results(caller, id);
  const expected = emails.map((email, index) =>
    failed.includes(index)
      ? `${email},error,,processing_failed,,0,`
      : `${email},matched,email,,false,1,${1001 + index}`,
  );
  expect(text.split('\n').slice(1, -1)).toEqual(expected);
  const matched = ROWS - failed.length;
  expect(await pipeline.batch(caller, id)).toMatchObject({
    rows: { total: ROWS, processed: ROWS, matched, error: failed.length },
    credits: { charged: matched, reserved: 0 },
  });
  const report = await pipeline.call(caller, `/v1/batches/${id}/report`);
  const lines = failed.map((index) => index + 2);
  const unusable = { processing_failed: { rows: lines.length, lines } };
  expect(await report.json()).toMatchObject({ unusable: failed.length === 0 ? {} : unusable });
}

const places: number[][] = [[0], [ROWS - 1], [7], [3, 4], [0, 9, ROWS - 1]];

describe('rows that throw whenever they are committed', () => {
  beforeAll(async () => {
    // Our code throws nothing for a known row; the database can be made to.
    await pipeline.sql`create table poison (record_id bigint)`;
    await pipeline.sql`
      create function refuse_poison() returns trigger language plpgsql as $$
      begin
        if exists (select from poison p where p.record_id = new.record_id) then
          raise exception 'poison';
        end if;
        return new;
      end $$`;
    await pipeline.sql`
      create trigger refuse_poison before insert on batch_records
      for each row execute function refuse_poison()`;
  });
  afterEach(async () => {
    await pipeline.sql`delete from poison`;
  });

  test.each(places)('end as exactly those error rows: %j', async (...failed) => {
    const ids = failed.map((index) => 1001 + index);
    await pipeline.sql`insert into poison select unnest(${ids}::bigint[])`;
    const id = await pipeline.upload(caller, list, { ...options, dedupe: 'true' });
    await runToTheEnd(id);
    await expectErrors(id, failed);
  });
});

describe('rows that kill the worker that reads them', () => {
  /** Runs a wake-up, unless the part would contain a poison row: then the worker dies with its lease. */
  async function workOrDie(woken: Woken, killers: readonly number[]): Promise<void> {
    const { context, queues, sql } = pipeline;
    if (woken.name !== 'run-chunk') return queues.run(context, woken);
    const wakeUp = woken.payload as { chunkId: number; epoch: number };
    const [chunk] = await sql<{ from: number; to: number; failures: number }[]>`
      select rows_done as from, failures,
        least(rows, rows_done + coalesce(part_rows_max, rows)) as to
      from chunks where id = ${wakeUp.chunkId}`;
    const { from, to, failures } = chunk ?? { from: 0, to: 0, failures: 0 };
    const isGivenUp = to - from === 1 && failures >= 5;
    if (isGivenUp || !killers.some((row) => from <= row && row < to)) {
      return queues.run(context, woken);
    }
    queues.waiting = queues.waiting.filter((other) => other !== woken);
    expect(await claimChunk(sql, wakeUp)).toBeDefined();
  }

  test.each(places)('end as exactly those error rows: %j', async (...failed) => {
    const id = await pipeline.upload(caller, list, options);
    await runToTheEnd(id, async () => {
      while (pipeline.queues.waiting[0] !== undefined) {
        await workOrDie(pipeline.queues.waiting[0], failed);
      }
    });
    await expectErrors(id, failed);
  });

  test('halve the next part from the third lost lease on', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const sizes: (number | null)[] = [];
    for (let lost = 0; lost < 6; lost++) {
      const [woken] = pipeline.queues.waiting;
      if (woken === undefined) throw new Error('no chunk waits');
      await workOrDie(woken, [0]);
      await pipeline.passAnHour();
      await pipeline.sweep();
      const [chunk] = await pipeline.sql`select part_rows_max from chunks where batch_id = ${id}`;
      sizes.push(chunk?.partRowsMax);
    }
    expect(sizes).toEqual([null, null, 10, 5, 2, 1]);
    await runToTheEnd(id);
  });
});

describe('a store that fails', () => {
  test.each(['get', 'put'] as const)('at every %s costs no row, however often', async (call) => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    pipeline.faults[call] = () => Promise.reject(new Error('access denied'));
    for (let round = 0; round < 10; round++) {
      await pipeline.runUntilIdle();
      await pipeline.passAnHour();
      await pipeline.sweep();
    }
    const [chunk] = await pipeline.sql`
      select failures, part_rows_max, rows_done from chunks where batch_id = ${id}`;
    expect(chunk).toEqual({ failures: 0, partRowsMax: null, rowsDone: 0 });
    delete pipeline.faults[call];
    await runToTheEnd(id);
    await expectErrors(id, []);
  });

  test.each(['get', 'put'] as const)(
    'at every %s is not asked again and again for a list that is cancelled',
    async (call) => {
      const id = await pipeline.upload(caller, list, options);
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
      await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
      const asked: string[] = [];
      pipeline.faults[call] = async (key) => {
        asked.push(key);
        if (asked.length < 10) throw new Error('access denied');
      };
      await pipeline.runUntilIdle();
      // A part is stored with its person index.
      expect(asked).toHaveLength(call === 'get' ? 1 : 2);
      expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'cancelling' });
      delete pipeline.faults[call];
      await pipeline.passAnHour();
      await pipeline.sweep();
      await pipeline.runUntilIdle();
      expect(await pipeline.batch(caller, id)).toMatchObject({
        state: 'cancelled',
        rows: { total: ROWS, processed: ROWS, not_processed: ROWS },
      });
    },
  );
});

describe('rows per minute of a key', () => {
  /** Advances the clocks of rate limits and waits by a minute. */
  async function passAMinute(): Promise<void> {
    await pipeline.sql`update rate_buckets set full_at = full_at - interval '1 minute'`;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
  }

  /** Counts how often the rows of a key are requested, from now on. */
  function countRequests({ keyId }: Caller): () => number {
    const { limiter } = pipeline.context;
    const requested = vi.spyOn(limiter, 'takeTokens');
    return () =>
      requested.mock.calls.filter(([{ owner, name }]) => owner === keyId && name === 'rows').length;
  }

  /** Split but unprocessed lists of one row each, of a key with one row per minute. */
  async function slowLists(lists: number): Promise<{ slow: Caller; ids: string[] }> {
    const slow = await pipeline.account(100);
    await pipeline.sql`update api_keys set rows_per_minute = 1 where id = ${slow.keyId}`;
    const ids: string[] = [];
    for (let number = 0; number < lists; number++) {
      ids.push(await pipeline.upload(slow, `email\n${emails[0]}\n`, options));
      await pipeline.queues.runNext(pipeline.context, 'split-batch');
    }
    return { slow, ids };
  }

  async function cancelAll(slow: Caller, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      await pipeline.call(slow, `/v1/batches/${id}/cancel`, { method: 'POST' });
    }
    await pipeline.runUntilIdle();
    for (const id of ids) {
      expect((await pipeline.batch(slow, id)).state).toMatch(/^(cancelled|completed)$/);
    }
  }

  test('that are used up are requested once, not for each list of the key', async () => {
    const { slow, ids } = await slowLists(6);
    const requests = countRequests(slow);
    const completed = async () =>
      (await Promise.all(ids.map((id) => pipeline.batch(slow, id)))).map(
        ({ state }) => state === 'completed',
      );
    await pipeline.runUntilIdle();
    // The first ran, the second was refused, the others wait with it; the oldest runs first each minute.
    expect(requests()).toBe(2);
    await passAMinute();
    expect(requests()).toBe(3);
    expect(await completed()).toEqual([true, true, false, false, false, false]);
    await passAMinute();
    expect(requests()).toBe(4);
    expect(await completed()).toEqual([true, true, true, false, false, false]);
    await cancelAll(slow, ids);
  });

  test('do not prevent cancelling, pausing and resuming a waiting list', async () => {
    const { slow, ids } = await slowLists(4);
    await pipeline.runUntilIdle();
    const [, , third = '', fourth = ''] = ids;
    await pipeline.call(slow, `/v1/batches/${third}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect((await pipeline.batch(slow, third)).state).toBe('cancelled');
    await pipeline.call(slow, `/v1/batches/${fourth}/pause`, { method: 'POST' });
    // Only a paused list is left: the key's wait is not kept for it.
    await passAMinute();
    await pipeline.sweep();
    expect(await pipeline.sql`select from key_waits where key_id = ${slow.keyId}`).toHaveLength(0);
    await pipeline.sql`update rate_buckets set full_at = full_at - interval '1 minute'`;
    await pipeline.call(slow, `/v1/batches/${fourth}/resume`, { method: 'POST' });
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect((await pipeline.batch(slow, fourth)).state).toBe('completed');
  });

  test('let as many lists run at a time as contain the rows of a minute', async () => {
    const { slow, ids } = await slowLists(8);
    await pipeline.runUntilIdle();
    await pipeline.sql`update api_keys set rows_per_minute = 3 where id = ${slow.keyId}`;
    await passAMinute();
    const done = await Promise.all(ids.map((id) => pipeline.batch(slow, id)));
    expect(done.filter(({ state }) => state === 'completed')).toHaveLength(4);
    await cancelAll(slow, ids);
  });

  test('lose no list when two workers end the wait while a third extends it', async () => {
    const { slow, ids } = await slowLists(5);
    await pipeline.runUntilIdle();
    await pipeline.sql`update key_waits set claim_after = now() where key_id = ${slow.keyId}`;
    const [, second = '', third = ''] = ids;
    const { sql } = pipeline.context;
    let ending: Promise<unknown> = Promise.resolve();
    await inTransaction(pipeline.sql, async (tx) => {
      await waitForKey(tx, { batchId: second, keyId: slow.keyId, seconds: 60 });
      // Ending waits skips a key that another transaction holds.
      await Promise.all([inTransaction(sql, endWaits), inTransaction(sql, endWaits)]);
      await tx`update batches set waits_for = null where id = ${third}`;
      ending = waitForKeyOf(third, slow);
      await pipeline.untilBlocked(1);
    });
    await ending;
    const waiting = await pipeline.sql`
      select from batches where key_id = ${slow.keyId} and waits_for = 'key'`;
    expect(waiting).toHaveLength(4);
    for (let minute = 1; minute <= 4; minute++) await passAMinute();
    const done = await Promise.all(ids.map((id) => pipeline.batch(slow, id)));
    expect(done.map(({ state }) => state)).toEqual(ids.map(() => 'completed'));
  });

  const waitForKeyOf = (batchId: string, { keyId }: Caller) =>
    inTransaction(pipeline.context.sql, (tx) => waitForKey(tx, { batchId, keyId, seconds: 60 }));

  test('delay a chunk until the rate limit allows it, while other keys continue', async () => {
    const slow = await pipeline.account(100);
    await pipeline.sql`update api_keys set rows_per_minute = ${ROWS} where id = ${slow.keyId}`;
    const first = await pipeline.upload(slow, list, options);
    const second = await pipeline.upload(slow, list, options);
    const other = await pipeline.upload(caller, list, options);
    await pipeline.runUntilIdle();
    expect((await pipeline.batch(caller, other)).state).toBe('completed');
    expect((await pipeline.batch(slow, first)).state).toBe('completed');
    expect(await pipeline.batch(slow, second)).toMatchObject({
      state: 'running',
      rows: { processed: 0 },
      credits: { reserved: 0 },
    });
    const [chunk] = await pipeline.sql<{ state: string; failures: number }[]>`
      select state, failures from chunks where batch_id = ${second}`;
    expect(chunk).toEqual({ state: 'pending', failures: 0 });
    const [wait] = await pipeline.sql<{ seconds: number }[]>`
      select extract(epoch from claim_after - now())::int as seconds from key_waits
      where key_id = ${slow.keyId}`;
    expect(wait?.seconds).toBeGreaterThan(50);
    expect(wait?.seconds).toBeLessThanOrEqual(60);
    await passAMinute();
    expect(await pipeline.batch(slow, second)).toMatchObject({ state: 'completed' });
  });

  test('are waited for no longer than that after the clock was set back', async () => {
    const slow = await pipeline.account(100);
    await pipeline.sql`update api_keys set rows_per_minute = ${ROWS} where id = ${slow.keyId}`;
    const ids = [
      await pipeline.upload(slow, list, options),
      await pipeline.upload(slow, list, options),
    ];
    await pipeline.runUntilIdle();
    const states = async () =>
      (await Promise.all(ids.map((id) => pipeline.batch(slow, id)))).map(({ state }) => state);
    expect(await states()).toEqual(['completed', 'running']);
    await pipeline.sql`update rate_buckets set full_at = full_at - interval '1 minute'`;
    await pipeline.sql`
      update key_waits set claim_after = now() + interval '30 minutes' where key_id = ${slow.keyId}`;
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await states()).toEqual(['completed', 'completed']);
  });

  test('that are used up are requested once, not for each chunk of a list', async () => {
    const slow = await pipeline.account(100);
    await pipeline.sql`update api_keys set rows_per_minute = ${ROWS} where id = ${slow.keyId}`;
    const id = await pipeline.upload(
      slow,
      `email\n${'nobody@list.example\n'.repeat(ROWS * 12)}`,
      options,
    );
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const requests = countRequests(slow);
    await pipeline.runUntilIdle();
    // The first chunk ran; the second was refused; the others wait with it.
    expect(requests()).toBe(2);
    const chunks = await pipeline.sql<{ state: string }[]>`
      select state from chunks where batch_id = ${id} order by number`;
    expect(chunks.map(({ state }) => state)).toEqual(['done', ...new Array(11).fill('pending')]);
    // Waiting chunks do not use the share of the account's other keys.
    const other = await pipeline.keyOf(slow.accountId, 'live');
    const next = await pipeline.upload(other, list, options);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(other, next)).toMatchObject({ state: 'completed' });
    await pipeline.call(slow, `/v1/batches/${id}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
  });

  test('are used only for the rows of the part, and not for a list that is cancelled', async () => {
    const slow = await pipeline.account(100);
    await pipeline.sql`update api_keys set rows_per_minute = 1000 where id = ${slow.keyId}`;
    const used = async () => {
      const [bucket] = await pipeline.sql<{ rows: number }[]>`
        select round(extract(epoch from full_at - now()) * 1000 / 60)::int as rows
        from rate_buckets where owner = ${slow.keyId}`;
      return bucket?.rows ?? 0;
    };
    const id = await pipeline.upload(slow, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    await pipeline.sql`update chunks set part_rows_max = 5 where batch_id = ${id}`;
    await pipeline.queues.runNext(pipeline.context, 'run-chunk');
    expect(await used()).toBeGreaterThan(0);
    expect(await used()).toBeLessThanOrEqual(5);
    await pipeline.call(slow, `/v1/batches/${id}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(slow, id)).toMatchObject({
      state: 'cancelled',
      rows: { matched: 5, not_processed: 15 },
    });
    expect(await used()).toBeLessThanOrEqual(5);
  });
});
