/** The maximum bytes that an account stores. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { copyBatch } from '../../../tests/support/copy-batch.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { setOwnedDays } from '../../core/credits/owned.sql.ts';
import { inTransaction } from '../../core/db/client.ts';
import { runDueSchedules } from '../schedule/run-due.ts';
import { lockStoredBytes, sumStored } from './stored-bytes.sql.ts';

const UPLOAD_MAX = 1000;
const STORED_MAX = 3000;
const bounds = { UPLOAD_BYTES_MAX: String(UPLOAD_MAX), STORED_BYTES_MAX: String(STORED_MAX) };

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ ...bounds, CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, {
    persons: [
      ...crowd(6),
      { id: 1, email: 'long@list.example', summary: 'long '.repeat(STORED_MAX / 5) },
    ],
  });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.account(100);
});

const full = { status: 409, code: 'storage_full' };

/** Uploads a held list of `bytes` bytes. */
function post(bytes: number, of = pipeline): Promise<Response> {
  const body = 'email\np1@list.example\n'.padEnd(bytes - 1, 'x').concat('\n');
  return of.call(caller, '/v1/batches?operation=people.enrich&hold=true', {
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
    body,
  });
}

async function storageOf(who: Caller, of = pipeline) {
  const answer = await of.call(who, '/v1/me');
  return ((await answer.json()) as { storage: object }).storage;
}

test('a list beyond the maximum is refused and not kept, and deleting another makes room', async () => {
  const kept: string[] = [];
  for (let index = 0; index < 3; index++) {
    kept.push(((await (await post(1000)).json()) as { id: string }).id);
  }
  expect(await storageOf(caller)).toEqual({ stored_bytes: 3000, stored_bytes_max: STORED_MAX });
  const before = await pipeline.objects();
  const problem = await expectProblem(await post(30), full);
  expect(problem).toMatchObject({ stored_bytes: 3030, stored_bytes_max: STORED_MAX });
  expect(problem.detail).toMatch(/DELETE \/v1\/batches\/:id.*30 days/);
  expect(await pipeline.objects()).toEqual(before);

  const stranger = await pipeline.account(1);
  expect(await storageOf(stranger)).toMatchObject({ stored_bytes: 0 });
  await pipeline.call(caller, `/v1/batches/${kept[0]}`, { method: 'DELETE' });
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: 2000 });
  expect((await post(1000)).status).toBe(202);
});

test('of concurrent lists as many are accepted as fit', async () => {
  const answers = await inTransaction(pipeline.sql, async (tx) => {
    await lockStoredBytes(tx, caller.accountId);
    const sent = Array.from({ length: 5 }, () => post(900));
    // As many as an account may write concurrently are recorded, none visible to the others.
    await pipeline.untilBlocked(2);
    return { sent };
  });
  const statuses = (await Promise.all(answers.sent)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([202, 202, 202, 409, 409]);
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: 2700 });
});

test('stored bytes are the sizes of objects, except the ids of an export, which count with their maximum', async () => {
  const list = `name,email\n${'Ż'.repeat(20)},p1@list.example\nx,p2@list.example\ny,nobody@list.example\n`;
  const utf16 = Buffer.from(`\ufeff${list}`, 'utf16le');
  const listId = await pipeline.enrich(caller, utf16, { operation: 'people.enrich', fields: 'id' });
  const exportId = await pipeline.makeExport(caller, {
    filter: 'id=1001-1999',
    fields: ['id'],
    max_results: 50,
  });
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, listId)).state).toBe('completed');
  expect((await pipeline.exportOf(caller, exportId)).state).toBe('completed');
  // A rounded or an exact size would reveal how many people it found.
  let bytes = 50 * 11;
  for (const key of await pipeline.objects()) {
    if (!key.includes(listId) && !key.includes(exportId)) continue;
    if (key.includes(`${exportId}/ids-`)) continue;
    bytes += (await pipeline.context.store.head(key)) ?? 0;
  }
  expect(bytes).toBeGreaterThan(utf16.length);
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: bytes });
});

/** Adds ended lists with files like this one, with so many bytes each. */
const copyEnded = (id: string, { copies, bytes }: { copies: number; bytes: number }) =>
  copyBatch(pipeline.sql, id, copies, {
    state: 'cancelled',
    finished_at: '2030-01-01',
    stored_bytes: bytes,
  });

