/** Lists whose header is not in the first row, or whose rows are not on the first sheet. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { Signal } from '../../tests/support/signal.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { sheetOf, workbookParts, zipOf } from '../formats/xlsx/xlsx-fixtures.test-suite.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(5) });
  caller = await pipeline.unmeteredAccount(1000);
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
const titled = 'Lead list, Q3 2026\n\nName,Email,Score\nAda,p1@list.example,5\nBob,none,6\n';

const row = (...cells: string[]) =>
  `<row>${cells.map((cell) => `<c t="inlineStr"><is><t>${cell}</t></is></c>`).join('')}</row>`;

/** A workbook whose leads are on the second sheet; the first is a cover. */
function twoSheets(cover: string, leads: string): Promise<Buffer> {
  const sheets =
    '<sheet name="Cover" sheetId="1" r:id="rId1"/><sheet name="My leads" sheetId="2" r:id="rId2"/>';
  const parts = { 'xl/worksheets/sheet2.xml': sheetOf(leads) };
  return zipOf(workbookParts({ rows: cover, sheets, parts }));
}

async function resultOf(id: string, query = ''): Promise<string> {
  const response = await pipeline.call(caller, `/v1/batches/${id}/results${query}`);
  expect(response.status).toBe(200);
  return response.text();
}

const batchOf = (id: string): Promise<BatchView> => pipeline.batch(caller, id);

async function read(id: string, what: 'preview' | 'report'): Promise<unknown> {
  return (await pipeline.call(caller, `/v1/batches/${id}/${what}`)).json();
}

function send(list: string | Buffer, query: Record<string, string>): Promise<Response> {
  return pipeline.call(caller, `/v1/batches?${new URLSearchParams(query)}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/octet-stream' },
    body: new Uint8Array(Buffer.from(list)),
  });
}

function patch(id: string, change: object): Promise<Response> {
  return pipeline.call(caller, `/v1/batches/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(change),
  });
}

/** Changes a held list, lets it be read again, and returns it. */
async function reread(id: string, change: object): Promise<BatchView> {
  const response = await patch(id, change);
  const after = (await response.json()) as BatchView;
  expect(after).toMatchObject({ state: 'validating', rows: { total: null }, quote: null });
  await pipeline.runUntilIdle();
  return batchOf(id);
}

