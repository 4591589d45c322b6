import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

const BYTES_MAX = 2_000_000;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ UPLOAD_BYTES_MAX: String(BYTES_MAX) });
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const list = 'email\np1@list.example\np2@list.example\n';

function post(
  body: NonNullable<RequestInit['body']>,
  contentType: string | null,
  query = '?operation=people.enrich',
) {
  const headers: Record<string, string> = contentType ? { 'Content-Type': contentType } : {};
  return pipeline.call(caller, `/v1/batches${query}`, { method: 'POST', headers, body });
}

async function accepted(response: Response): Promise<BatchView> {
  const text = await response.text();
  expect(response.status, text).toBe(202);
  const batch = JSON.parse(text) as BatchView;
  expect(response.headers.get('location')).toBe(`/v1/batches/${batch.id}`);
  return batch;
}

describe('an upload that is refused', () => {
  afterEach(async () => {
    expect(await pipeline.objects()).toEqual([]);
    const batches = await pipeline.sql`select id from batches`;
    expect(batches).toHaveLength(0);
    expect(pipeline.queues.history).toEqual([]);
  });

  test.each(['application/pdf', 'application/zip', 'image/png', 'multipart/mixed; boundary=x'])(
    'with content type %s: 415',
    async (contentType) => {
      const response = await post(list, contentType);
      await expectProblem(response, { status: 415, code: 'unsupported_media_type' });
    },
  );

  const bodies: [string, Buffer][] = [
    ['a zip archive', Buffer.concat([Buffer.from('PK\x05\x06'), Buffer.alloc(18)])],
    ['an old workbook', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 rest', 'latin1')],
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\nrest of the picture', 'latin1')],
    ['a PDF document', Buffer.from('%PDF-1.7\nrest', 'latin1')],
  ];
  test.each(bodies)('that is %s in truth: 415, raw and in a form', async (_what, body) => {
    const unsupported = { status: 415, code: 'unsupported_media_type' };
    await expectProblem(await post(new Uint8Array(body), 'text/csv'), unsupported);
    const form = new FormData();
    form.append('operation', 'people.enrich');
    form.append('file', new Blob([new Uint8Array(body)], { type: 'text/csv' }), 'leads.csv');
    await expectProblem(await post(form, null, ''), unsupported);
  });

  test.each([
    ['nothing at all', ''],
    ['a byte order mark', '\uFEFF'],
    ['blank lines', '\r\n\r\n\n'],
  ])('of %s: 422', async (_what, body) => {
    const response = await post(new Blob([body]), 'text/csv');
    const problem = await expectProblem(response, { status: 422, code: 'unreadable_csv' });
    expect(problem.errors[0]?.line).toBe(1);
  });

  test('without a column for the operation: 422, with the columns and a mapping to send', async () => {
    const response = await post('Colour,Size\nred,1\n', 'text/csv');
    const problem = await expectProblem(response, { status: 422, code: 'unmapped' });
    expect(problem.detail).toContain('Colour');
    expect(problem.detail).toMatch(/mapping=\{"\w+":/);
    expect(problem.errors[0]?.field).toBe('mapping');
  });

  test.each([
    ['operation', '?operation=people.guess'],
    ['operation', ''],
    ['mapping', '?operation=people.enrich&mapping={'],
    ['mapping', '?operation=people.enrich&mapping={"email":"No such column"}'],
    ['mapping', '?operation=people.enrich&mapping={"email":2}'],
    ['mapping', '?operation=people.enrich&mapping={"domain":1}'],
    ['mapping', '?operation=people.enrich&mapping=["email"]'],
    ['fields', '?operation=people.enrich&fields=shoe_size'],
    ['max_credits', '?operation=people.enrich&max_credits=-1'],
    ['max_credits', '?operation=people.enrich&max_credits=1.5'],
    ['default_region', '?operation=people.enrich&default_region=Atlantis'],
    ['colour', '?operation=people.enrich&colour=red'],
  ])('for its parameter %s: 400 that names it (%s)', async (field, query) => {
    const invalid = { status: 400, code: 'invalid_parameter' };
    const raw = await expectProblem(await post(list, 'text/csv', query), invalid);
    expect(raw.errors[0]?.field).toBe(field);
    const form = new FormData();
    for (const [name, value] of new URLSearchParams(query)) form.append(name, value);
    form.append('file', new Blob([list]), 'leads.csv');
    const inForm = await expectProblem(await post(form, null, ''), invalid);
    expect(inForm.errors[0]?.field).toBe(field);
  });

  test('larger than an upload may be: 413, raw, in a form and unzipped', async () => {
    const large = { status: 413, code: 'file_too_large' };
    const body = `email\n${'p1@list.example\n'.repeat(BYTES_MAX / 16)}`;
    await expectProblem(await post(body, 'text/csv'), large);
    const form = new FormData();
    form.append('file', new Blob([body]), 'leads.csv');
    form.append('operation', 'people.enrich');
    await expectProblem(await post(form, null, ''), large);
    const gzipped = new Uint8Array(gzipSync(body));
    const response = await post(gzipped, 'application/octet-stream');
    // Which of the two limits it meets first is not promised.
    expect([413, 422]).toContain(response.status);
    await response.text();
  });

  test('as a form without a file, with two files, or that is none: 400', async () => {
    const invalid = { status: 400, code: 'invalid_parameter' };
    const empty = new FormData();
    empty.append('operation', 'people.enrich');
    await expectProblem(await post(empty, null, ''), invalid);
    const wrongPart = new FormData();
    wrongPart.append('list', new Blob([list]), 'leads.csv');
    await expectProblem(await post(wrongPart, null, '?operation=people.enrich'), invalid);
    const two = new FormData();
    two.append('file', new Blob([list]), 'a.csv');
    two.append('file', new Blob([list]), 'b.csv');
    await expectProblem(await post(two, null, '?operation=people.enrich'), invalid);
    await expectProblem(await post(list, 'multipart/form-data'), invalid);
    await expectProblem(await post(list, 'multipart/form-data; boundary=x'), invalid);
  });

  test.each(['text/csv', 'multipart/form-data; boundary=edge'])(
    'because the client hangs up half way leaves nothing (%s)',
    async (contentType) => {
      const start = contentType.startsWith('multipart')
        ? '--edge\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'
        : '';
      const upload = request(`${pipeline.url}/v1/batches?operation=people.enrich`, {
        method: 'POST',
        headers: {
          'Content-Type': contentType,
          'Content-Length': '1000000',
          Authorization: `Bearer ${caller.key}`,
        },
      });
      upload.on('error', () => {});
      upload.write(`${start}${list.repeat(100)}`);
      await waitUntil(async () => (await pipeline.objects()).length === 1);
      upload.destroy();
      await waitUntil(async () => (await pipeline.objects()).length === 0);
    },
  );
});

/** Returns once the condition holds; the test's own time limit ends the wait. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('an upload that is accepted', () => {
  test.each(['text/csv', 'text/csv; charset=utf-8', 'text/plain', 'application/octet-stream'])(
    'as a bare body of type %s',
    async (contentType) => {
      const batch = await accepted(await post(list, contentType));
      expect(batch).toMatchObject({ state: 'created', operation: 'people.enrich' });
      await pipeline.runUntilIdle();
      expect(await pipeline.batch(caller, batch.id)).toMatchObject({
        state: 'completed',
        rows: { total: 2, matched: 2 },
      });
    },
  );

  test.each(['before', 'after', 'around'])(
    'as a form with its fields %s the file',
    async (where) => {
      const fields: [string, string][] = [
        ['operation', 'people.enrich'],
        ['name', 'From a form'],
        ['mapping', '{"email": "Contact"}'],
        ['max_credits', '1'],
      ];
      const after = { before: 0, after: fields.length, around: 2 }[where] ?? 0;
      const form = new FormData();
      for (const [name, value] of fields.slice(after)) form.append(name, value);
      form.append('file', new Blob([list.replace('email', 'Contact')]), 'leads.csv');
      for (const [name, value] of fields.slice(0, after)) form.append(name, value);
      const batch = await accepted(await post(form, null, ''));
      expect(batch).toMatchObject({
        name: 'From a form',
        mapping: { email: [{ column: 1, header: 'Contact' }] },
        credits: { max: 1 },
      });
      await pipeline.runUntilIdle();
      expect(await pipeline.batch(caller, batch.id)).toMatchObject({
        state: 'paused',
        reason: 'max_credits',
        rows: { matched: 1 },
      });
    },
  );

  test('is called as its file when it is given no name', async () => {
    const form = new FormData();
    form.append('operation', 'people.enrich');
    form.append('file', new Blob([list]), 'Lüneburg leads.csv');
    expect(await accepted(await post(form, null, ''))).toMatchObject({
      name: 'Lüneburg leads.csv',
    });
  });

  test('as gzip, by its bytes', async () => {
    const body = new Uint8Array(gzipSync(list));
    const batch = await accepted(await post(body, 'application/octet-stream'));
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, batch.id)).toMatchObject({ rows: { matched: 2 } });
  });
});

test('a file name that no text of the database can hold, or that turns its text, names the list without those characters', async () => {
  const disposition =
    'Content-Disposition: form-data; name="file"; filename="a\0\u0007\u202eb.csv"';
  const response = await pipeline.call(caller, '/v1/batches?operation=people.enrich&hold=true', {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=edge' },
    body: `--edge\r\n${disposition}\r\n\r\nemail\na@b.example\n\r\n--edge--\r\n`,
  });
  const list = (await response.json()) as { id: string; name: string };
  expect(list).toMatchObject({ name: 'ab.csv' });
});
