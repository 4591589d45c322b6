/** What an account may store. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { runDueSchedules } from '../schedule/run-due.ts';
import { lockStoredBytes } from './stored-bytes.sql.ts';

const UPLOAD_MAX = 1000;
const STORED_MAX = 3000;
const bounds = { UPLOAD_BYTES_MAX: String(UPLOAD_MAX), STORED_BYTES_MAX: String(STORED_MAX) };

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ ...bounds, CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(6) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.account(100);
});

const full = { status: 409, code: 'storage_full' };

/** A list of so many bytes that is held. */
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

test('a list beyond the bound is refused and not kept, and deleting another makes room', async () => {
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

test('of lists that come at once as many are taken as fit', async () => {
  const answers = await inTransaction(pipeline.sql, async (tx) => {
    await lockStoredBytes(tx, caller.accountId);
    const sent = Array.from({ length: 5 }, () => post(900));
    // All are recorded, and none knows of the others.
    await pipeline.untilBlocked(5);
    return { sent };
  });
  const statuses = (await Promise.all(answers.sent)).map(({ status }) => status);
  expect(statuses.sort()).toEqual([202, 202, 202, 409, 409]);
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: 2700 });
});

test('what is stored is the size of its objects: of a list in another encoding, and of an export', async () => {
  const list = `name,email\n${'Ż'.repeat(20)},p1@list.example\nx,p2@list.example\ny,nobody@list.example\n`;
  const utf16 = Buffer.from(`\ufeff${list}`, 'utf16le');
  const listId = await pipeline.enrich(caller, utf16, { operation: 'people.enrich', fields: 'id' });
  const exportId = await pipeline.makeExport(caller, { filter: 'id=1001-1999', fields: ['id'] });
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, listId)).state).toBe('completed');
  expect((await pipeline.exportOf(caller, exportId)).state).toBe('completed');
  let bytes = 0;
  for (const key of await pipeline.objects()) {
    if (!key.includes(listId) && !key.includes(exportId)) continue;
    bytes += (await pipeline.context.store.head(key)) ?? 0;
  }
  expect(bytes).toBeGreaterThan(utf16.length);
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: bytes });
});

test('an account that stores more than it may starts no export, and its accepted list finishes', async () => {
  const rows = Array.from({ length: 6 }, (_, n) => `p${n + 1}@list.example`).join('\n');
  const id = await pipeline.upload(caller, `email\n${rows}\n`, { operation: 'people.enrich' });
  await post(1000);
  await post(1000);
  const answer = await pipeline.call(caller, '/v1/schedules', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ cron: '30 2 * * *', filter: 'id=1001-1999', fields: ['id'] }),
  });
  const schedule = (await answer.json()) as { id: string; next_run_at: string };
  await pipeline.runUntilIdle();
  expect((await pipeline.batch(caller, id)).state).toBe('completed');
  expect(await storageOf(caller)).toMatchObject({ stored_bytes: expect.any(Number) });

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

test('an address for an upload counts as the largest upload until it is used', async () => {
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