describe('rows above the header', () => {
  test('are no rows: the result begins with the header, and lines are those of the file', async () => {
    const id = await pipeline.enrich(caller, titled, options);
    expect((await batchOf(id)).dialect).toMatchObject({
      header_row: 3,
      titles: ['Lead list, Q3 2026'],
      header: ['Name', 'Email', 'Score'],
      doubts: ['header'],
    });
    const [header, first] = (await resultOf(id)).split('\n');
    expect(header).toMatch(/^Name,Email,Score,match\.status,/);
    expect(first).toMatch(/^Ada,p1@list\.example,5,matched,email,/);
    const report = await read(id, 'report');
    expect(report).toMatchObject({ rows: 2, unusable: { no_identifier: { rows: 1, lines: [5] } } });
  });

  test('may hold what no JSON of the database can: a NUL, a letter that is cut in two', async () => {
    const text = `Q3\0\n${'x'.repeat(199)}\u{1f600}\nEmail,Name\np1@list.example,Ada\n`;
    const id = await pipeline.enrich(caller, text, { ...options, header_row: '3' });
    expect(await batchOf(id)).toMatchObject({
      dialect: { titles: ['Q3\ufffd', `${'x'.repeat(199)}\ufffd`] },
      rows: { matched: 1 },
    });
  });

  test('are found by `header_row` where nothing tells them', async () => {
    const text = 'Email\n1,2\np1@list.example,x\n';
    const id = await pipeline.enrich(caller, text, {
      ...options,
      header_row: '2',
      mapping: '{"email":1}',
    });
    expect(await batchOf(id)).toMatchObject({
      dialect: { header: ['1', '2'] },
      rows: { matched: 1 },
    });
  });

  test('are rows of a held list after header_row 0, and back', async () => {
    const id = await pipeline.enrich(caller, titled, { ...options, hold: 'true' });
    const preview = await read(id, 'preview');
    expect(preview).toMatchObject({
      first_lines: [
        { row: 1, text: 'Lead list, Q3 2026' },
        { row: 3, text: 'Name,Email,Score' },
        { row: 4, text: 'Ada,p1@list.example,5' },
        { row: 5, text: 'Bob,none,6' },
      ],
    });
    const plain = await reread(id, { header_row: 0, mapping: { email: 2 } });
    expect(plain).toMatchObject({
      state: 'ready',
      rows: { total: 4 },
      dialect: { header_row: 0, titles: [] },
    });
    const again = await reread(id, { header_row: 3 });
    expect(again).toMatchObject({
      rows: { total: 2 },
      dialect: { header_row: 3 },
      mapping: { email: [{ column: 2, header: 'Email' }] },
    });
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await batchOf(id)).toMatchObject({ state: 'completed', rows: { total: 2, matched: 1 } });
  });

  test('leave a held list as it was when it cannot be read like that', async () => {
    const id = await pipeline.enrich(caller, titled, { ...options, hold: 'true' });
    const before = await batchOf(id);
    await expectProblem(await patch(id, { header_row: 77 }), {
      status: 400,
      code: 'invalid_parameter',
    });
    await expectProblem(await patch(id, { header_row: 5 }), {
      status: 422,
      code: 'unreadable_csv',
    });
    await expectProblem(await patch(id, { sheet: 'Two' }), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(await batchOf(id)).toEqual(before);
  });

  test('a list in another encoding is read again without another upload', async () => {
    const russian = Buffer.from([0xc8, 0xe2, 0xe0, 0xed]);
    const text = Buffer.concat([
      Buffer.from('Name,Email\n'),
      russian,
      Buffer.from(',p1@list.example\n'),
    ]);
    const id = await pipeline.enrich(caller, text, {
      ...options,
      hold: 'true',
      encoding: 'latin1',
    });
    const keys = await pipeline.objects();
    const after = await reread(id, { encoding: 'windows-1251' });
    expect(after.dialect.encoding).toBe('windows-1251');
    expect(await pipeline.objects()).toHaveLength(keys.length);
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await resultOf(id)).toContain('\nИван,p1@list.example,matched,');
  });

  test('only a held list is read again', async () => {
    const id = await pipeline.enrich(caller, titled, options);
    await expectProblem(await patch(id, { header_row: 1 }), { status: 409, code: 'invalid_state' });
  });

  test('a split that began before the list was read again changes nothing', async () => {
    const id = await pipeline.enrich(caller, titled, { ...options, hold: 'true' });
    const { findBatch } = await import('../jobs/batch/batches.sql.ts');
    const { splitList } = await import('../jobs/list/split-list.ts');
    const before = await findBatch(pipeline.sql, id);
    expect((await patch(id, { header_row: 0, mapping: { email: 2 } })).status).toBe(200);
    if (before?.kind !== 'list') throw new Error('no list');
    await splitList(pipeline.context, { ...before, state: 'validating' });
    expect(await batchOf(id)).toMatchObject({ state: 'validating', rows: { total: null } });
    await pipeline.runUntilIdle();
    expect(await batchOf(id)).toMatchObject({ state: 'ready', rows: { total: 4 } });
  });
});

describe('lines below the table', () => {
  test('are invalid rows with their own reason, and come back in their place', async () => {
    const footer =
      '"Copyright (c) 2000-2026 salesforce.com, inc. All rights reserved."\nConfidential Information - Do Not Distribute\n';
    const id = await pipeline.enrich(
      caller,
      `Name,Email,Of\nAda,p1@list.example,x\n\n${footer}`,
      options,
    );
    expect(await batchOf(id)).toMatchObject({ rows: { total: 3, matched: 1, invalid: 2 } });
    const report = await read(id, 'report');
    expect(report).toMatchObject({ unusable: { footer: { rows: 2, lines: [4, 5] } } });
    expect(await resultOf(id)).toContain('reserved.",,,invalid,,footer,');
  });
});

