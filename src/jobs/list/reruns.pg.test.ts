/** A rerun keeps the row numbers of the first list, and its answers come back in one file with the others. */
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from '../batch/batch-view.ts';
import { markStore } from '../batch/own-store.ts';

let pipeline: Pipeline;
let caller: Caller;
let nextId = 5000;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, { persons: crowd(4) });
  caller = await pipeline.unmeteredAccount(1000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };

const send = (path: string, body?: object) =>
  pipeline.call(caller, `/v1/batches/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function rerun(id: string, body: object): Promise<BatchView> {
  const response = await send(`${id}/rerun`, { outcomes: ['no_match'], ...body });
  expect(response.status).toBe(202);
  const made = (await response.json()) as BatchView;
  await pipeline.runUntilIdle();
  return made;
}

/** A list of known people at odd rows and of others at even ones, who become known as `learn` is called. */
function listOf(name: string): string {
  const rows = [1, 2, 3, 4].map((n) => `a,p${n}@list.example\n\nb,"${name}${n}@list.example"\n`);
  return `who,email\n${rows.join('')}`;
}

const learn = (...emails: string[]) =>
  importGraph(pipeline.sql, {
    persons: emails.map((email) => ({ id: nextId++, email: `${email}@list.example` })),
  });

async function rowsOf(id: string, query: string): Promise<[number, string][]> {
  const text = await (await send(`${id}/results?format=jsonl&${query}`)).text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { row: number; match: { status: string } })
    .map(({ row, match }) => [row, match.status]);
}

test('a rerun has the row numbers of the list that was uploaded, also a rerun of a rerun', async () => {
  const id = await pipeline.enrich(caller, listOf('one'), options);
  await learn('one1');
  const first = await rerun(id, {});
  expect(first).toMatchObject({ rerun_of: id, name: 'list.csv (again)' });
  expect(await rowsOf(first.id, '')).toEqual([
    [2, 'matched'],
    [4, 'no_match'],
    [6, 'no_match'],
    [8, 'no_match'],
  ]);
  await learn('one3');
  const second = await rerun(first.id, {});
  expect(await rowsOf(second.id, '')).toEqual([
    [4, 'no_match'],
    [6, 'matched'],
    [8, 'no_match'],
  ]);
  const { data } = (await (await pipeline.call(caller, `/v1/batches?rerun_of=${id}`)).json()) as {
    data: BatchView[];
  };
  expect(data.map((list) => list.id)).toEqual([first.id]);
  const merged = [1, 2, 3, 4, 5, 6, 7, 8].map((row) => [
    row,
    row % 2 === 1 || row === 2 || row === 6 ? 'matched' : 'no_match',
  ]);
  expect(await rowsOf(id, 'reruns=true')).toEqual(merged);
  // Without it the list is as it was.
  expect((await rowsOf(id, '')).filter(([, status]) => status === 'matched')).toHaveLength(4);
});

test.each([
  ['is Excel’s first line', 'sep=;'],
  ['begins with a byte order mark', '\ufeff'],
])('a first row that %s keeps its number, and so do the rows after it', async (_, text) => {
  const list = `p1@list.example\n${text}\nseven1@list.example\nseven2@list.example\n`;
  const mapping = JSON.stringify({ email: 1 });
  const id = await pipeline.enrich(caller, list, { ...options, header: 'false', mapping });
  await learn('seven2');
  const made = await rerun(id, { outcomes: ['no_match', 'invalid'] });
  expect(await rowsOf(made.id, '')).toEqual([
    [2, 'invalid'],
    [3, 'no_match'],
    [4, 'matched'],
  ]);
  expect(await rowsOf(id, 'reruns=true')).toEqual([
    [1, 'matched'],
    [2, 'invalid'],
    [3, 'no_match'],
    [4, 'matched'],
  ]);
  await pipeline.sql`delete from graph.person_identifiers where value = 'seven2@list.example'`;
});

test('a header that is Excel’s first line stays the header', async () => {
  const list = 'Contacts\nsep=;\neight1@list.example\np1@list.example\neight2@list.example\n';
  const mapping = JSON.stringify({ email: 1 });
  const id = await pipeline.enrich(caller, list, { ...options, header_row: '2', mapping });
  const made = await rerun(id, {});
  expect(await rowsOf(made.id, '')).toEqual([
    [1, 'no_match'],
    [3, 'no_match'],
  ]);
});

test('the merged file has every row in its place, in every format, with the columns of the list', async () => {
  const id = await pipeline.enrich(caller, listOf('two'), options);
  await learn('two1', 'two4');
  const held = await rerun(id, { hold: true });
  const patched = await pipeline.call(caller, `/v1/batches/${held.id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ fields: ['email', 'id'] }),
  });
  expect(patched.status).toBe(200);
  await send(`${held.id}/start`, {});
  await pipeline.runUntilIdle();
  const plain = await (await send(`${id}/results?format=csv`)).text();
  const text = await (await send(`${id}/results?format=csv&reruns=true`)).text();
  const expected = plain.split('\n').map((line) => {
    const [, number] = /^b,"two([14])@/.exec(line) ?? [];
    if (number === undefined) return line;
    const person = nextId - (number === '1' ? 2 : 1);
    return `b,"two${number}@list.example",matched,email,,false,1,${person}`;
  });
  expect(text.split('\n')).toEqual(expected);
  const records = parse(text, { columns: true, skip_empty_lines: true }) as object[];
  expect(records).toHaveLength(8);
  for (const format of ['csv-safe', 'xlsx']) {
    const response = await send(`${id}/results?format=${format}&reruns=true`);
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  }
});

