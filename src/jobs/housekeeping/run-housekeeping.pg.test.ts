/** Days that files are kept; counts and charges are kept for ever. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { setCreditsPerDay } from '../../core/credits/key-budgets.sql.ts';
import { openSteadyClock } from '../../core/db/clock.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import { listExpired } from '../batch/batches.sql.ts';
import { markStore } from '../batch/own-store.ts';
import { makeWebhook } from '../webhook/webhooks.test-suite.ts';
import { deleteOrphans } from './delete-orphans.ts';
import { runHousekeeping } from './run-housekeeping.ts';

const DAYS = 7;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ FILES_KEEP_DAYS: String(DAYS), CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(4) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };
const list = 'email\np1@list.example\nnobody@list.example\np2@list.example\n';

async function ended(id: string, daysAgo: number): Promise<void> {
  await pipeline.sql`
    update batches set finished_at = now() - make_interval(days => ${daysAgo}, secs => 60),
      files_deleted_at = files_deleted_at - make_interval(days => ${daysAgo}, secs => 60)
    where id = ${id}`;
}

const objectsOf = async (id: string) =>
  (await pipeline.objects()).filter((key) => key.includes(id));

describe('a batch that waits for its owner', () => {
  async function waitedFor(id: string, days: number, seconds: number): Promise<void> {
    await pipeline.sql`
      update batches set state_since = now() - make_interval(days => ${days}, secs => ${seconds})
      where id = ${id}`;
  }

  test('is cancelled when held as long as files are kept, and its files are deleted later', async () => {
    const other = await pipeline.account(100);
    const listed = { accountId: other.accountId, live: true };
    const { webhook } = await makeWebhook(
      {
        ...pipeline.context,
        config: { ...pipeline.context.config, webhookAllowedHosts: ['x.test'] },
      },
      listed,
      {
        url: 'https://x.test/',
        events: ['batch.cancelled'],
        creditsLowThreshold: 1,
        enabled: true,
      },
    );
    const held = await pipeline.enrich(other, list, { ...options, hold: 'true' });
    const young = await pipeline.enrich(other, list, { ...options, hold: 'true' });
    await waitedFor(held, DAYS, 60);
    await waitedFor(young, DAYS, -60);
    await runHousekeeping(pipeline.context);
    await runHousekeeping(pipeline.context);
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    const batch = await pipeline.batch(other, held);
    expect(batch).toMatchObject({
      state: 'cancelled',
      reason: 'expired',
      rows: { total: 3, not_processed: 3 },
      credits: { charged: 0, reserved: 0 },
    });
    expect(await pipeline.batch(other, young)).toMatchObject({ state: 'ready', reason: null });
    const [told] = await pipeline.sql<{ payload: { data: object } }[]>`
      select payload from webhook_deliveries where webhook_id = ${webhook.id}`;
    expect(told?.payload.data).toMatchObject({ id: held, state: 'cancelled', reason: 'expired' });
    await pipeline.sql`delete from webhooks where id = ${webhook.id}`;
    await ended(held, DAYS);
    await runHousekeeping(pipeline.context);
    expect(await objectsOf(held)).toEqual([]);
  });

  test('is cancelled when paused that long, and the paid rows can be read', async () => {
    const poor = await pipeline.account(1);
    const id = await pipeline.enrich(poor, list, options);
    expect(await pipeline.batch(poor, id)).toMatchObject({ state: 'paused' });
    await waitedFor(id, DAYS, 60);
    await runHousekeeping(pipeline.context);
    // Credits added now do not resume it.
    await pipeline.grant(poor, 100, `late-${id}`);
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(poor, id)).toMatchObject({
      state: 'cancelled',
      reason: 'expired',
      rows: { total: 3, matched: 1, no_match: 1, not_processed: 1 },
      credits: { charged: 1, reserved: 0 },
    });
    const { text, complete } = await pipeline.results(poor, id);
    expect(complete).toBe('true');
    expect(text.trim().split('\n')).toHaveLength(4);
    expect(await pipeline.wallet(poor)).toEqual({ balance: 100, reserved: 0 });
  });
});

describe('the files of a batch', () => {
  /** Lists that were cancelled before they were split and ended so many days ago: the first, and copies of it. */
  async function cancelledLists(who: Caller, daysAgo: number, copies = 0): Promise<string> {
    const id = await pipeline.upload(who, list, options);
    await pipeline.call(who, `/v1/batches/${id}/cancel`, { method: 'POST' });
    await ended(id, daysAgo);
    const { sql } = pipeline;
    const [columns] = await sql<{ names: string }[]>`
      select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
      where table_name = 'batches' and table_schema = 'public'
        and column_name <> 'id' and is_generated = 'NEVER'`;
    const names = sql.unsafe(columns?.names ?? '');
    await sql`
      insert into batches (id, ${names})
      select gen_random_uuid(), ${names} from batches, generate_series(1, ${copies}) where id = ${id}`;
    return id;
  }

  test('are deleted of all accounts in turn, and all that are due in one round', async () => {
    const [busy, other] = [await pipeline.account(0), await pipeline.account(0)];
    await cancelledLists(busy, DAYS + 1, 250);
    const late = await cancelledLists(other, DAYS);
    expect((await listExpired(pipeline.sql, DAYS)).slice(0, 2)).toContain(late);
    await runHousekeeping(pipeline.context);
    expect(await objectsOf(late)).toEqual([]);
    expect(await listExpired(pipeline.sql, DAYS)).toEqual([]);
  });

  test('are deleted that many days after its end, and every reader gets the reason', async () => {
    const old = await pipeline.enrich(caller, list, options);
    const young = await pipeline.enrich(caller, list, options);
    const waiting = await pipeline.enrich(caller, list, { ...options, hold: 'true' });
    await pipeline.sql`update batches set created_at = now() - interval '90 days'`;
    await ended(old, DAYS);
    await ended(young, DAYS - 1);
    const before = await pipeline.batch(caller, old);
    await runHousekeeping(pipeline.context);
    await runHousekeeping(pipeline.context);
    expect(await objectsOf(old)).toEqual([]);
    // The upload, two parts, and their person indexes.
    expect((await objectsOf(young)).length).toBe(5);
    expect((await objectsOf(waiting)).length).toBe(1);

    const expired = { status: 410, code: 'files_expired' };
    for (const what of ['results', 'results?format=xlsx&gzip=true', 'preview']) {
      const response = await pipeline.call(caller, `/v1/batches/${old}/${what}`);
      const problem = await expectProblem(response, expired);
      expect(problem.detail).toMatch(/upload the list again/);
    }
    const rerun = await pipeline.call(caller, `/v1/batches/${old}/rerun`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"outcomes":["no_match"]}',
    });
    await expectProblem(rerun, expired);
    const after = await pipeline.batch(caller, old);
    const deleted = { files_deleted_at: expect.any(String), revision: before.revision + 1 };
    expect(after).toEqual({ ...before, ...deleted });
    const report = await pipeline.call(caller, `/v1/batches/${old}/report`);
    expect(await report.json()).toMatchObject({ rows: 3 });
    expect((await pipeline.results(caller, young)).complete).toBe('true');
  });

  test('of a batch that failed or was cancelled are deleted as well', async () => {
    const broken = `email\n${'a@b.example\n'.repeat(9_000)}${'x'.repeat(3_000_000)}\n`;
    const failed = await pipeline.enrich(caller, broken, options);
    expect((await pipeline.batch(caller, failed)).state).toBe('failed');
    const cancelled = await pipeline.upload(caller, list, options);
    await pipeline.call(caller, `/v1/batches/${cancelled}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    for (const id of [failed, cancelled]) {
      expect((await objectsOf(id)).length).toBeGreaterThan(0);
      await ended(id, DAYS);
    }
    await runHousekeeping(pipeline.context);
    expect([...(await objectsOf(failed)), ...(await objectsOf(cancelled))]).toEqual([]);
  });
});

describe('an upload without a batch', () => {
  /** An id as generated that many days ago. */
  const idFrom = (daysAgo: number) => {
    const born = (Date.now() - daysAgo * 86_400_000).toString(16).padStart(12, '0');
    return `${born.slice(0, 8)}-${born.slice(8)}${crypto.randomUUID().slice(13)}`;
  };

  test('left by a process that died is deleted at the age of other files, complete or not', async () => {
    const { store } = pipeline.context;
    const [old, young] = [idFrom(DAYS + 0.1), idFrom(DAYS - 0.1)];
    const kept = await pipeline.enrich(caller, list, options);
    const aged = idFrom(500);
    for (const id of [old, young, aged]) {
      await store.put(`batches/${id}/upload`, [Buffer.from('email\n')]);
      await store.put(`batches/${id}/upload.0.tmp`, [Buffer.from('em')]);
    }
    await store.put(`uploads/${old}`, [Buffer.from('email\n')]);
    const keptBefore = await objectsOf(kept);
    expect(await deleteOrphans(pipeline.context)).toBe(2);
    expect(await objectsOf(aged)).toEqual([]);
    expect(await objectsOf(old)).toEqual([`uploads/${old}`]);
    expect(await objectsOf(young)).toHaveLength(2);
    expect(await objectsOf(kept)).toEqual(keptBefore);
    await store.deletePrefix(`batches/${young}/`);
    await store.delete(`uploads/${old}`);
  });

  test('and a write of a batch that a killed process left unfinished are deleted', async () => {
    const { store } = pipeline.context;
    const kept = await pipeline.enrich(caller, list, options);
    const before = await objectsOf(kept);
    const unfinished = (daysAgo: number) =>
      `batches/${kept}/parts/1-0-9.csv.${idFrom(daysAgo)}.tmp`;
    const [dead, young] = [unfinished(0.1), unfinished(0)];
    for (const key of [dead, young]) await store.put(key, [Buffer.from('p1@list.example')]);
    expect(await deleteOrphans(pipeline.context)).toBe(0);
    expect(await objectsOf(kept)).toEqual([...before, young].toSorted());
    await store.delete(young);
  });

  test('is deleted in a bucket only with the mark of this installation', async () => {
    const { context } = pipeline;
    const id = idFrom(500);
    await context.store.put(`batches/${id}/upload`, [Buffer.from('email\n')]);
    const storage = { provider: 's3' } as (typeof context)['config']['storage'];
    expect(await deleteOrphans({ ...context, config: { ...context.config, storage } })).toBe(0);
    expect(await objectsOf(id)).toHaveLength(1);
    await markStore(context);
    expect(await deleteOrphans({ ...context, config: { ...context.config, storage } })).toBe(1);
    expect(await objectsOf(id)).toEqual([]);
  });

  test('of a list that was deleted while the store failed is deleted at that age too, after the days of its debris', async () => {
    const { sql, store } = pipeline.context;
    const id = await pipeline.enrich(caller, list, options);
    vi.spyOn(store, 'deletePrefix').mockRejectedValueOnce(new Error('EACCES'));
    expect((await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' })).status).toBe(
      500,
    );
    const left = await objectsOf(id);
    expect(left).not.toEqual([]);
    vi.useFakeTimers({ now: Date.now() + (DAYS + 1) * 86_400_000, toFake: ['Date'] });
    expect(await deleteOrphans(pipeline.context)).toBe(0);
    expect(await objectsOf(id)).toEqual(left);
    await sql`update batches set files_deleted_at = files_deleted_at - interval '3 days' where id = ${id}`;
    expect(await deleteOrphans(pipeline.context)).toBe(1);
    vi.useRealTimers();
    expect(await objectsOf(id)).toEqual([]);
  });

  test('is not deleted while its batch exists, however old', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const before = await objectsOf(id);
    vi.useFakeTimers({ now: Date.now() + 400 * 86_400_000, toFake: ['Date'] });
    expect(await deleteOrphans(pipeline.context)).toBe(0);
    vi.useRealTimers();
    expect(await objectsOf(id)).toEqual(before);
  });
});

describe('debris of a worker without a lease', () => {
  /** Copies of a list whose files were deleted a day ago. Returns their ids. */
  async function deletedADayAgo(lists: number): Promise<string[]> {
    const like = await pipeline.enrich(caller, list, options);
    const rows = await pipeline.sql<{ id: string }[]>`
      insert into batches (id, account_id, key_id, live, name, state, error, operation, mapping, dialect, fields, upload_key,
        upload_bytes, finished_at, files_deleted_at)
      select gen_random_uuid(), account_id, key_id, live, name, 'failed', '{}', operation, mapping, dialect, fields,
        upload_key, upload_bytes, finished_at, now() - interval '1 day 1 minute'
      from batches, generate_series(1, ${lists}::int) where id = ${like}
      returning id`;
    return rows.map((row) => row.id);
  }

  /** A part that was written but never committed by a worker that then died, and one that was. */
  async function withDebris(): Promise<{ id: string; thaw(): Promise<void> }> {
    const id = await pipeline.upload(caller, 'email\np1@list.example\n', options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const frozen = new Signal();
    const thawed = new Signal();
    pipeline.faults.put = () => {
      delete pipeline.faults.put;
      frozen.raise();
      return thawed.raised;
    };
    const woken = must(pipeline.queues.waiting[0], 'a chunk');
    const { store } = pipeline.context;
    const dying = { ...store, delete: () => Promise.reject(new Error('killed')) };
    const zombie = pipeline.queues.run({ ...pipeline.context, store: dying }, woken);
    await frozen.raised;
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    const thaw = async () => {
      thawed.raise();
      await zombie;
    };
    return { id, thaw };
  }

  test('is deleted a day after the end, and the result stays whole', async () => {
    const { id, thaw } = await withDebris();
    await thaw();
    const parts = async () => (await objectsOf(id)).filter((key) => key.endsWith('.csv'));
    const whole = await pipeline.results(caller, id);
    expect(await parts()).toHaveLength(2);
    await runHousekeeping(pipeline.context);
    expect(await parts()).toHaveLength(2);
    await ended(id, 1);
    await runHousekeeping(pipeline.context);
    expect(await parts()).toHaveLength(1);
    expect(await pipeline.results(caller, id)).toEqual(whole);
  });

  test('costs as many deletions as there are objects, however often its chunk was claimed', async () => {
    const { id, thaw } = await withDebris();
    await thaw();
    await pipeline.sql`update chunks set epoch = 100000 where batch_id = ${id}`;
    await ended(id, 1);
    const deleted: string[] = [];
    const { store } = pipeline.context;
    const counting = {
      ...store,
      delete: (key: string) => {
        deleted.push(key);
        return store.delete(key);
      },
    };
    await runHousekeeping({ ...pipeline.context, store: counting });
    expect(deleted.filter((key) => key.includes(id))).toHaveLength(2);
  });

  test('is deleted of more batches than a page has', async () => {
    const ids = await deletedADayAgo(1_001);
    const last = ids.sort().at(-1);
    const key = `batches/${last}/parts/0-0-1.csv`;
    await pipeline.context.store.put(key, [Buffer.from('late')]);
    await runHousekeeping(pipeline.context);
    expect(await pipeline.context.store.head(key)).toBeNull();
  });

  test('written after the files were deleted manually is deleted a day later', async () => {
    const { id, thaw } = await withDebris();
    await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
    await thaw();
    expect(await objectsOf(id)).toHaveLength(1);
    await ended(id, 1);
    await runHousekeeping(pipeline.context);
    expect(await objectsOf(id)).toEqual([]);
  });
});

test('while the clocks differ by a day, nothing is deleted', async () => {
  const id = await pipeline.enrich(caller, list, options);
  await ended(id, DAYS);
  const tomorrow = () => Date.now() + 24 * 3_600_000;
  await expect(runHousekeeping(pipeline.context, () => false, tomorrow)).rejects.toThrow('clock');
  expect(await objectsOf(id)).not.toEqual([]);
  await runHousekeeping(pipeline.context);
  expect(await objectsOf(id)).toEqual([]);
});

test('after the clock of the only machine jumped ahead, nothing is deleted for an hour', async () => {
  const id = await pipeline.enrich(caller, list, options);
  await ended(id, DAYS);
  let [behind, up] = [DAYS * 86_400_000, 0];
  const steady = openSteadyClock({ now: () => Date.now() - behind, uptime: () => up });
  const round = () => runHousekeeping(pipeline.context, () => false, steady);
  behind = 0;
  await expect(round()).rejects.toMatchObject({ code: 'clock_wrong' });
  expect(await objectsOf(id)).not.toEqual([]);
  up += 3_600_000;
  await round();
  expect(await objectsOf(id)).toEqual([]);
});

test('the budget of a day that was spent before the clock was set back ends with today', async () => {
  const { sql } = pipeline;
  await setCreditsPerDay(sql, caller.keyId, 5);
  await sql`update key_budgets set day = utc_today() + 30, spent = 5`;
  await runHousekeeping(pipeline.context);
  expect(await sql`select day = utc_today() as ends, spent from key_budgets`).toEqual([
    { ends: true, spent: 5 },
  ]);
  await setCreditsPerDay(sql, caller.keyId, null);
});
