/** Results that do not fit into a workbook. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  const wordy = { id: 1, email: 'wordy@home.example', summary: 'é'.repeat(40_000) };
  await importGraph(pipeline.sql, { persons: [wordy, ...crowd(4)] });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const list = (note: string) =>
  `email,note\np1@list.example,a\np2@list.example,b\np3@list.example,${note}\n`;
const options = { operation: 'people.enrich', fields: 'id' };
const refused = { status: 422, code: 'not_as_xlsx' };

const results = (id: string, format: string, kind = 'batches') =>
  pipeline.call(caller, `/v1/${kind}/${id}/results?format=${format}`);

test('a list’s cell that is too long is reported before any charge, and refused before the headers', async () => {
  const id = await pipeline.upload(caller, list('x'.repeat(32_768)), { ...options, hold: 'true' });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'ready',
    credits: { charged: 0 },
    not_as_xlsx: 'a cell has more than 32767 characters',
  });
  await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
  await pipeline.runUntilIdle();
  const problem = await expectProblem(await results(id, 'xlsx'), refused);
  expect(problem.detail).toMatch(/cell B4 has more than 32767 characters.*format=csv/);
  for (const format of ['csv', 'csv-safe', 'jsonl']) {
    const answer = await results(id, format);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('x'.repeat(32_768));
  }
});

test('long rows of cells that each fit make a workbook, and so does the longest cell', async () => {
  for (const note of ['x'.repeat(32_767), 'é'.repeat(20_000)]) {
    const id = await pipeline.enrich(caller, list(note), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({ not_as_xlsx: null });
    const answer = await results(id, 'xlsx');
    expect(answer.status).toBe(200);
    const bytes = Buffer.from(await answer.arrayBuffer());
    // The end of a zip archive's directory: the file is complete.
    expect(bytes.readUInt32LE(bytes.length - 22)).toBe(0x0605_4b50);
  }
});

test('a long cell of a record is refused before the headers, in lists and exports', async () => {
  const wordy = await pipeline.enrich(caller, 'email\nwordy@home.example\n', {
    operation: 'people.enrich',
    fields: 'id,summary',
  });
  const exported = await pipeline.makeExport(caller, { filter: 'id=1', fields: ['id', 'summary'] });
  await pipeline.runUntilIdle();
  for (const [id, kind] of [
    [wordy, 'batches'],
    [exported, 'exports'],
  ] as const) {
    await expectProblem(await results(id, 'xlsx', kind), refused);
    expect((await results(id, 'csv', kind)).status).toBe(200);
  }
});