describe('a workbook', () => {
  const leads = row('Q3 leads') + row('Name', 'Email') + row('Ada', 'p1@list.example');

  test('with a cover is read from the sheet with the leads, below their title', async () => {
    const book = await twoSheets(row('Leads of Q3') + row('By', 'Sales'), leads);
    const id = await pipeline.enrich(caller, book, options);
    expect(await batchOf(id)).toMatchObject({
      rows: { total: 1, matched: 1 },
      dialect: {
        sheet: 'My leads',
        sheets: ['Cover', 'My leads'],
        header_row: 2,
        doubts: ['header', 'sheet'],
      },
    });
  });

  test('gives another sheet to a held list, by name or number', async () => {
    const other = row('Email') + row('p2@list.example') + row('p3@list.example');
    const id = await pipeline.enrich(caller, await twoSheets(other, leads), {
      ...options,
      hold: 'true',
    });
    expect((await batchOf(id)).dialect).toMatchObject({ sheet: 'Cover', doubts: ['sheet'] });
    const stored = (await pipeline.objects()).length;
    const second = await reread(id, { sheet: 'my LEADS' });
    expect(second).toMatchObject({
      rows: { total: 1 },
      dialect: { sheet: 'My leads', header_row: 2 },
    });
    const first = await reread(id, { sheet: '1' });
    expect(first).toMatchObject({ rows: { total: 2 }, dialect: { sheet: 'Cover' } });
    expect(await pipeline.objects()).toHaveLength(stored);
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await batchOf(id)).toMatchObject({ state: 'completed', rows: { matched: 2 } });
  });

  test('keeps the sheet that it was given while another change of it was read', async () => {
    const other = row('Email') + row('p2@list.example') + row('p3@list.example');
    const book = await twoSheets(other, leads);
    const id = await pipeline.enrich(caller, book, { ...options, hold: 'true' });
    const begun = new Signal();
    const goOn = new Signal();
    const { store } = pipeline.context;
    const read = store.get;
    vi.spyOn(store, 'get').mockImplementationOnce(async (...given) => {
      const bytes = await read(...given);
      begun.raise();
      await goOn.raised;
      return bytes;
    });
    const late = patch(id, { header_row: 0 });
    await begun.raised;
    await reread(id, { sheet: 'My leads' });
    goOn.raise();
    const problem = await expectProblem(await late, { status: 409, code: 'invalid_state' });
    expect(problem.detail).toMatch(/in another way meanwhile/);
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await batchOf(id)).toMatchObject({ state: 'completed', rows: { total: 1 } });
  });

  test('is read from the sheet that the upload names, and the message lists them', async () => {
    const other = row('Email') + row('p2@list.example');
    const book = await twoSheets(other, leads);
    const id = await pipeline.enrich(caller, book, { ...options, sheet: '2' });
    expect((await batchOf(id)).dialect).toMatchObject({ sheet: 'My leads', doubts: ['header'] });
    const kept = await pipeline.objects();
    const refused = await send(book, { ...options, sheet: 'Third' });
    const problem = await expectProblem(refused, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toMatch(/"Third" is not a visible sheet.*1 "Cover", 2 "My leads"/);
    expect(await pipeline.objects()).toEqual(kept);
  });
});

describe('a list that cannot be read', () => {
  test('is refused with the other ways to read it', async () => {
    const book = await twoSheets(row('Notes', 'Of') + row('a', 'b'), row('Things') + row('x'));
    const problem = await expectProblem(await send(book, options), {
      status: 422,
      code: 'unmapped',
    });
    expect(problem.detail).toMatch(
      /Row 1 was read as the header.*header_row.*2 "My leads".*sheet=/,
    );
    expect(problem).toMatchObject({ first_lines: [{ row: 1, text: 'Notes,Of' }, { row: 2 }] });
  });

  test('with a header and no rows is refused, and nothing is kept', async () => {
    const kept = await pipeline.objects();
    const problem = await expectProblem(await send('Name,Email\n', options), {
      status: 422,
      code: 'unreadable_csv',
    });
    expect(problem.detail).toMatch(/a header and no rows/);
    expect(await pipeline.objects()).toEqual(kept);
  });

  test('has columns beyond its header, which can be mapped', async () => {
    const text = 'Leads of Q3\n1,p1@list.example\n2,p2@list.example\n';
    const id = await pipeline.enrich(caller, text, options);
    expect(await batchOf(id)).toMatchObject({ rows: { matched: 2 } });
  });

  test('says that header and header_row are two words for one thing', async () => {
    const both = { ...options, header: 'true', header_row: '2' };
    const problem = await expectProblem(await send(titled, both), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(problem.detail).toMatch(/header_row or header, not both/);
  });
});