test('lists of a few bytes are bounded by their number, because each takes blocks of the disk', async () => {
  const first = ((await (await post(24)).json()) as { id: string }).id;
  await copyEnded(first, { copies: 999, bytes: 0 });
  const problem = await expectProblem(await post(24), full);
  expect(problem.detail).toMatch(/1000 lists and exports with files.*DELETE \/v1\/batches\/:id/);
  await pipeline.call(caller, `/v1/batches/${first}`, { method: 'DELETE' });
  expect((await post(24)).status).toBe(202);
});

/** Invalid rows, which cost nothing. */
const invalidRows = (rows: number) => `email\n${'x\n'.repeat(rows)}`;
const held = {
  operation: 'people.enrich',
  fields: 'id',
  hold: 'true',
  mapping: '{"email":"email"}',
};

test('what an account stores is known without reading its ended lists', async () => {
  const { sql } = pipeline;
  const first = ((await (await post(24)).json()) as { id: string }).id;
  const before = await storageOf(caller);
  await copyEnded(first, { copies: 500, bytes: 2 });
  const read = await rowsRead(sql, ['batches', 'stored_sums'], async (tx) => {
    expect(await sumStored(tx, caller.accountId, 0)).toMatchObject({ batches: 501 });
  });
  // The sum of the account, and the held list.
  expect(read).toBe(2);
  await sql`
    update batches set files_deleted_at = now()
    where account_id = ${caller.accountId} and finished_at is not null`;
  expect(await storageOf(caller)).toEqual(before);
});

test('an account makes no more lists in a day than would fill it until the first ones expire', async () => {
  await pipeline.sql`
    insert into day_counts (owner, day, requests) values (${caller.accountId}, utc_today(), 999)`;
  const { id } = (await (await post(30)).json()) as { id: string };
  await pipeline.call(caller, `/v1/batches/${id}`, { method: 'DELETE' });
  const before = await pipeline.objects();
  const many = { status: 429, code: 'rate_limited' };
  const problem = await expectProblem(await post(30), many);
  expect(problem.detail).toMatch(/1000 for lists and exports of the account a day/);
  expect(await pipeline.objects()).toEqual(before);
  const made = await pipeline.call(caller, '/v1/exports', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filter: 'gender=1', hold: true }),
  });
  await expectProblem(made, many);
  await pipeline.sql`update day_counts set day = day - 1 where owner = ${caller.accountId}`;
  expect((await post(30)).status).toBe(202);
});

test('a list whose padded rows may exceed the maximum fails at its split, and costs nothing', async () => {
  const header = Array.from({ length: 100 }, (_, n) => `c${n}`).join(',');
  const wide = `email,${header}\n${'p1@list.example\n'.repeat(10)}`;
  const id = await pipeline.enrich(caller, wide, { operation: 'people.enrich', fields: 'id' });
  const batch = await pipeline.batch(caller, id);
  expect(batch).toMatchObject({ state: 'failed', error: { code: 'storage_full', status: 409 } });
  expect(batch.error?.detail).toContain('the maximum is 3000. An unfinished list counts');
  expect(await pipeline.wallet(caller)).toMatchObject({ balance: 100, reserved: 0 });
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: wide.length });
  const next = await pipeline.enrich(caller, invalidRows(1), held);
  expect((await pipeline.batch(caller, next)).state).toBe('ready');
});

test('held lists reserve the maximum of their results, and release what they do not use', async () => {
  const ids: string[] = [];
  for (let index = 0; index < 5; index++) {
    ids.push(await pipeline.upload(caller, invalidRows(5), held));
  }
  await pipeline.runUntilIdle();
  const states = async () =>
    (await Promise.all(ids.map((id) => pipeline.batch(caller, id)))).map(({ state }) => state);
  expect(await states()).toEqual(['ready', 'ready', 'ready', 'ready', 'failed']);
  for (const id of ids.slice(0, 4)) {
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
  }
  await pipeline.runUntilIdle();
  expect((await states()).slice(0, 4)).toEqual(Array(4).fill('completed'));
  const result = await pipeline.results(caller, ids[0] as string);
  expect(result.text.split('\n')).toHaveLength(7);
  const again = await pipeline.enrich(caller, invalidRows(5), held);
  expect((await pipeline.batch(caller, again)).state).toBe('ready');
});

test('a list in test mode also reserves its records, which are free', async () => {
  const tester = await pipeline.keyOf(caller.accountId, 'test');
  const id = await pipeline.enrich(tester, invalidRows(1), held);
  expect((await pipeline.batch(tester, id)).error).toMatchObject({ code: 'storage_full' });
});

