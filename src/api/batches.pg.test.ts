import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
const list = 'email\np1@list.example\n';
const unknownId = '01890000-0000-7000-8000-000000000000';

describe('a batch that is not the caller’s', () => {
  test.each(['', '/results'])('answers 404 at /v1/batches/:id%s', async (rest) => {
    const id = await pipeline.enrich(caller, list, options);
    const stranger = await pipeline.account(1);
    const testKey = await pipeline.keyOf(caller.accountId, 'test');
    const notFound = { status: 404, code: 'not_found' };
    await expectProblem(await pipeline.call(stranger, `/v1/batches/${id}${rest}`), notFound);
    await expectProblem(await pipeline.call(testKey, `/v1/batches/${id}${rest}`), notFound);
    const colleague = await pipeline.keyOf(caller.accountId, 'live');
    expect((await pipeline.call(colleague, `/v1/batches/${id}${rest}`)).status).toBe(200);
  });

  test('is not in a list, nor behind its cursor', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const stranger = await pipeline.account(1);
    const testKey = await pipeline.keyOf(caller.accountId, 'test');
    for (const other of [stranger, testKey]) {
      for (const query of ['', `?cursor=${id}`]) {
        const response = await pipeline.call(other, `/v1/batches${query}`);
        expect(await response.json()).toEqual({ data: [], next_cursor: null });
      }
    }
  });
});

test.each([unknownId, 'no-id', '1', '%00', `${unknownId}x`, "';--"])(
  'an id that names nothing answers 404: %s',
  async (id) => {
    const notFound = { status: 404, code: 'not_found' };
    await expectProblem(await pipeline.call(caller, `/v1/batches/${id}`), notFound);
    await expectProblem(await pipeline.call(caller, `/v1/batches/${id}/results`), notFound);
  },
);

describe('a list of batches', () => {
  test('comes in pages, newest first, each batch once', async () => {
    const owner = await pipeline.account(10);
    const ids: string[] = [];
    for (let index = 0; index < 7; index++) {
      ids.unshift(await pipeline.upload(owner, list, { ...options, name: `list ${index}` }));
    }
    // Two batches of the same instant must not lose or repeat each other.
    await pipeline.sql`
      update batches set created_at = (select min(created_at) from batches
        where account_id = ${owner.accountId})
      where id = any(${ids.slice(2, 5)}::uuid[])`;
    const expected = await pipeline.sql<{ id: string }[]>`
      select id from batches where account_id = ${owner.accountId}
      order by created_at desc, id desc`;
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const response = await pipeline.call(owner, `/v1/batches?limit=3${query}`);
      const page = (await response.json()) as { data: BatchView[]; next_cursor: string | null };
      pages.push(page.data.map((batch) => batch.id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(pages.map((page) => page.length)).toEqual([3, 3, 1]);
    expect(pages.flat()).toEqual(expected.map((row) => row.id));
  });

  test.each(['limit=0', 'limit=101', 'limit=x', 'cursor=1', 'page=2', 'limit=1&limit=2'])(
    'refuses ?%s by name',
    async (query) => {
      const response = await pipeline.call(caller, `/v1/batches?${query}`);
      const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
      expect(problem.errors[0]?.field).toBe(query.split('=')[0]);
    },
  );
});

describe('a batch', () => {
  test('answers what the contract names, from its upload to its end', async () => {
    const id = await pipeline.upload(caller, list, { ...options, name: 'My leads' });
    const fresh = await pipeline.batch(caller, id);
    expect(fresh).toMatchObject({
      id,
      name: 'My leads',
      live: true,
      state: 'created',
      reason: null,
      error: null,
      operation: 'people.enrich',
      mapping: { email: [{ column: 1, header: 'email' }] },
      dialect: { encoding: 'utf-8', delimiter: ',', newline: '\n' },
      quote: null,
      rows: { total: null, processed: 0 },
      credits: { charged: 0, reserved: 0, max: null },
      started_at: null,
      finished_at: null,
      links: { self: `/v1/batches/${id}` },
    });
    await pipeline.runUntilIdle();
    const done = await pipeline.batch(caller, id);
    expect(Object.keys(done)).toEqual(Object.keys(fresh));
    expect(done).toMatchObject({
      state: 'completed',
      rows: { total: 1, processed: 1, matched: 1 },
      credits: { charged: 1, reserved: 0 },
      eta_seconds: null,
    });
    expect(Date.parse(done.finished_at ?? '')).toBeGreaterThan(Date.parse(fresh.created_at));
  });

  test('gives its result as a file of a known length', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const response = await pipeline.call(caller, `/v1/batches/${id}/results`);
    const text = await response.text();
    expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
    expect(response.headers.get('x-result-complete')).toBe('true');
    expect(response.headers.get('content-disposition')).toMatch(/attachment/);
    expect(Number(response.headers.get('content-length'))).toBe(Buffer.byteLength(text));
  });

  test('that cannot be read further than its beginning fails with a problem and its line', async () => {
    const long = 'x'.repeat(3_000_000);
    const rows = `email\n${'p1@list.example\n'.repeat(10_000)}${long}\n`;
    const id = await pipeline.enrich(caller, rows, options);
    const batch = await pipeline.batch(caller, id);
    expect(batch).toMatchObject({
      state: 'failed',
      error: {
        code: 'unreadable_csv',
        status: 422,
        detail: expect.any(String),
        errors: [{ line: 10_002 }],
      },
    });
    expect(await pipeline.wallet(caller)).toMatchObject({ reserved: 0 });
  });
});
