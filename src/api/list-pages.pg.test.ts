/** Lists are found by name, sorted, and renamed whatever state they are in. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyBatch } from '../../tests/support/copy-batch.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { rowsRead } from '../../tests/support/rows-read.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import { listBatches } from '../jobs/batch/batches.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(9) });
  caller = await pipeline.unmeteredAccount(100);
  for (const [name, people] of [
    ['Zürich leads', 2],
    ['acme', 0],
    ['Ärzte', 3],
    ['Trade fair', 1],
    ['beta', 3],
  ] as const) {
    const emails = crowd(people).map(({ email }) => email);
    const list = `email\n${[...emails, 'nobody@list.example'].join('\n')}\n`;
    await pipeline.enrich(caller, list, { operation: 'people.enrich', name });
  }
});
afterAll(() => pipeline.close());

/** The names of all lists, page by page. */
async function namesBy(query: string, by = caller): Promise<string[]> {
  const names: string[] = [];
  for (let cursor = ''; ; ) {
    const response = await pipeline.call(by, `/v1/batches?limit=2&${query}${cursor}`);
    const page = (await response.json()) as { data: BatchView[]; next_cursor: string | null };
    names.push(...page.data.map(({ name }) => name));
    if (page.next_cursor === null) return names;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

const made = ['Zürich leads', 'acme', 'Ärzte', 'Trade fair', 'beta'];

test.each([
  ['', [...made].reverse()],
  ['sort=-created_at', [...made].reverse()],
  ['sort=created_at', made],
  ['sort=name', ['acme', 'Ärzte', 'beta', 'Trade fair', 'Zürich leads']],
  ['sort=-name', ['Zürich leads', 'Trade fair', 'beta', 'Ärzte', 'acme']],
  ['sort=-matched', ['beta', 'Ärzte', 'Zürich leads', 'Trade fair', 'acme']],
  ['sort=-credits', ['beta', 'Ärzte', 'Zürich leads', 'Trade fair', 'acme']],
])('pages in the order %s have each list once', async (query, expected) => {
  expect(await namesBy(query)).toEqual(expected);
});

test('a page in the order of names reads the long texts of no other lists', async () => {
  const owner = await pipeline.account(1);
  const header = Array.from({ length: 400 }, () => randomUUID()).join(',');
  const first = await pipeline.enrich(owner, `email,${header}\nnobody@list.example\n`, {
    operation: 'people.enrich',
  });
  const page = { kind: 'list', rerunOf: null, search: null, before: null, limit: 1 } as const;
  const read = () =>
    rowsRead(pipeline.sql, ['batches'], async (tx) => {
      const sort = { by: 'name', descending: true } as const;
      const rows = await listBatches(
        tx,
        { accountId: owner.accountId, live: true },
        { ...page, sort },
      );
      expect(rows).toHaveLength(1);
    });
  const alone = await read();
  await copyBatch(pipeline.sql, first, 100);
  // Of each other list its row, for the name, and no piece of its header.
  expect(await read()).toBeLessThan(alone + 200);
});

test('a search finds names without regard to case and accents, and not those of others', async () => {
  expect(await namesBy('search=zurich')).toEqual(['Zürich leads']);
  expect(await namesBy('search=A&sort=name')).toEqual([
    'acme',
    'Ärzte',
    'beta',
    'Trade fair',
    'Zürich leads',
  ]);
  expect(await namesBy('search=%25')).toEqual([]);
  expect(await namesBy('search=a', await pipeline.account(0))).toEqual([]);
  const unknown = await pipeline.call(caller, '/v1/batches?sort=state');
  await expectProblem(unknown, { status: 400, code: 'invalid_parameter' });
});

test('a list is renamed in any state, and its downloads follow', async () => {
  const rename = (id: string, body: object, by = caller) =>
    pipeline.call(by, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  const id = await pipeline.enrich(caller, 'email\np1@list.example\n', {
    operation: 'people.enrich',
  });
  const before = (await (await rename(id, { name: 'first' })).json()) as BatchView;
  const after = (await (await rename(id, { name: 'Fair 2026' })).json()) as BatchView;
  expect(after).toEqual({ ...before, name: 'Fair 2026', revision: before.revision + 1 });
  const file = await pipeline.call(caller, `/v1/batches/${id}/results?format=xlsx`);
  expect(file.headers.get('content-disposition')).toContain('Fair 2026 people enriched');
  // The rest of the name, or of a sentence with it, would be read backwards; and no one could click on nothing.
  expect(await (await rename(id, { name: 'Q4 \u202efdp.exe' })).json()).toMatchObject({
    name: 'Q4 fdp.exe',
  });
  await expectProblem(await rename(id, { name: '\u200b' }), {
    status: 400,
    code: 'invalid_parameter',
  });
  await expectProblem(await rename(id, { name: 'x', dedupe: true }), {
    status: 409,
    code: 'invalid_state',
  });
  const other = await rename(id, { name: 'stolen' }, await pipeline.account(0));
  await expectProblem(other, { status: 404, code: 'not_found' });
});

test('downloads of a list enriched twice are told apart by their names', async () => {
  const names = await Promise.all(
    ['people.enrich', 'companies.enrich'].map(async (operation) => {
      const list = 'email,domain\np1@list.example,list.example\n';
      const id = await pipeline.enrich(caller, list, { operation, name: 'leads.csv' });
      const file = await pipeline.call(caller, `/v1/batches/${id}/results?format=csv-safe`);
      return file.headers.get('content-disposition');
    }),
  );
  expect(names).toEqual([
    expect.stringMatching(/"leads people enriched \d{4}-\d\d-\d\d\.csv"$/),
    expect.stringMatching(/"leads companies enriched \d{4}-\d\d-\d\d\.csv"$/),
  ]);
});