test('duplicates have no data once the account is above its maximum', async () => {
  const text = `email\n${'long@list.example\n'.repeat(8)}`;
  const of = { operation: 'people.enrich', fields: 'id,summary', dedupe: 'true' };
  const id = await pipeline.enrich(caller, text, of);
  const { text: result } = await pipeline.results(caller, id);
  const rows = result.trim().split('\n').slice(1);
  expect(rows.map((row) => row.split(',')[1])).toEqual(['matched', ...Array(7).fill('duplicate')]);
  // The first chunk has two rows; the parts before it were below the maximum.
  expect(rows.map((row) => row.length > STORED_MAX)).toEqual([true, true, ...Array(6).fill(false)]);
  expect(await pipeline.wallet(caller)).toMatchObject({ balance: 99 });
});

test('a list whose people are owned ends once the account is above its maximum', async () => {
  await setOwnedDays(pipeline.sql, caller.accountId, 90);
  const text = `email\n${'long@list.example\n'.repeat(8)}`;
  const id = await pipeline.enrich(caller, text, {
    operation: 'people.enrich',
    fields: 'id,summary',
  });
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'failed',
    error: { code: 'storage_full' },
    rows: { total: 8, matched: 2, not_processed: 6 },
    credits: { charged: 1 },
  });
});

test('an account above its maximum starts no export, but its split list finishes', async () => {
  const rows = 'long@list.example\n'.repeat(2);
  const id = await pipeline.upload(caller, `email\n${rows}`, { operation: 'people.enrich' });
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, id)).state).toBe('completed');
  const answer = await pipeline.call(caller, '/v1/schedules', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ cron: '30 2 * * *', filter: 'id=1001-1999', fields: ['id'] }),
  });
  const schedule = (await answer.json()) as { id: string; next_run_at: string };

  const made = await pipeline.call(caller, '/v1/exports', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ filter: 'id=1001-1999' }),
  });
  await expectProblem(made, full);
  await expectProblem(await post(30), full);
  expect(await runDueSchedules(pipeline.context, new Date(schedule.next_run_at))).toEqual([]);
  const runs = await pipeline.call(caller, `/v1/schedules/${schedule.id}/runs`);
  expect(((await runs.json()) as { data: object[] }).data).toMatchObject([
    { state: 'skipped', reason: 'storage_full' },
  ]);
});

test('a repeated upload is answered as the first time when its results have filled the account', async () => {
  const upload = () =>
    pipeline.call(caller, '/v1/batches?operation=people.enrich', {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv', 'Idempotency-Key': 'once' },
      body: `email\n${'long@list.example\n'.repeat(2)}`,
    });
  const first = (await (await upload()).json()) as { id: string };
  await pipeline.runUntilIdle();
  await expectProblem(await post(30), full);
  const again = await upload();
  expect(again.status).toBe(202);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(await again.json()).toMatchObject({ id: first.id });
});

test('exports count with their maximum of ids as soon as they are accepted', async () => {
  const body = JSON.stringify({ filter: 'id=1001-1999', max_results: 80, hold: true });
  const headers = { 'Content-Type': 'application/json' };
  const make = () => pipeline.call(caller, '/v1/exports', { method: 'POST', headers, body });
  const answers = await Promise.all(Array.from({ length: 5 }, make));
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 409, 409]);
  const stored = { stored_bytes: 3 * 80 * 11 };
  expect(await storageOf(caller)).toMatchObject(stored);
  await pipeline.runUntilIdle();
  expect(await storageOf(caller)).toMatchObject(stored);
  await expectProblem(await make(), full);
});

test('an upload URL counts as the maximum upload until it is used', async () => {
  await using onS3 = await closing(openPipeline(bounds, 's3'));
  const { opened } = onS3;
  caller = await opened.account(100);
  const open = () => opened.call(caller, '/v1/uploads', { method: 'POST' });
  const answers = await Promise.all(Array.from({ length: 5 }, open));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409]);
  expect(await storageOf(caller, opened)).toMatchObject({ stored_bytes: 3 * UPLOAD_MAX });
  await expectProblem(await open(), full);
  const [first] = answers.filter(({ status }) => status === 201);
  const upload = (await first?.json()) as { url: string; upload_id: string };
  await fetch(upload.url, { method: 'PUT', body: 'email\np1@list.example\n' });
  const used = await opened.call(caller, '/v1/batches', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ operation: 'people.enrich', hold: true, upload_id: upload.upload_id }),
  });
  expect(used.status).toBe(202);
  expect(await storageOf(caller, opened)).toMatchObject({ stored_bytes: 2 * UPLOAD_MAX + 22 });
});

async function closing(opening: Promise<Pipeline>) {
  const opened = await opening;
  return { opened, [Symbol.asyncDispose]: () => opened.close() };
}
