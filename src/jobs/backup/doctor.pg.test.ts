/** Database and store of different hours: every list gets into a right state, and is paid once. */
import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd, crowdRange } from '../../../tests/support/small-graph.ts';
import { openFileStore } from '../../core/storage/file-store.ts';
import type { ByteRange, ObjectStore } from '../../core/storage/object-store.ts';
import { audit } from '../audit/audit.ts';
import { auditParts } from '../audit/audit-parts.ts';
import { markStore } from '../batch/own-store.ts';
import { runDueSchedules } from '../schedule/run-due.ts';
import { diagnose } from './doctor.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '5' });
  await markStore(pipeline.context);
  await importGraph(pipeline.sql, { persons: crowd(40) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.unmeteredAccount(100);
});

async function finish(): Promise<string> {
  const id = await pipeline.upload(caller, crowdRange(1, 21), { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
  return id;
}

async function lose(id: string, pattern: RegExp): Promise<void> {
  let lost = 0;
  for await (const key of pipeline.context.store.list()) {
    if (!key.startsWith(`batches/${id}/`) || !pattern.test(key)) continue;
    await pipeline.context.store.delete(key);
    lost++;
  }
  expect(lost).toBeGreaterThan(0);
}

const balance = async () => (await pipeline.wallet(caller))?.balance;
const fix = () => diagnose(pipeline.context, { fix: true });

async function isSound(): Promise<void> {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  const { checks } = await auditParts(pipeline.context);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
  expect((await fix()).findings).toEqual([]);
}

test('a list whose result is incomplete is refunded and run again, for the same price', async () => {
  const id = await finish();
  const { text } = await pipeline.results(caller, id);
  await lose(id, /parts\/1-/);
  expect(await balance()).toBe(80);
  const seen = await diagnose(pipeline.context, { fix: false });
  expect(seen.findings).toMatchObject([{ batch_id: id, action: 'found', rerun_id: null }]);
  expect(await balance()).toBe(80);
  const { findings } = await fix();
  expect(findings).toMatchObject([{ batch_id: id, action: 'rerun', credits_refunded: 20 }]);
  const again = findings[0]?.rerun_id ?? '';
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(80);
  expect(await pipeline.batch(caller, again)).toMatchObject({
    state: 'completed',
    rows: { matched: 20 },
    credits: { charged: 20 },
  });
  expect((await pipeline.results(caller, again)).text).toBe(text);
  await isSound();
});

/** Reruns the rows of a list that did not match. Returns the id of the rerun. */
async function rerun(id: string, options: { hold?: boolean } = {}): Promise<string> {
  const made = await pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcomes: ['no_match'], ...options }),
  });
  return ((await made.json()) as { id: string }).id;
}

test('a rerun that is restored stays a rerun, with its row numbers', async () => {
  const unknown = 'nobody@list.example\np1@list.example\nno-one@list.example';
  const options = { operation: 'people.enrich' };
  const id = await pipeline.enrich(caller, `Email\n${unknown}\n`, options);
  const lost = await rerun(id);
  await pipeline.runUntilIdle();
  await lose(lost, /parts/);
  const { findings } = await fix();
  await pipeline.runUntilIdle();
  const again = findings[0]?.rerun_id ?? '';
  expect(await pipeline.batch(caller, again)).toMatchObject({ rerun_of: id, state: 'completed' });
  const lines = await pipeline.call(caller, `/v1/batches/${again}/results?format=jsonl`);
  expect((await lines.text()).match(/"row":\d/g)).toEqual(['"row":1', '"row":3']);
  await isSound();
});

test('reruns of a list that is run again are refunded and end with it, once they have ended', async () => {
  const id = await pipeline.enrich(caller, 'Email\np1@list.example\nfresh@list.example\n', {
    operation: 'people.enrich',
  });
  await importGraph(pipeline.sql, { persons: [{ id: 702, email: 'fresh@list.example' }] });
  const held = await rerun(id, { hold: true });
  await pipeline.runUntilIdle();
  await lose(id, /parts/);
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'open' }]);
  await pipeline.call(caller, `/v1/batches/${held}/start`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(98);
  const { findings } = await fix();
  expect(findings).toMatchObject([{ batch_id: id, action: 'rerun', credits_refunded: 2 }]);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, findings[0]?.rerun_id ?? '')).toMatchObject({
    rows: { matched: 2 },
  });
  expect(await balance()).toBe(98);
  await isSound();
});