test('the merged file is refused before its first byte when an answer cannot be read', async () => {
  const id = await pipeline.enrich(caller, listOf('six'), options);
  await learn('six1');
  const again = await rerun(id, {});
  const [part] = await pipeline.sql<{ objectKey: string }[]>`
    select object_key from parts where batch_id = ${again.id} order by chunk_number limit 1`;
  const { store } = pipeline.context;
  const key = part?.objectKey ?? '';
  const bytes = await store.get(key, { from: 0, to: (await store.head(key)) ?? 0 });
  await store.put(key, [bytes.subarray(1)]);
  for (const form of ['csv', 'csv-safe', 'jsonl', 'xlsx', 'csv&gzip=true']) {
    const response = await send(`${id}/results?format=${form}&reruns=true`);
    await expectProblem(response, { status: 500, code: 'object_damaged' });
  }
  expect((await send(`${id}/results?format=csv`)).status).toBe(200);
  await store.put(key, [bytes]);
});

test('a row that a rerun has matched is not run and charged again', async () => {
  const id = await pipeline.enrich(caller, listOf('three'), options);
  await learn('three1');
  await rerun(id, {});
  const again = await rerun(id, {});
  expect(await rowsOf(again.id, '')).toEqual([
    [4, 'no_match'],
    [6, 'no_match'],
    [8, 'no_match'],
  ]);
});

test('a row that a later rerun of the list has matched is not charged again by a rerun of an earlier one', async () => {
  const id = await pipeline.enrich(caller, listOf('five'), options);
  const first = await rerun(id, {});
  await learn('five1');
  await rerun(id, {});
  const answers = [4, 6, 8].map((row) => [row, 'no_match']);
  expect(await rowsOf(first.id, 'reruns=true')).toEqual([[2, 'matched'], ...answers]);
  const again = await rerun(first.id, {});
  expect(await rowsOf(again.id, '')).toEqual(answers);
});

