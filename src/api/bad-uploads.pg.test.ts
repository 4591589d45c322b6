/** Uploads that no list can be made of: each is told apart by its problem document and leaves nothing. */
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { zipStream } from '../formats/xlsx/zip-stream.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

function post(body: Buffer | FormData, query = '?operation=people.enrich') {
  return pipeline.call(caller, `/v1/batches${query}`, {
    method: 'POST',
    ...(body instanceof FormData
      ? { body }
      : { body: new Uint8Array(body), headers: { 'Content-Type': 'text/csv' } }),
  });
}

function formOf(body: Buffer): FormData {
  const form = new FormData();
  form.append('operation', 'people.enrich');
  form.append('file', new Blob([new Uint8Array(body)]), 'leads.csv');
  return form;
}

describe('an upload that is refused', () => {
  afterEach(async () => {
    expect(await pipeline.objects()).toEqual([]);
    expect(await pipeline.sql`select id from batches`).toHaveLength(0);
    expect(pipeline.queues.history).toEqual([]);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 100, reserved: 0 });
  });

  const wide = Array.from({ length: 513 }, (_, index) => `c${index}`).join(',');
  const files: [what: string, file: string, line: number, wayOut: RegExp][] = [
    ['of 513 columns', `email,${wide}\na@b.example\n`, 1, /512/],
    ['of 513 columns below a sep line', `sep=,\nemail,${wide}\n`, 2, /512/],
    ['with a quote in its header that never closes', '"email,name\na@b.example,x\n', 1, /quote/],
    ['with a NUL in its header', 'em\0ail,name\na@b.example,x\n', 1, /NUL/],
    ['with a header of 1 MB', `email${'x'.repeat(1_000_000)}\na@b.example\n`, 1, /quotes/],
    ['with a delimiter of its own', 'sep=^\nemail^name\n', 1, /Use , ; \| or tab/],
    ['of nothing but blank lines', '\n\n\n', 1, /at least one row/],
  ];
  test.each(files)('%s: 422 with the line, raw, as gzip and in a form', async (_what, ...rest) => {
    const [file, line, wayOut] = rest;
    const unreadable = { status: 422, code: 'unreadable_csv' };
    const body = Buffer.from(file);
    for (const form of [body, gzipSync(body), formOf(body)]) {
      const problem = await expectProblem(await post(form), unreadable);
      expect(problem.errors[0]?.line).toBe(line);
      expect(problem.line).toBe(line);
      expect(problem.detail).toMatch(wayOut);
    }
  });

  const pictures: [what: string, bytes: Buffer][] = [
    ['an empty zip archive', Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1')],
    ['a PNG', Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1')],
    ['a JPEG', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF', 'latin1')],
    ['an old workbook', Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1')],
  ];
  test.each(pictures)('that is %s named .csv: 415 with a way out', async (_what, bytes) => {
    const unsupported = { status: 415, code: 'unsupported_media_type' };
    for (const form of [bytes, formOf(bytes)]) {
      const problem = await expectProblem(await post(form), unsupported);
      expect(problem.detail).toMatch(/\.csv|CSV|\.xlsx/);
    }
  });

  test.each([
    ['encoding', 'foo', '"foo" is not a known encoding.'],
    ['delimiter', 'x', '"x" is not supported.'],
  ])('with an unknown %s: 400 that names it once', async (option, value, words) => {
    const query = `?operation=people.enrich&${option}=${value}`;
    const response = await post(Buffer.from('email\na@b.example\n'), query);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toMatch(new RegExp(`^${option}: ${words}`));
  });

  test('that is a zip archive of a list: 415 with a way out', async () => {
    const pieces: Buffer[] = [];
    const member = { name: 'leads.csv', bytes: [Buffer.from('email\na@b.example\n')] };
    for await (const piece of zipStream([member])) pieces.push(piece);
    const unsupported = { status: 415, code: 'unsupported_media_type' };
    const problem = await expectProblem(await post(Buffer.concat(pieces)), unsupported);
    expect(problem.detail).toMatch(/zip/);
    expect(problem.detail).toMatch(/Unzip it, and upload the CSV/);
  });

  test('as gzip that grows a thousand times: 422 long before it is all there', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a@b.example\n'));
    expect(bomb.length * 500).toBeLessThan(64 * 1024 * 1024);
    for (const form of [bomb, formOf(bomb)]) {
      const problem = await expectProblem(await post(form), {
        status: 422,
        code: 'unreadable_csv',
      });
      expect(problem.detail).toMatch(/unzipped/);
    }
  });

  test('as gzip that is cut off: 422', async () => {
    const whole = gzipSync('email\na@b.example\n');
    const problem = await expectProblem(await post(whole.subarray(0, -6)), {
      status: 422,
      code: 'unreadable_csv',
    });
    expect(problem.detail).toMatch(/truncated/);
  });

  test.each(['before', 'after'])('with 10,000 form parts %s the file: 400', async (where) => {
    const part = (name: string, value: string, more = '') =>
      `--edge\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}\r\n`;
    const fields = Array.from({ length: 10_000 }, (_, index) => part(`f${index}`, 'x')).join('');
    const file = part('file', 'email\na@b.example', '; filename="a.csv"');
    const body = where === 'before' ? fields + file : file + fields;
    const response = await pipeline.call(caller, '/v1/batches?operation=people.enrich', {
      method: 'POST',
      headers: { 'Content-Type': 'multipart/form-data; boundary=edge' },
      body: `${body}--edge--\r\n`,
    });
    await expectProblem(response, { status: 400, code: 'invalid_parameter' });
  });

  test('with an option twice, or one of a megabyte: 400 that says which', async () => {
    const twice = formOf(Buffer.from('email\na@b.example\n'));
    twice.append('operation', 'people.mobile');
    const invalid = { status: 400, code: 'invalid_parameter' };
    expect((await expectProblem(await post(twice, ''), invalid)).detail).toContain('`operation`');
    const long = formOf(Buffer.from('email\na@b.example\n'));
    long.append('name', 'x'.repeat(1_000_000));
    expect((await expectProblem(await post(long, ''), invalid)).detail).toContain('`name`');
    const proto = formOf(Buffer.from('email\na@b.example\n'));
    proto.append('__proto__', 'x');
    const problem = await expectProblem(await post(proto, ''), invalid);
    expect(problem.errors[0]?.field).toBe('__proto__');
  });

  test.each([
    ['{"country":"country"}', 'unmapped', 422, /names no column for/],
    ['{}', 'unmapped', 422, /names no column for/],
    ['{"email":"E-Mail"}', 'invalid_parameter', 400, /email, country/],
    ['{"email":3}', 'invalid_parameter', 400, /from 1 to 2/],
  ])('because its mapping names no column: %s', async (mapping, code, status, wayOut) => {
    const query = new URLSearchParams({ operation: 'people.enrich', mapping });
    const body = Buffer.from('email,country\na@b.example,FR\n');
    const problem = await expectProblem(await post(body, `?${query}`), { status, code });
    expect(problem.errors[0]?.field).toBe('mapping');
    expect(problem.detail).toMatch(wayOut);
  });

  test('because the client hangs up behind the file and before the end of the form', async () => {
    const upload = request(`${pipeline.url}/v1/batches?operation=people.enrich`, {
      method: 'POST',
      headers: {
        'Content-Type': 'multipart/form-data; boundary=edge',
        'Content-Length': '100000',
        Authorization: `Bearer ${caller.key}`,
      },
    });
    upload.on('error', () => {});
    const disposition = 'Content-Disposition: form-data; name="file"; filename="a.csv"';
    upload.write(`--edge\r\n${disposition}\r\n\r\nemail\na@b.example\r\n--edge\r\n`);
    const isWhole = (key: string) => key.endsWith('/upload');
    await waitUntil(async () => (await pipeline.objects()).some(isWhole));
    upload.destroy();
    await waitUntil(async () => (await pipeline.objects()).length === 0);
  });
});

/** Returns once the condition holds; the test's own time limit ends the wait. */
async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

describe('a list that is found unreadable behind its beginning', () => {
  const rows = 'a@b.example\n'.repeat(8_000);
  test.each([
    ['a line of 3 MB', `email\n${rows}${'x'.repeat(3_000_000)}\n${rows}`, 8_002, /delimiter/],
    ['3 MB of blank lines', `email\n${rows}${'\n'.repeat(3_000_000)}${rows}`, 8_002, /blank/],
  ])('for %s fails with the line, uncharged', async (_what, list, line, wayOut) => {
    const response = await post(Buffer.from(list));
    const { id } = (await response.json()) as BatchView;
    await pipeline.runUntilIdle();
    const batch = await pipeline.batch(caller, id);
    expect(batch).toMatchObject({ state: 'failed', credits: { charged: 0, reserved: 0 } });
    expect(batch.error).toMatchObject({ code: 'unreadable_csv', status: 422, errors: [{ line }] });
    expect(String(batch.error?.detail)).toMatch(wayOut);
    // What was made on the way is gone with it.
    expect((await pipeline.objects()).filter((key) => !key.endsWith('/upload'))).toEqual([]);
    expect(await pipeline.results(caller, id)).toMatchObject({ complete: 'false' });
  });

  test('of more rows than a batch may hold says how many those are', async () => {
    const { context, queues } = pipeline;
    const response = await post(Buffer.from('email\na@b.example\nb@b.example\nc@b.example\n'));
    const { id } = (await response.json()) as BatchView;
    await queues.runUntilIdle({ ...context, config: { ...context.config, batchRowsMax: 2 } });
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'failed',
      error: { code: 'too_many_rows', status: 413, errors: [{ line: 4 }] },
    });
  });
});
