import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { parseFilter } from '../../core/search/parse.ts';
import { prepareFilter } from '../../core/search/prepare.ts';
import { emptySum, summed } from '../../core/storage/object-sum.ts';
import type { ExportBatch } from '../batch/batch.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { readMatchingIds, selectMatchingIds } from './matching-ids.sql.ts';
import { writeIds } from './write-ids.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
  await importGraph(pipeline.sql, { persons: crowd(60) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

/** Ends the session that reads ids and returns once it is gone. */
async function breakReading(): Promise<void> {
  const { sql } = pipeline;
  const reading = sql`datname = current_database() and query like 'fetch % from pages'
    and pid <> pg_backend_pid()`;
  const ended =
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${reading}`;
  expect(ended).toHaveLength(1);
}

test('ids cut short by a lost connection are not taken for all', async () => {
  const id = await pipeline.makeExport(caller, { filter: 'id=1001-1060', fields: ['id'] });
  const { context } = pipeline;
  const store = Object.create(context.store) as typeof context.store;
  store.putStream = async (_key: string, source: Readable) => {
    await once(source, 'readable');
    source.read();
    await breakReading();
    const sum = emptySum();
    for await (const _ of summed(source, sum));
    return sum;
  };
  const batch = must(await findBatch(pipeline.sql, id), 'the export') as ExportBatch;
  await expect(writeIds({ ...context, store }, batch)).rejects.toThrow();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { total: null } });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({
    state: 'completed',
    rows: { total: 60, matched: 60 },
  });
});

/** Blocks every read of people until the returned function is called. */
async function lockPeople(): Promise<() => Promise<void>> {
  const lock = await pipeline.sql.reserve();
  await lock`begin`;
  await lock`lock table person_search`;
  return async () => {
    await lock`rollback`;
    lock.release();
  };
}

const body = { filter: 'id=1001-1060', fields: ['id'] };

test.each([
  ['cancelled', 'POST', '/cancel'],
  ['deleted', 'DELETE', ''],
])(
  'an export that is %s while its people are searched ends its statement',
  async (_what, method, path) => {
    const unlock = await lockPeople();
    const id = await pipeline.makeExport(caller, body);
    const running = pipeline.runUntilIdle();
    await pipeline.untilBlocked(1);
    const answer = await pipeline.call(caller, `/v1/exports/${id}${path}`, { method });
    expect(answer.ok).toBe(true);
    // The people are still locked: only ending the statement lets the worker continue.
    await running;
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      state: 'cancelled',
      credits: { charged: 0, reserved: 0 },
    });
    await unlock();
  },
);

test('an export whose statement an operator cancels is searched again', async () => {
  const unlock = await lockPeople();
  const id = await pipeline.makeExport(caller, body);
  const running = pipeline.runUntilIdle();
  await pipeline.untilBlocked(1);
  await pipeline.sql`
    select pg_cancel_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect(running).rejects.toMatchObject({ code: '57014' });
  await unlock();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ state: 'validating' });
  await pipeline.passAnHour();
  await pipeline.sql`
    update batches set created_at = created_at - interval '1 hour' where id = ${id}`;
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ state: 'completed' });
});

test('an export whose statement is cancelled on a server of another language is searched again', async () => {
  const { sql } = pipeline;
  await sql`
    create function cancel() returns boolean language plpgsql as $$
    begin
      raise exception 'storniere Anfrage wegen Benutzeraufforderung' using errcode = 'query_canceled';
    end $$`;
  await sql`alter table person_search rename to found_people`;
  await sql`create view person_search as select * from found_people where cancel()`;
  const id = await pipeline.makeExport(caller, body);
  try {
    await expect(pipeline.runUntilIdle()).rejects.toMatchObject({ code: '57014' });
  } finally {
    await sql`drop view person_search`;
    await sql`alter table found_people rename to person_search`;
    await sql`drop function cancel`;
  }
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ state: 'validating' });
  await pipeline.call(caller, `/v1/exports/${id}/cancel`, { method: 'POST' });
  await pipeline.runUntilIdle();
});

test('an export that is cancelled before its people are searched ends without a search', async () => {
  const unlock = await lockPeople();
  const id = await pipeline.makeExport(caller, body);
  await pipeline.call(caller, `/v1/exports/${id}/cancel`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(caller, id)).toMatchObject({ state: 'cancelled' });
  await unlock();
});

test('an export whose search times out fails with a message that says what to do', async () => {
  const hasty = await openPipeline({ EXPORT_SEARCH_TIMEOUT_MS: '50' });
  try {
    const owner = await hasty.account(10);
    const lock = await hasty.sql.reserve();
    await lock`begin`;
    await lock`lock table person_search`;
    const id = await hasty.makeExport(owner, body);
    await hasty.runUntilIdle();
    const failed = await hasty.exportOf(owner, id);
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'search_timeout' } });
    expect(JSON.stringify(failed)).toContain('Add a filter that few people match');
    await lock`rollback`;
    lock.release();
  } finally {
    await hasty.close();
  }
});

test('people of several pages are written once each, in order', async () => {
  const { sql } = pipeline;
  await sql`
    insert into person_search select (s).* from (
      select jsonb_populate_record(s, jsonb_build_object('id', n)) as s
      from person_search s, generate_series(100001, 125000) n where s.id = 1001) made`;
  const id = await pipeline.makeExport(caller, {
    filter: 'id=100001-',
    fields: ['id'],
    hold: true,
  });
  await pipeline.queues.runNext(pipeline.context, 'write-ids');
  const batch = must(await findBatch(sql, id), 'the export');
  expect(batch.rowsTotal).toBe(25_000);
  const expected = Array.from({ length: 25_000 }, (_, index) => `${100_001 + index}\n`).join('');
  const range = { from: 0, to: expected.length };
  const ids = await pipeline.context.store.get(must(batch.canonicalKey, 'the ids'), range);
  expect(ids.toString()).toBe(expected);
});

test('the filter of an export leaves no statement with its connection', async () => {
  await inTransaction(pipeline.sql, async (tx) => {
    const owner = { accountId: caller.accountId, live: true };
    const people = await prepareFilter(tx, parseFilter('id=1001-1002'), owner);
    expect(await selectMatchingIds(tx, people, [1001, 1003])).toEqual([1001]);
    const found: number[] = [];
    for await (const page of readMatchingIds(tx, {
      people,
      notDeliveredBy: null,
      max: 9,
      statementMsMax: 0,
    })) {
      found.push(...page.map(({ id }) => id));
    }
    expect(found).toEqual([1001, 1002]);
    const kept = await tx`
      select statement from pg_prepared_statements
      where statement ~ ${'from person_search s\\s+where'}`;
    expect(kept.map(({ statement }) => statement)).toEqual([]);
  });
});