describe('when the clock was set back after the first of two reruns, a row that the second has matched', () => {
  const setBackAfter = (id: string) =>
    pipeline.sql`update batches set created_at = now() + interval '1 day' where id = ${id}`;
  const answers = [4, 6, 8].map((row) => [row, 'no_match']);

  test('is not charged again by a rerun of the first, which the second is a rerun of', async () => {
    const id = await pipeline.enrich(caller, listOf('six'), options);
    const first = await rerun(id, {});
    await setBackAfter(first.id);
    await learn('six1');
    await rerun(first.id, {});
    const again = await rerun(first.id, {});
    expect(await rowsOf(again.id, '')).toEqual(answers);
  });

  test('is not charged again by a rerun of the first or of the list, which both are reruns of', async () => {
    const id = await pipeline.enrich(caller, listOf('eight'), options);
    const first = await rerun(id, {});
    await setBackAfter(first.id);
    await learn('eight1');
    await rerun(id, {});
    const matched = (await rowsOf(id, 'reruns=true')).filter(([, status]) => status === 'matched');
    expect(matched.map(([row]) => row)).toEqual([1, 2, 3, 5, 7]);
    expect(await rowsOf((await rerun(first.id, {})).id, '')).toEqual(answers);
    expect(await rowsOf((await rerun(id, {})).id, '')).toEqual(answers);
  });
});

test('a row that a rerun has matched before it failed is not charged again', async () => {
  const id = await pipeline.enrich(caller, listOf('nine'), options);
  await learn('nine1', 'nine2');
  const failed = await rerun(id, { hold: true });
  const cap = (credits: number | null) =>
    pipeline.call(caller, `/v1/batches/${failed.id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ max_credits: credits }),
    });
  await cap(1);
  await send(`${failed.id}/start`, {});
  await pipeline.runUntilIdle();
  const [list] = await pipeline.sql<{ key: string }[]>`
    select canonical_key as key from batches where id = ${failed.id}`;
  await pipeline.context.store.put(must(list, 'rerun').key, [Buffer.from('damaged')]);
  await markStore(pipeline.context);
  await cap(null);
  await pipeline.runForAnHour();
  expect(await pipeline.batch(caller, failed.id)).toMatchObject({
    state: 'failed',
    credits: { charged: 1 },
  });
  expect((await rowsOf(id, 'reruns=true'))[1]).toEqual([2, 'matched']);
  const again = await rerun(id, {});
  expect(await rowsOf(again.id, '')).toEqual([
    [4, 'matched'],
    [6, 'no_match'],
    [8, 'no_match'],
  ]);
});

test('of a list and its reruns, one rerun is open at a time', async () => {
  const id = await pipeline.enrich(caller, listOf('four'), options);
  const done = await rerun(id, {});
  const open = await rerun(id, { hold: true });
  const before = await pipeline.objects();
  for (const list of [id, done.id]) {
    const refused = await send(`${list}/rerun`, { outcomes: ['no_match'] });
    const problem = await expectProblem(refused, { status: 409, code: 'invalid_state' });
    expect(problem.detail).toContain(open.id);
  }
  expect(await pipeline.objects()).toEqual(before);
  await send(`${open.id}/cancel`, {});
  await pipeline.runUntilIdle();
  await rerun(id, {});
  // A cancelled rerun answers no row: the list's own outcome stays.
  expect(new Set((await rowsOf(id, 'reruns=true')).map(([, status]) => status))).toEqual(
    new Set(['matched', 'no_match']),
  );
});

test('results can be searched by any text of a row', async () => {
  const id = await pipeline.enrich(caller, listOf('Fünf'), options);
  expect(await rowsOf(id, 'search=funf3%40LIST')).toEqual([[6, 'no_match']]);
  expect(await rowsOf(id, 'search=p2&outcomes=matched')).toEqual([[3, 'matched']]);
  const named = await send(`${id}/results?format=csv-safe&search=p2&outcomes=matched`);
  expect(named.headers.get('content-disposition')).toMatch(
    /list people enriched \d{4}-\d\d-\d\d \(matched, search\)\.csv/,
  );
});