test('a rerun with dedupe that is restored matches its rows anew, also when the files of its list are deleted', async () => {
  const options = { operation: 'people.enrich', fields: 'id', dedupe: 'true' };
  const id = await pipeline.enrich(caller, 'Email\np1@list.example\nlate@list.example\n', options);
  await importGraph(pipeline.sql, { persons: [{ id: 701, email: 'late@list.example' }] });
  const lost = await rerun(id);
  await pipeline.runUntilIdle();
  await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
  await lose(lost, /parts/);
  const { findings } = await fix();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, findings[0]?.rerun_id ?? '')).toMatchObject({
    rows: { matched: 1, duplicate: 0 },
    credits: { charged: 1 },
  });
  expect(await balance()).toBe(98);
  await isSound();
});

test('people whose charge was refunded are not owned, and paid by the list that runs again', async () => {
  await pipeline.sql`update wallets set owned_days = 30 where account_id = ${caller.accountId}`;
  const id = await finish();
  await lose(id, /parts\/1-/);
  await fix();
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(80);
  await isSound();
});

test('two doctors at once run it again once', async () => {
  const id = await finish();
  await lose(id, /parts\/2-/);
  await Promise.allSettled([fix(), fix(), fix()]);
  await fix();
  await pipeline.runUntilIdle();
  const again =
    await pipeline.sql`select from batches where account_id = ${caller.accountId} and id <> ${id}`;
  expect(again).toHaveLength(1);
  expect(await balance()).toBe(80);
  await isSound();
});

test('a list without its upload, and an export, are refunded', async () => {
  const id = await finish();
  await lose(id, /./);
  const file = await pipeline.makeExport(caller, { filter: 'id=1001-1010' });
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(70);
  await lose(file, /parts/);
  const { findings } = await fix();
  expect(findings).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ batch_id: id, action: 'refunded', credits_refunded: 20 }),
      expect.objectContaining({ batch_id: file, action: 'refunded', credits_refunded: 10 }),
    ]),
  );
  expect(await balance()).toBe(100);
  await isSound();
});

test.each([{ mobileInRecords: false }, { uploadBytesMax: 100 }])(
  'a list that the settings refuse now is refunded, and the one after it is run again: %o',
  async (now) => {
    const options = { operation: 'people.enrich', fields: 'id,mobile' };
    const refused = await pipeline.enrich(caller, crowdRange(1, 21), options);
    const accepted = await pipeline.enrich(caller, crowdRange(1, 4), { ...options, fields: 'id' });
    for (const id of [refused, accepted]) await lose(id, /parts/);
    const config = { ...pipeline.context.config, ...now };
    expect((await diagnose({ ...pipeline.context, config }, { fix: true })).findings).toMatchObject(
      [
        { batch_id: refused, action: 'refunded', credits_refunded: 20, rerun_id: null },
        { batch_id: accepted, action: 'rerun', credits_refunded: 3 },
      ],
    );
    await pipeline.runUntilIdle();
    expect(await balance()).toBe(97);
    await isSound();
  },
);

