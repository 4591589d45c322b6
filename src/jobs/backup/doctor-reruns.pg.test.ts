/** The doctor and reruns of a list: a row that a later rerun has run is not paid twice. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { audit } from '../audit/audit.ts';
import { markStore } from '../batch/own-store.ts';
import { diagnose } from './doctor.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '5' });
  await markStore(pipeline.context);
  const twin = { name: 'Ilka', surname: 'Quast', companyId: 10 };
  await importGraph(pipeline.sql, {
    companies: [{ id: 10, name: 'Nordlicht Optik GmbH' }],
    persons: [...crowd(4), { id: 700, ...twin }, { id: 701, ...twin }],
  });
});
afterAll(() => pipeline.close());
beforeEach(async () => {
  caller = await pipeline.unmeteredAccount(100);
});

const balance = async () => (await pipeline.wallet(caller))?.balance;
const fix = () => diagnose(pipeline.context, { fix: true });

const upload = (...names: string[]) =>
  pipeline.enrich(
    caller,
    `Email\np1@list.example\n${names.map((name) => `${name}@list.example\n`).join('')}`,
    { operation: 'people.enrich' },
  );

let nextId = 800;
const learn = (name: string) =>
  importGraph(pipeline.sql, { persons: [{ id: nextId++, email: `${name}@list.example` }] });

const post = (path: string, body: object = {}) =>
  pipeline.call(caller, `/v1/batches/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Reruns the rows of a list that did not match, or as `options` say. Returns the id of the rerun. */
async function rerun(id: string, options: object = {}): Promise<string> {
  const made = await post(`${id}/rerun`, { outcomes: ['no_match'], ...options });
  await pipeline.runUntilIdle();
  return ((await made.json()) as { id: string }).id;
}

async function loseParts(id: string): Promise<void> {
  for await (const key of pipeline.context.store.list()) {
    if (key.startsWith(`batches/${id}/parts`)) await pipeline.context.store.delete(key);
  }
}

/** The rows of a list that matched in it or its reruns. */
async function matchedRows(id: string): Promise<number[]> {
  const results = await pipeline.call(caller, `/v1/batches/${id}/results?format=jsonl&reruns=true`);
  const lines = (await results.text()).trim().split('\n');
  return lines
    .map((line) => JSON.parse(line) as { row: number; match: { status: string } })
    .flatMap(({ row, match }) => (match.status === 'matched' ? [row] : []));
}

test('a lost rerun is not run again when a later one of the list has its rows', async () => {
  const id = await upload('two', 'three', 'four');
  await learn('two');
  const lost = await rerun(id);
  await learn('three');
  await rerun(id);
  expect(await balance()).toBe(97);
  await loseParts(lost);
  const { findings } = await fix();
  await pipeline.runUntilIdle();
  expect(findings).toMatchObject([{ batch_id: lost, action: 'refunded', credits_refunded: 1 }]);
  // The first and the third row are paid, each once.
  expect(await balance()).toBe(98);
  expect(await matchedRows(id)).toEqual([1, 3]);
  await rerun(id);
  expect(await balance()).toBe(97);
  expect(await matchedRows(id)).toEqual([1, 2, 3]);
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  expect((await fix()).findings).toEqual([]);
});

test('a lost rerun is run again when the later ones have matched nothing', async () => {
  const id = await upload('five', 'six');
  await learn('five');
  const lost = await rerun(id);
  await rerun(id);
  await loseParts(lost);
  expect((await fix()).findings).toMatchObject([{ action: 'rerun', credits_refunded: 1 }]);
  await pipeline.runUntilIdle();
  expect(await matchedRows(id)).toEqual([1, 2]);
  expect(await balance()).toBe(98);
});

test('a lost rerun is not run again while another one that has its rows is open', async () => {
  const id = await upload('seven', 'eight');
  await learn('seven');
  const lost = await rerun(id);
  await learn('eight');
  const held = await rerun(id, { hold: true });
  await loseParts(lost);
  expect((await fix()).findings).toMatchObject([{ action: 'refunded', credits_refunded: 1 }]);
  await post(`${held}/start`);
  await pipeline.runUntilIdle();
  expect(await matchedRows(id)).toEqual([1, 3]);
  expect(await balance()).toBe(98);
});

