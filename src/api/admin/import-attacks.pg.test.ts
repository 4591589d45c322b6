/** Attacks on imports: other keys and pages, hostile names and files, more than there is room for. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { zipOf } from '../../formats/xlsx/xlsx-fixtures.test-suite.ts';
import { operatorRoutes } from '../routes.ts';
import { contacts, contactsHeader, type Importing, openImporting } from './imports.test-suite.ts';

const BYTES_MAX = 128 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

let importing: Importing;
beforeAll(async () => {
  importing = await openImporting(BYTES_MAX);
});
afterAll(() => importing.pipeline.close());
// Every test begins with an empty graph.
afterEach(() => importing.reset());

describe('what only an operator may do', () => {
  const calls = operatorRoutes.map(({ method, path }) => ({
    method: method.toUpperCase(),
    path: path.replace(
      ':id',
      !path.startsWith('/admin/import-runs') ? '1' : '0192f0f0-0000-7000-8000-000000000000',
    ),
  }));
  const bodyOf = ({ method, path }: { method: string; path: string }): RequestInit => {
    if (method === 'GET') return {};
    const isFile = /(import-runs|files)$/.test(path);
    const body = path.endsWith('/split') ? '{"records":[1]}' : '{}';
    return isFile
      ? { headers: { 'Content-Type': 'application/octet-stream' }, body: contacts }
      : { headers: { 'Content-Type': 'application/json' }, body };
  };

  test.each(calls)('$method $path is refused to all others', async (one) => {
    const { accountId } = importing.operator;
    const query = /POST.*(import-runs|files)$/.test(`${one.method} ${one.path}`)
      ? '?name=a.csv'
      : '';
    const init = { method: one.method, ...bodyOf(one) };
    const send = (caller: Caller | null) => importing.pipeline.call(caller, one.path + query, init);
    await expectProblem(await send(null), { status: 401, code: 'invalid_key' });
    const team = await importing.pipeline.keyOf(accountId, 'live', [...accountScopes]);
    await expectProblem(await send(team), { status: 403, code: 'forbidden' });
    // A test key would change the live graph.
    const tester = await importing.pipeline.keyOf(accountId, 'test', ['admin']);
    await expectProblem(await send(tester), { status: 403, code: 'forbidden' });
    expect(await importing.pipeline.sql`select id from import_runs`).toEqual([]);
    expect(await importing.pipeline.objects()).toEqual([]);
  });

  test('a page of another site has no effect with the session of an operator', async () => {
    const signedIn = await fetch(`${importing.pipeline.url}/console/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
      body: JSON.stringify({ key: importing.operator.key }),
    });
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const send = (site: string) =>
      fetch(`${importing.pipeline.url}/admin/import-runs?name=a.csv`, {
        method: 'POST',
        headers: {
          Cookie: cookie,
          'Sec-Fetch-Site': site,
          'Content-Type': 'application/octet-stream',
        },
        body: contacts,
      });
    await expectProblem(await send('cross-site'), { status: 403, code: 'forbidden' });
    expect(await importing.pipeline.objects()).toEqual([]);
    expect((await send('same-origin')).status).toBe(202);
  });

  test('the operator of another account sees neither the files nor the records in them', async () => {
    const run = await importing.examined('contacts.csv', contacts);
    const other = await importing.operatorOf((await importing.pipeline.account(0)).accountId);
    const path = `/admin/import-runs/${run.id}`;
    await expectProblem(await importing.pipeline.call(other, path), {
      status: 404,
      code: 'not_found',
    });
    await expectProblem(await importing.post(`${path}/start`, undefined, other), {
      status: 404,
      code: 'not_found',
    });
    expect(await importing.json('/admin/import-runs', other)).toEqual({
      data: [],
      next_cursor: null,
    });
  });
});

describe('a hostile file', () => {
  test.each([
    '../a.csv',
    'a/b.csv',
    'a\\b.csv',
    '..',
    'a\n.csv',
    'a\u202ecsv.exe',
    'x'.repeat(201),
    '',
  ])('with the name %j is refused', async (name) => {
    await expectProblem(await importing.upload(name, contacts), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(await importing.pipeline.objects()).toEqual([]);
  });

  /** Sends a file of zeros, piece by piece; `fetch` would hold the pieces that it has not sent. */
  async function uploadZeros(bytes: number, eachPiece = () => {}): Promise<Response> {
    const sending = request(`${importing.pipeline.url}/admin/import-runs?name=zeros.csv`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${importing.operator.key}`,
        'Content-Type': 'application/octet-stream',
      },
    });
    const answered = once(sending, 'response') as Promise<[IncomingMessage]>;
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let left = bytes; left > 0; left -= PIECE_BYTES) {
      eachPiece();
      const isTaken = sending.write(piece.subarray(0, left));
      if (!isTaken) await once(sending, 'drain');
    }
    sending.end();
    const [response] = await answered;
    const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    return new Response(await text(response), { status: response.statusCode ?? 0, headers });
  }

  test('is streamed, and never in memory as a whole', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = () => {
      // Buffers are freed by another thread, which a loaded machine delays: the second collection waits for it.
      collect();
      collect();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = held();
    let most = 0;
    let pieces = 0;
    const response = await uploadZeros(BYTES_MAX, () => {
      if (++pieces % 16 === 0) most = Math.max(most, held() - before);
    });
    expect(response.status).toBe(202);
    expect(most).toBeLessThan(BYTES_MAX / 4);
    const [row] = await importing.pipeline
      .sql`select files -> 0 -> 'bytes' as bytes from import_runs`;
    expect(row).toEqual({ bytes: BYTES_MAX });
  });

  test('that is too large is cut off, and nothing of it stays', async () => {
    await expectProblem(await uploadZeros(BYTES_MAX + 1), { status: 413, code: 'file_too_large' });
    expect(await importing.pipeline.objects()).toEqual([]);
    expect(await importing.pipeline.sql`select id from import_runs`).toEqual([]);
  });

  test('that unpacks to hundreds of times its size is refused before it is read to its end', async () => {
    const row = `1,Ada,Lark,ada@acme.example,${' '.repeat(10_000)}\n`;
    const bomb = await zipOf({ 'contacts.csv': `${contactsHeader}\n${row.repeat(2_000)}` });
    const run = await importing.imported('contacts.zip', bomb);
    expect(run).toMatchObject({ problem: { code: 'unreadable_archive' } });
    expect(run.problem?.detail).toContain('times its size');
    expect(await importing.done()).toEqual([]);
  });

  test('is one of twenty at most', async () => {
    for (let count = 0; count < 20; count++) await importing.upload('a.csv', contacts);
    const response = await importing.upload('a.csv', contacts);
    await expectProblem(response, { status: 429, code: 'rate_limited' });
    expect(response.headers.get('retry-after')).not.toBeNull();
  });
});