test('a schedule delivers the new people of a refunded run again, unless only some of them were delivered', async () => {
  const post = async (path: string, body: object) => {
    const headers = { 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    return (await pipeline.call(caller, path, init)).json() as Promise<Record<string, string>>;
  };
  const whole = { cron: '0 2 * * *', mode: 'new', filter: 'id=1001-1010', fields: ['id'] };
  const run = async (schedule: string | undefined, body = {}) => {
    const started = await post(`/v1/schedules/${schedule}/run`, body);
    await pipeline.runUntilIdle();
    return started.export_id ?? '';
  };
  const { id: schedule } = await post('/v1/schedules', whole);
  await lose(await run(schedule), /parts/);
  await fix();
  expect((await pipeline.exportOf(caller, await run(schedule))).rows.matched).toBe(10);
  expect(await balance()).toBe(90);
  const { id: limited } = await post('/v1/schedules', whole);
  const first = await run(limited, { max_credits: 4 });
  expect((await pipeline.exportOf(caller, await run(limited))).rows.matched).toBe(6);
  await lose(first, /parts/);
  await fix();
  expect((await pipeline.exportOf(caller, await run(limited))).rows.matched).toBe(0);
  expect(await balance()).toBe(84);
  await pipeline.sql`delete from schedules`;
  await isSound();
});

test('a list that was cancelled is refunded, and its other rows are not run', async () => {
  const id = await pipeline.upload(caller, crowdRange(1, 21), { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(95);
  await lose(id, /parts\/1-/);
  const { findings } = await fix();
  expect(findings).toMatchObject([{ batch_id: id, action: 'refunded', credits_refunded: 5 }]);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(100);
  await isSound();
});

test('a list that has not ended is left to the service', async () => {
  const id = await pipeline.upload(caller, crowdRange(1, 21), { operation: 'people.enrich' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  await lose(id, /parts\//);
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'open' }]);
  await pipeline.runUntilIdle();
  expect((await fix()).findings).toMatchObject([{ batch_id: id, action: 'rerun' }]);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(80);
  await isSound();
});

test('objects of batches that the database does not know are deleted, and another store is left alone', async () => {
  const kept = await finish();
  const { store } = pipeline.context;
  const unknown = '0190a0a0-0000-7000-8000-000000000001';
  await store.put(`batches/${unknown}/upload`, [Buffer.from('a')]);
  expect(await fix()).toMatchObject({ unknown_batches: [unknown], unknown_deleted: true });
  expect(await store.head(`batches/${unknown}/upload`)).toBeNull();
  const many = Array.from(
    { length: 200 },
    (_, n) => unknown.slice(0, -3) + String(n).padStart(3, '0'),
  );
  for (const id of many) await store.put(`batches/${id}/upload`, [Buffer.from('a')]);
  await lose(kept, /parts/);
  const before = await balance();
  await expect(fix()).rejects.toMatchObject({ code: 'another_store' });
  expect(await store.head(`batches/${many[0]}/upload`)).toBe(1);
  expect(await balance()).toBe(before);
  const restored = () => diagnose(pipeline.context, { fix: true, restored: true });
  await store.put('installation', [Buffer.from('another')]);
  await expect(restored()).rejects.toMatchObject({ code: 'another_store' });
  await store.delete('installation');
  const lost = { fix: true, restored: true, filesLost: true };
  await expect(diagnose(pipeline.context, lost)).rejects.toMatchObject({ code: 'another_store' });
  await markStore(pipeline.context);
  await expect(fix()).rejects.toThrow('add `--restored`');
  expect(await restored()).toMatchObject({
    findings: [{ batch_id: kept, action: 'rerun' }],
    unknown_batches: many,
    unknown_deleted: true,
  });
  expect(await store.head(`batches/${many[0]}/upload`)).toBeNull();
  await pipeline.runUntilIdle();
  await isSound();
});

test('an upload that is under way is kept, unless the database went back in time', async () => {
  const { store } = pipeline.context;
  const young = uuidv7();
  await store.put(`batches/${young}/upload`, [Buffer.from('a')]);
  expect((await diagnose(pipeline.context, { fix: false })).unknown_batches).toEqual([young]);
  expect((await fix()).unknown_batches).toEqual([]);
  expect(await store.head(`batches/${young}/upload`)).toBe(1);
  const restored = await diagnose(pipeline.context, { fix: true, restored: true });
  expect(restored.unknown_batches).toEqual([young]);
  expect(await store.head(`batches/${young}/upload`)).toBeNull();
});

test('objects whose batch gets its row while the doctor examines others are kept', async () => {
  await finish();
  const waiting = await pipeline.upload(caller, crowdRange(1, 2), { operation: 'people.enrich' });
  const { sql, store } = pipeline.context;
  const late = '0190a0a0-0000-7000-8000-00000000aaaa';
  await store.put(`batches/${late}/upload`, [Buffer.from('a')]);
  let isListed = false;
  const watched: ObjectStore = Object.assign(Object.create(store) as ObjectStore, {
    async *list() {
      yield* store.list();
      isListed = true;
    },
    async get(key: string, range: ByteRange) {
      if (isListed) await sql`update batches set id = ${late} where id = ${waiting}`;
      return store.get(key, range);
    },
  });
  const { unknown_batches: deleted } = await diagnose(
    { ...pipeline.context, store: watched },
    { fix: true },
  );
  expect(deleted).toEqual([]);
  expect(await store.head(`batches/${late}/upload`)).toBe(1);
  await sql`delete from batches where id = ${late}`;
});

test('an empty store, or that of another installation, refunds nothing unless the files are said to be lost', async () => {
  await finish();
  const { store, config } = pipeline.context;
  const empty = openFileStore(`${config.dataDir}/another`);
  const wrong = { ...pipeline.context, store: empty };
  const before = await balance();
  for (const options of [{ fix: false }, { fix: true }, { fix: true, restored: true }]) {
    await expect(diagnose(wrong, options)).rejects.toMatchObject({
      code: 'another_store',
      message: expect.stringContaining('run `enrich doctor --fix --files-lost`'),
    });
  }
  await empty.put('installation', [Buffer.from('another')]);
  const lost = () => diagnose(wrong, { fix: true, filesLost: true });
  await expect(lost()).rejects.toMatchObject({ code: 'another_store' });
  expect(await balance()).toBe(before);
  await empty.delete('installation');
  expect(await lost()).toMatchObject({ unknown_batches: [] });
  expect(await balance()).toBe(100);
  expect(await empty.head('installation')).toBe(await store.head('installation'));
});

test('a database that went back in time gives out no number twice, tells no webhook and runs no slot twice', async () => {
  const { sql } = pipeline;
  const lastNumbers = () => sql<{ name: string; last: string; max: string }[]>`
    select sequencename as name, coalesce(last_value, 0)::text as last, max_value::text as max from pg_sequences
    where schemaname in ('public', 'graph') order by 1`;
  await sql`insert into graph.lookup_titles (title, people) values ('welder', 10)`;
  // Unused at the moment of the backup: its numbers may all have been given out since.
  await sql`select setval('graph.suppressions_number_seq', 1, false)`;
  await finish();
  await sql`
    with w as (
      insert into webhooks (id, account_id, live, url, events, credits_low_threshold, enabled, secret)
      values (gen_random_uuid(), ${caller.accountId}, true, 'https://hooks.example/', '{batch.completed}', 1, true,
        ${Buffer.alloc(32)})
      returning id)
    insert into webhook_deliveries (webhook_id, event_id, type, payload)
    select id, gen_random_uuid(), 'batch.completed', '{}' from w`;
  await sql`
    insert into schedules (id, account_id, key_id, live, name, cron, time_zone, filter, format, mode, enabled, next_run_at)
    select gen_random_uuid(), account_id, id, true, 'nightly', '0 2 * * *', 'UTC', 'country=GB', 'csv', 'all', true,
      now() - interval '3 days'
    from api_keys where account_id = ${caller.accountId} limit 1`;
  const before = await lastNumbers();
  expect(before.length).toBeGreaterThan(3);
  expect(before).toContainEqual(
    expect.objectContaining({ name: 'suppressions_number_seq', last: '0' }),
  );
  // A wrong store is refused before anything is changed.
  const empty = openFileStore(`${pipeline.context.config.dataDir}/empty`);
  const restored = { fix: false, restored: true };
  const refused = diagnose({ ...pipeline.context, store: empty }, restored);
  await expect(refused).rejects.toMatchObject({ code: 'another_store' });
  expect(await lastNumbers()).toEqual(before);
  const { left_past: left } = await diagnose(pipeline.context, restored);
  const once = { deliveriesEnded: 1, schedulesMoved: 1 };
  expect(left).toEqual({ sequencesSkipped: before.length, ...once });
  expect(await runDueSchedules(pipeline.context)).toEqual([]);
  expect(await sql`select from schedules where enabled and next_run_at > now()`).toHaveLength(1);
  for (const [index, { name, last, max }] of (await lastNumbers()).entries()) {
    const skipped = BigInt(last) - BigInt(before[index]?.last ?? 0);
    expect(skipped, name).toBeGreaterThanOrEqual(
      BigInt(max) > 2n ** 31n ? 100_000_000n : 1_000_000n,
    );
  }
});