test('of two lost reruns of a list, each row is paid once', async () => {
  const id = await upload('nine', 'ten');
  await learn('nine');
  const lost = [await rerun(id)];
  await learn('ten');
  lost.push(await rerun(id));
  for (const one of lost) await loseParts(one);
  await fix();
  await pipeline.runUntilIdle();
  await fix();
  await pipeline.runUntilIdle();
  await rerun(id);
  expect(await matchedRows(id)).toEqual([1, 2, 3]);
  expect(await balance()).toBe(97);
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

test('a lost rerun does not take the place of decisions about its rows', async () => {
  const names = 'Name,Company\nIlka Quast,Nordlicht Optik\n';
  const options = { operation: 'people.enrich', match: 'likely' };
  const id = await pipeline.enrich(caller, names, options);
  const lost = await rerun(id, { outcomes: ['ambiguous'] });
  expect((await post(`${lost}/decisions`, { decisions: [{ row: 1, id: 701 }] })).status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await matchedRows(id)).toEqual([1]);
  await loseParts(lost);
  await fix();
  await pipeline.runUntilIdle();
  expect(await matchedRows(id)).toEqual([1]);
  expect(await balance()).toBe(99);
});

test('decisions about rows of a lost list are those of the list that takes its place', async () => {
  const names = 'Name,Company\nIlka Quast,Nordlicht Optik\n';
  const options = { operation: 'people.enrich', match: 'likely' };
  const id = await pipeline.enrich(caller, names, options);
  await post(`${id}/decisions`, { decisions: [{ row: 1, id: 701 }] });
  await pipeline.runUntilIdle();
  await loseParts(id);
  const { findings } = await fix();
  await pipeline.runUntilIdle();
  const again = findings[0]?.rerun_id ?? '';
  expect(await matchedRows(again)).toEqual([1]);
  const second = await post(`${again}/decisions`, { decisions: [{ row: 1, id: 701 }] });
  expect(second.status).toBe(409);
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(99);
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

test.each([
  ['a candidate', 701, 98, [1, 2]],
  ['none of its candidates', null, 99, [2]],
])(
  'a row of a lost list that was decided as %s is not paid again when the list in its place would match it',
  async (_, decided, left, matched) => {
    const email = `ilka.${left}@list.example`;
    const names = `Name,Company,Email\nIlka Quast,Nordlicht Optik,${email}\n,,p2@list.example\n`;
    const options = { operation: 'people.enrich', match: 'likely' };
    const id = await pipeline.enrich(caller, names, options);
    await post(`${id}/decisions`, { decisions: [{ row: 1, id: decided }] });
    await pipeline.runUntilIdle();
    expect(await balance()).toBe(left);
    await importGraph(pipeline.sql, {
      persons: [{ id: 701, name: 'Ilka', surname: 'Quast', companyId: 10, email }],
    });
    await loseParts(id);
    const { findings } = await fix();
    await pipeline.runUntilIdle();
    expect(findings).toMatchObject([{ action: 'rerun', credits_refunded: 1 }]);
    expect(await matchedRows(findings[0]?.rerun_id ?? '')).toEqual(matched);
    expect(await balance()).toBe(left);
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  },
);

test('rows of a lost list whose decisions were cancelled before all were paid can be decided again', async () => {
  caller = await pipeline.unmeteredAccount(1);
  const names = `Name,Company\n${'Ilka Quast,Nordlicht Optik\n'.repeat(2)}`;
  const options = { operation: 'people.enrich', match: 'likely' };
  const id = await pipeline.enrich(caller, names, options);
  const decisions = [1, 2].map((row) => ({ row, id: 701 }));
  const made = await (await post(`${id}/decisions`, { decisions })).json();
  await pipeline.runUntilIdle();
  expect(await balance()).toBe(0);
  await post(`${(made as { id: string }).id}/cancel`);
  await pipeline.runUntilIdle();
  await loseParts(id);
  const { findings } = await fix();
  expect(findings).toMatchObject([{ action: 'rerun', credits_refunded: 1 }]);
  await pipeline.runUntilIdle();
  await pipeline.grant(caller, 1, 'more');
  const again = findings[0]?.rerun_id ?? '';
  expect((await post(`${again}/decisions`, { decisions })).status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await matchedRows(again)).toEqual([1, 2]);
  expect(await balance()).toBe(0);
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

test('a lost rerun is not run again when its rows were decided, also as none of their candidates', async () => {
  const names = 'Name,Company\nIlka Quast,Nordlicht Optik\n';
  const options = { operation: 'people.enrich', match: 'likely' };
  const id = await pipeline.enrich(caller, names, options);
  const lost = await rerun(id, { outcomes: ['ambiguous'] });
  await post(`${lost}/decisions`, { decisions: [{ row: 1, id: null }] });
  await pipeline.runUntilIdle();
  await loseParts(lost);
  expect((await fix()).findings).toMatchObject([{ batch_id: lost, action: 'refunded' }]);
  await pipeline.runUntilIdle();
  const results = await pipeline.call(caller, `/v1/batches/${id}/results?format=jsonl&reruns=true`);
  expect(JSON.parse(await results.text())).toMatchObject({ match: { reason: 'none_fits' } });
});
