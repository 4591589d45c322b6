/** Lists that are accepted before a column to match on is known. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(12) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const send = (method: string, path: string, body?: object) =>
  pipeline.call(caller, `/v1/batches/${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const people = crowd(12);
/** Contacts behind a header that no word names, below lines that are no header. */
const odd = `Foo;Bar\nx;y\n${people.map(({ email }) => `z;${String(email).replace('@', ' (at) ')}\n`).join('')}`;
const unmappable = 'Foo;Bar\nq;y\nz;w\n';
const held = { operation: 'people.enrich', hold: 'true', allow_unmapped: 'true' };

test('a held list without a column to match on can be mapped later, and not started before', async () => {
  const id = await pipeline.enrich(caller, unmappable, held);
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'ready', mapping: {} });
  for (const action of ['start', 'quote']) {
    const response = await send('POST', `${id}/${action}`);
    const problem = await expectProblem(response, { status: 422, code: 'unmapped' });
    expect(problem.detail).toContain('PATCH');
  }
  const mapped = await send('PATCH', id, { mapping: { twitter: 1 } });
  expect(((await mapped.json()) as BatchView).mapping).toMatchObject({ twitter: [{ column: 1 }] });
  expect((await send('POST', `${id}/start`)).status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
});

test('it can be read again with a header row that leaves it unmapped', async () => {
  const id = await pipeline.enrich(caller, unmappable, held);
  const refused = await send('PATCH', id, { header_row: 2 });
  await expectProblem(refused, { status: 422, code: 'unmapped' });
  const again = await send('PATCH', id, { header_row: 2, allow_unmapped: true });
  expect(again.status).toBe(200);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'ready',
    dialect: { header_row: 2, header: ['q', 'y'] },
    rows: { total: 1 },
  });
});

test('a list that starts at once must be mapped', async () => {
  const query = new URLSearchParams({ operation: 'people.enrich', allow_unmapped: 'true' });
  const response = await pipeline.call(caller, `/v1/batches?${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'text/csv' },
    body: unmappable,
  });
  await expectProblem(response, { status: 422, code: 'unmapped' });
});

test('a preview shows each column with its first values and the share that is filled', async () => {
  const id = await pipeline.enrich(
    caller,
    'email,who\na@b.example,\nc@d.example,Ann\na@b.example,-\n',
    held,
  );
  const preview = (await (await send('GET', `${id}/preview`)).json()) as { columns: unknown };
  expect(preview.columns).toEqual([
    { column: 1, header: 'email', samples: ['a@b.example', 'c@d.example'], filled: 1 },
    { column: 2, header: 'who', samples: ['Ann'], filled: 1 / 3 },
  ]);
});

test('a quote stays when only name, columns or limit change, and a rerun can be held', async () => {
  const id = await pipeline.enrich(caller, odd, { ...held, mapping: '{"email":2}' });
  await send('POST', `${id}/quote`);
  await pipeline.runUntilIdle();
  const { quote } = await pipeline.batch(caller, id);
  expect(quote).toMatchObject({ state: 'done', credits: 12 });
  for (const change of [{ name: 'Fair' }, { fields: ['id'] }, { name: 'x', max_credits: 5 }]) {
    expect(((await (await send('PATCH', id, change)).json()) as BatchView).quote).toEqual(quote);
  }
  // A change of nothing is none.
  expect(((await (await send('PATCH', id, {})).json()) as BatchView).quote).toEqual(quote);
  const other = { dedupe: true, name: 'y' };
  expect(((await (await send('PATCH', id, other)).json()) as BatchView).quote).toBeNull();
  await send('PATCH', id, { max_credits: null });
  await send('POST', `${id}/start`);
  await pipeline.runUntilIdle();
  const body = { outcomes: ['invalid'], hold: true };
  const again = (await (await send('POST', `${id}/rerun`, body)).json()) as BatchView;
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, again.id)).toMatchObject({
    state: 'ready',
    rows: { total: 1 },
    credits: { charged: 0 },
  });
});
