/** An account's lists and exports that have not ended are bounded, whatever way they come. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { inTransaction } from '../core/db/client.ts';
import { runDueSchedules } from '../jobs/schedule/run-due.ts';

const MAX = 3;
const list = 'email\np1@list.example\nnobody@list.example\n';
const options = { operation: 'people.enrich' };
const held = { ...options, hold: 'true' };

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ OPEN_LISTS_MAX: String(MAX) }, 's3');
  await importGraph(pipeline.sql, { persons: crowd(3) });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.account(100);
});

/** Held lists, which stay open until they are started or cancelled. */
async function fill(lists = MAX): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 0; number < lists; number++) {
    ids.push(await pipeline.upload(caller, list, held));
  }
  await pipeline.runUntilIdle();
  return ids;
}

function post(path: string, body?: unknown, headers: Record<string, string> = {}) {
  return pipeline.call(caller, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

function uploadCsv(headers: Record<string, string> = {}) {
  const query = new URLSearchParams(held);
  const init = { method: 'POST', headers: { 'Content-Type': 'text/csv', ...headers }, body: list };
  return pipeline.call(caller, `/v1/batches?${query}`, init);
}

/** Puts a file in place of a presigned upload; returns its id. */
async function presigned(): Promise<string> {
  const response = await post('/v1/uploads');
  const upload = (await response.json()) as { upload_id: string; url: string };
  const headers = { 'Content-Type': 'text/csv' };
  await fetch(upload.url, { method: 'PUT', headers, body: list });
  return upload.upload_id;
}

const ways: Record<string, (done: string) => Promise<Response>> = {
  'an upload': () => uploadCsv(),
  'rows as JSON': () => post('/v1/batches', { ...options, rows: [{ email: 'a@b.example' }] }),
  'rows that are waited for': () =>
    post('/v1/batches', { ...options, rows: [{ email: 'a@b.example' }] }, { Prefer: 'wait=5' }),
  'a presigned upload': async () =>
    post('/v1/batches', { ...options, upload_id: await presigned() }),
  'a rerun': (done) => post(`/v1/batches/${done}/rerun`, { outcomes: ['no_match'] }),
  'an export': () => post('/v1/exports', { filter: 'id=1001-1999' }),
};

describe('beside the maximum of open lists', () => {
  test.each(Object.keys(ways))(
    '%s is refused with the bound, and nothing is left of it',
    async (way) => {
      const done = await pipeline.enrich(caller, list, options);
      await fill();
      // A file that its owner put there stays for the next try.
      const isUploads = (key: string) => key.startsWith('uploads/');
      const before = (await pipeline.objects()).filter((key) => !isUploads(key));
      const response = await (ways[way] as (typeof ways)[string])(done);
      expect(response.headers.get('retry-after')).toBe('60');
      const problem = await expectProblem(response, { status: 429, code: 'rate_limited' });
      expect(problem.detail).toContain(`limit of ${MAX} for unfinished lists and exports`);
      expect(problem.detail).toContain('Cancel those that are not needed');
      expect((await pipeline.objects()).filter((key) => !isUploads(key))).toEqual(before);
      expect(pipeline.queues.waiting).toEqual([]);
    },
  );

  test('one that ends makes room for one, and the same request is taken then', async () => {
    const [first = ''] = await fill();
    const once = { 'Idempotency-Key': 'again' };
    expect((await uploadCsv(once)).status).toBe(429);
    await post(`/v1/batches/${first}/cancel`);
    await pipeline.runUntilIdle();
    expect((await uploadCsv(once)).status).toBe(202);
    expect((await uploadCsv()).status).toBe(429);
  });

  test('of many that come at one moment as many are taken as there is room for', async () => {
    await fill(1);
    let uploads: Promise<Response>[] = [];
    await inTransaction(pipeline.sql, async (tx) => {
      await tx`select from accounts where id = ${caller.accountId} for no key update`;
      uploads = Array.from({ length: 5 }, () => uploadCsv());
      // Two of them hold a connection; the others wait for their turn.
      await pipeline.untilBlocked(2);
    });
    const statuses = (await Promise.all(uploads)).map(({ status }) => status).sort();
    expect(statuses).toEqual([202, 202, 429, 429, 429]);
  });

  test('test mode counts with it, another account does not', async () => {
    await fill();
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    await expect(pipeline.upload(tester, list, options)).rejects.toThrow('rate_limited');
    caller = await pipeline.account(0);
    expect((await uploadCsv()).status).toBe(202);
  });

  test('the run of a schedule is skipped, and the next one runs when there is room', async () => {
    const made = await post('/v1/schedules', {
      cron: '30 2 * * *',
      filter: 'id=1001-1999',
      fields: ['id'],
    });
    const schedule = (await made.json()) as { id: string; next_run_at: string };
    const [first = ''] = await fill();
    const slot = (days: number) =>
      new Date(new Date(schedule.next_run_at).getTime() + days * 24 * 3_600_000);
    expect(await runDueSchedules(pipeline.context, slot(0))).toEqual([]);
    await post(`/v1/batches/${first}/cancel`);
    await pipeline.runUntilIdle();
    expect(await runDueSchedules(pipeline.context, slot(1))).toHaveLength(1);
    const runs = await pipeline.call(caller, `/v1/schedules/${schedule.id}/runs`);
    expect(await runs.json()).toMatchObject({
      data: [{ export_id: expect.any(String) }, { state: 'skipped', reason: 'too_many_open' }],
    });
  });
});
