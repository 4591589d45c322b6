/** Range requests for results (RFC 9110, section 14), and HEAD. */
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { exchange } from '../../tests/support/raw-http.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { suppress } from '../core/suppression/suppress.ts';
import { redactAllResults } from '../jobs/result/redact-results.ts';
import { holdConversion } from './http/open-responses.ts';

const people = crowd(8);
const list = `email,note\n${people.map(({ email }) => `${email},"a\nb ü"\n`).join('')}`;

let pipeline: Pipeline;
let caller: Caller;
let path: string;
let whole: Buffer;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  await importGraph(pipeline.sql, { persons: people });
  caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields: 'id,name' });
  path = `/v1/batches/${id}/results`;
  whole = Buffer.from(await (await pipeline.call(caller, path)).arrayBuffer());
});
afterAll(() => pipeline.close());

const ask = (headers: Record<string, string>, method = 'GET', query = '') =>
  pipeline.call(caller, `${path}${query}`, { method, headers });

describe('a range', () => {
  test('has exactly its bytes, wherever parts end', async () => {
    const position = fc.integer({ min: 0, max: whole.length + 20 });
    await fc.assert(
      fc.asyncProperty(position, position, async (one, other) => {
        const [start, end] = [Math.min(one, other), Math.max(one, other)];
        const response = await ask({ Range: `bytes=${start}-${end}` });
        const bytes = Buffer.from(await response.arrayBuffer());
        if (start >= whole.length) {
          expect(response.status).toBe(416);
          return;
        }
        const last = Math.min(end, whole.length - 1);
        expect(response.status).toBe(206);
        expect(response.headers.get('content-range')).toBe(
          `bytes ${start}-${last}/${whole.length}`,
        );
        expect(bytes.equals(whole.subarray(start, end + 1))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  test('sends nothing after its last byte, however long the part goes on', async () => {
    const rows = people.map(({ email }) => `${email},${'n'.repeat(70_000)}\n`);
    const id = await pipeline.enrich(caller, `email,note\n${rows.join('')}`, {
      operation: 'people.enrich',
      fields: 'id',
    });
    const results = `/v1/batches/${id}/results`;
    const file = await (await pipeline.call(caller, results)).text();
    for (const [start, end] of [
      [0, 99],
      [1_000, 1_010],
      [1_000, 66_000],
      [150_000, 150_000],
      [150_000, file.length - 50_000],
    ] as const) {
      // A client of HTTP does not show what comes after the announced length: it is the beginning of the next response.
      const received = await exchange(
        Number(new URL(pipeline.url).port),
        `GET ${results} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${caller.key}\r\n` +
          `Range: bytes=${start}-${end}\r\n\r\n`,
      );
      expect(received.status).toBe(206);
      expect(received.headers).toContain(`Content-Length: ${end - start + 1}\r\n`);
      expect(received.body === file.slice(start, end + 1), `${start}-${end}`).toBe(true);
    }
  });

  test('of the last bytes needs no length', async () => {
    const response = await ask({ Range: 'bytes=-10' });
    expect(response.status).toBe(206);
    expect(Buffer.from(await response.arrayBuffer()).equals(whole.subarray(-10))).toBe(true);
  });

  test('of more last bytes than there are is the whole file', async () => {
    const response = await ask({ Range: `bytes=-${whole.length + 1}` });
    expect(response.status).toBe(200);
    expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
  });

  test('beyond the end is refused, and the length is told', async () => {
    const response = await ask({ Range: `bytes=${whole.length}-` });
    expect(response.headers.get('content-range')).toBe(`bytes */${whole.length}`);
    await expectProblem(response, { status: 416, code: 'range_not_satisfiable' });
  });

  test.each(['lines=1-2', 'bytes=0-1,4-5', 'x'])(
    'that is written as %s is ignored',
    async (range) => {
      const response = await ask({ Range: range });
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(whole)).toBe(true);
    },
  );

  test('of a converted file is ignored: its length is not known', async () => {
    const response = await ask({ Range: 'bytes=0-9' }, 'GET', '?format=jsonl');
    expect(response.status).toBe(200);
    expect(response.headers.get('accept-ranges')).toBeNull();
    expect((await response.text()).split('\n')).toHaveLength(people.length + 1);
  });

  test('resumes a download only of the same bytes', async () => {
    const tag = (await ask({}, 'HEAD')).headers.get('etag') ?? '';
    const resume = { Range: 'bytes=100-', 'If-Range': tag };
    const before = await ask(resume);
    expect(before.status).toBe(206);
    await before.arrayBuffer();
    await suppress(pipeline.sql, String(people[0]?.email));
    const after = await ask(resume);
    expect(after.status).toBe(200);
    expect(after.headers.get('etag')).not.toBe(tag);
    expect(await after.text()).not.toContain('P1');
    whole = Buffer.from(await (await ask({})).arrayBuffer());
  });
});

test('HEAD has the headers of GET, no body, and costs nothing', async () => {
  const head = await ask({}, 'HEAD');
  const get = await ask({});
  expect(await head.text()).toBe('');
  expect(head.status).toBe(200);
  for (const name of ['content-length', 'content-type', 'content-disposition', 'etag']) {
    expect(head.headers.get(name)).toBe(get.headers.get(name));
  }
  expect(head.headers.get('content-length')).toBe(String(whole.length));
});

describe('an opt-out during a download', () => {
  /** Downloads a new list; before its second part is read, a person of that part opts out. */
  async function downloadAround(email: string, fields: string, last: number): Promise<void> {
    const id = await pipeline.enrich(caller, list, { operation: 'people.enrich', fields });
    const results = `/v1/batches/${id}/results`;
    const head = await pipeline.call(caller, results, { method: 'HEAD' });
    const end = Number(head.headers.get('content-length')) + last;
    let gets = 0;
    pipeline.faults.get = async () => {
      if (++gets !== 2) return;
      delete pipeline.faults.get;
      await suppress(pipeline.sql, email);
      expect(await redactAllResults(pipeline.context)).toBeGreaterThan(0);
    };
    const response = await pipeline.call(caller, results, {
      headers: { Range: `bytes=0-${end}` },
    });
    await expect(response.arrayBuffer()).rejects.toThrow();
    const again = await (await pipeline.call(caller, results)).text();
    expect(again).toContain(`${email},"a\nb ü",suppressed`);
    expect(again.endsWith('\n')).toBe(true);
  }

  test('ends it: of a row that became longer the end of the file would be missing', async () => {
    await downloadAround('p5@list.example', 'id', -1);
  });

  test('ends a range: after a row that became shorter its bytes would be others', async () => {
    await downloadAround('p4@list.example', 'id,name,email', -20);
  });
});

test('downloads that are converted or compressed have fewer places than plain ones, because each holds more', async () => {
  const open = Array.from({ length: 8 }, () => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    holdConversion(caller.accountId, response as never);
    return response;
  });
  const forms = ['gzip=true', 'format=xlsx', 'format=jsonl', 'outcomes=matched', 'search=a'];
  for (const form of forms) {
    const refused = await ask({}, 'GET', `?${form}`);
    await expectProblem(refused, { status: 429, code: 'rate_limited' });
  }
  expect((await ask({})).status).toBe(200);
  for (const response of open) response.emit('close');
  for (const form of forms) expect((await ask({}, 'GET', `?${form}`)).status).toBe(200);
});

test('a method that a path does not take is refused with those that it takes', async () => {
  const posted = await ask({}, 'POST');
  expect(posted.headers.get('allow')).toBe('GET, HEAD');
  await expectProblem(posted, { status: 405, code: 'method_not_allowed' });
  const put = await pipeline.call(caller, '/v1/batches', { method: 'PUT' });
  expect(put.headers.get('allow')).toBe('POST, GET');
  await expectProblem(put, { status: 405, code: 'method_not_allowed' });
  const asked = await pipeline.call(caller, '/v1/me', { method: 'OPTIONS' });
  expect(asked.headers.get('allow')).toBe('GET');
  await expectProblem(asked, { status: 405, code: 'method_not_allowed' });
  for (const path of ['/v1/me', '/v1/schedules/preview']) {
    const headed = await pipeline.call(caller, path, { method: 'HEAD' });
    expect(headed.status).toBe(405);
    expect(headed.headers.get('allow')).toMatch(/^GET\b/);
  }
  const unknown = await pipeline.call(caller, '/v1/nothing', { method: 'POST' });
  await expectProblem(unknown, { status: 404, code: 'not_found' });
});
