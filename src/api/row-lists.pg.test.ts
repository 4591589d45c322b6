import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import { holdDownload } from './http/open-responses.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  caller = await pipeline.account(100);
});
afterAll(() => pipeline.close());

const operation = 'people.enrich';

function post(body: unknown, headers: Record<string, string> = {}, query = '') {
  return pipeline.call(caller, `/v1/batches${query}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** Runs the queues while a call waits for its batch. */
async function postAndRun(...parts: Parameters<typeof post>): Promise<Response> {
  const answer = post(...parts);
  let answered = false;
  const done = answer.finally(() => {
    answered = true;
  });
  while (!answered) {
    await pipeline.runUntilIdle();
    await new Promise(setImmediate);
  }
  return done;
}

const lines = async (response: Response) =>
  (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('rows', () => {
  test.each(['sep=;', 'sep=,'])('keep a first column with the name %j', async (name) => {
    const rows = [{ [name]: 'ada@acme.example' }, { [name]: 'bob@acme.example' }];
    const mapping = JSON.stringify({ email: 1 });
    const response = await postAndRun(
      { operation, rows, mapping, fields: 'id' },
      { Prefer: 'wait=20' },
    );
    expect(await lines(response)).toMatchObject([
      { row: 1, input: { [name]: 'ada@acme.example' }, match: { status: 'matched' } },
      { row: 2, input: { [name]: 'bob@acme.example' }, match: { status: 'matched' } },
    ]);
  });

  test.each([
    [
      'application/json',
      (row: string) => `{"operation":"${operation}","hold":true,"rows":[${row}]}`,
    ],
    ['application/x-ndjson', (row: string) => row],
  ] as const)(
    'keep the digits of numbers that JavaScript would change, in %s',
    async (type, write) => {
      const row =
        '{"email":"ada@acme.example","id":9007199254740993,"text":"12345678901234567890","n":-1.50}';
      const query = type === 'application/json' ? '' : `?operation=${operation}&hold=true`;
      const response = await post(write(row), { 'Content-Type': type }, query);
      expect(response.status, await response.clone().text()).toBe(202);
      const { id } = (await response.json()) as BatchView;
      await pipeline.runUntilIdle();
      await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
      await pipeline.runUntilIdle();
      const { text } = await pipeline.results(caller, id);
      expect(text).toContain('\nada@acme.example,9007199254740993,12345678901234567890,-1.5,');
    },
  );

  test('with a column that no object can hold are refused by its name', async () => {
    const rows = '[{"email":"ada@acme.example"},{"email":"x@acme.example","__proto__":"a"}]';
    const response = await post(`{"operation":"${operation}","rows":${rows}}`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field: 'rows.1.__proto__' }]);
  });

  test('with an option too large for JavaScript are refused by its name', async () => {
    const rows = [{ email: 'ada@acme.example' }];
    const body = JSON.stringify({ operation, rows, max_credits: 1 });
    const response = await post(body.replace('"max_credits":1', '"max_credits":9007199254740993'));
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(new Set(problem.errors.map(({ field }) => field))).toEqual(new Set(['max_credits']));
  });

  test('with the limit `null` have none, as an export and a change of a list', async () => {
    const rows = [{ email: 'ada@acme.example' }];
    const response = await post({ operation, rows, hold: true, max_credits: null });
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ credits: { max: null } });
  });

  test('become a batch, every row one in its order, empty ones too', async () => {
    const rows = [
      { email: 'ada@acme.example', note: 'a, "b"\nc' },
      {},
      { note: 7, email: null },
      { email: 'nobody@acme.example', extra: true },
    ];
    const response = await post({ operation, rows, fields: ['name'], name: 'Few' });
    const batch = (await response.json()) as BatchView;
    expect(response.status).toBe(202);
    expect(batch).toMatchObject({ name: 'Few', mapping: { email: expect.anything() } });
    await pipeline.runUntilIdle();
    const { text } = await pipeline.results(caller, batch.id);
    expect((await pipeline.batch(caller, batch.id)).rows).toMatchObject({
      ...{ total: 4, matched: 1, no_match: 1, invalid: 2 },
    });
    expect(text).toContain('email,note,extra,');
  });

  test('of one empty column count as rows', async () => {
    const rows = [{ email: '' }, { email: 'ada@acme.example' }, { email: '' }];
    const answer = await postAndRun({ operation, rows }, { Prefer: 'wait=20' });
    const results = await lines(answer);
    expect(results.map(({ match }) => match.status)).toEqual(['invalid', 'matched', 'invalid']);
    expect(results.map(({ row }) => row)).toEqual([1, 2, 3]);
  });

  test('come as JSON lines too, with the options in the query', async () => {
    const answer = await postAndRun(
      '{"email":"ada@acme.example"}\n\n{"email":"bob@acme.example"}\n',
      { 'Content-Type': 'application/jsonl', Prefer: 'respond-async, wait=20' },
      `?operation=${operation}&fields=name`,
    );
    expect(answer.status).toBe(200);
    expect(answer.headers.get('preference-applied')).toBe('wait=20');
    expect(answer.headers.get('content-type')).toMatch(/^application\/jsonl/);
    expect(answer.headers.get('x-credits-charged')).toBe('2');
    const results = await lines(answer);
    expect(results.map(({ person }) => person.name)).toEqual(['Ada', 'Bob']);
  });

  test('sent twice with one Idempotency-Key are one batch', async () => {
    const body = { operation, rows: [{ email: 'ada@acme.example' }] };
    const first = (await (await post(body, { 'Idempotency-Key': 'r' })).json()) as BatchView;
    const again = await post(body, { 'Idempotency-Key': 'r' });
    expect(((await again.json()) as BatchView).id).toBe(first.id);
    const other = await post(
      { operation, rows: [{ email: 'bob@acme.example' }] },
      { 'Idempotency-Key': 'r' },
    );
    await expectProblem(other, { status: 422, code: 'idempotency_key_reused' });
  });
});

describe('a caller who waits', () => {
  test('causes no warning about leaked listeners of its response', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error) => warnings.push(name);
    process.on('warning', onWarning);
    const body = { operation, rows: [{ email: 'ada@acme.example' }] };
    const headers = { Prefer: 'wait=20', 'Idempotency-Key': 'bounds' };
    expect((await postAndRun(body, headers)).status).toBe(200);
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  test('is answered 202 when the time is over', async () => {
    const body = { operation, rows: [{ email: 'ada@acme.example' }] };
    const response = await post(body, { Prefer: 'wait=1' });
    expect(response.status).toBe(202);
    expect(((await response.json()) as BatchView).state).toBe('created');
    await pipeline.runUntilIdle();
  });

  test('and leaves loses nothing: the list runs on, and the call sent again tells it', async () => {
    const body = { operation, name: 'Left', rows: [{ email: 'ada@acme.example' }] };
    const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'left' };
    const leaving = new AbortController();
    const left = pipeline.call(caller, '/v1/batches', {
      method: 'POST',
      headers: { ...headers, Prefer: 'wait=20' },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    const isMade = async () => {
      const listed = await pipeline.call(caller, '/v1/batches');
      const { data } = (await listed.json()) as { data: BatchView[] };
      return data.some(({ name }) => name === body.name);
    };
    while (!(await isMade()));
    leaving.abort();
    await expect(left).rejects.toThrow('aborted');
    await pipeline.runUntilIdle();
    const again = await post(body, { ...headers, Prefer: 'wait=20' });
    const { id } = (await again.json()) as BatchView;
    expect(await pipeline.batch(caller, id)).toMatchObject({
      ...{ name: 'Left', state: 'completed', rows: { matched: 1 }, credits: { charged: 1 } },
    });
  });

  test('is answered 202 as soon as the batch waits for credits or for its start', async () => {
    const poor = caller;
    caller = await pipeline.account(0);
    try {
      const rows = [{ email: 'ada@acme.example' }];
      const paused = await postAndRun({ operation, rows }, { Prefer: 'wait=20' });
      expect([paused.status, ((await paused.json()) as BatchView).state]).toEqual([202, 'paused']);
      const held = await postAndRun({ operation, rows, hold: true }, { Prefer: 'wait=20' });
      expect([held.status, ((await held.json()) as BatchView).state]).toEqual([202, 'ready']);
    } finally {
      caller = poor;
    }
  });

  test('is answered 202 when the account has no download left', async () => {
    const downloads = Array.from({ length: 32 }, () => {
      const response = new ServerResponse(new IncomingMessage(new Socket()));
      holdDownload(caller.accountId, response as never);
      return response;
    });
    const body = { operation, rows: [{ email: 'ada@acme.example' }] };
    const answer = await postAndRun(body, { Prefer: 'wait=20' });
    for (const response of downloads) response.emit('close');
    expect([answer.status, ((await answer.json()) as BatchView).state]).toEqual([202, 'completed']);
  });
});

describe('a list is refused', () => {
  test.each([
    ['without rows', { operation, rows: [] }, 400, 'rows'],
    ['of too many rows', { operation, rows: Array(1001).fill({ email: 'a' }) }, 400, 'rows'],
    ['that is no list', { operation, rows: 'a' }, 400, 'rows'],
    ['with a row that is none', { operation, rows: [{ email: 'a' }, 5] }, 400, 'rows.1'],
    ['with a cell that is none', { operation, rows: [{ email: {} }] }, 400, 'rows.0.email'],
    ['of rows without columns', { operation, rows: [{}, {}] }, 400, 'rows'],
    ['without an operation', { rows: [{ email: 'a@b.example' }] }, 400, 'operation'],
    ['with an unknown option', { operation, rows: [{ email: 'a' }], colour: 1 }, 400, 'colour'],
    ['with a delimiter', { operation, rows: [{ email: 'a' }], delimiter: ';' }, 400, 'delimiter'],
    ['that is not JSON', '{"rows": [', 400, 'body'],
  ])('%s', async (_case, body, status, field) => {
    const before = await pipeline.objects();
    const response = await post(body);
    const problem = await expectProblem(response, { status, code: 'invalid_parameter' });
    expect(problem.errors.map((error) => error.field)).toContain(field);
    expect(await pipeline.objects()).toEqual(before);
  });

  test('without rows or the id of an upload says that it needs one of them', async () => {
    const problem = await expectProblem(await post({ operation }), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(problem.detail).toContain('upload_id: is required without `rows`');
  });

  test('of more than two megabytes with 413', async () => {
    const response = await post({ operation, rows: [{ email: 'a'.repeat(3_000_000) }] });
    await expectProblem(response, { status: 413, code: 'body_too_large' });
  });

  test('of JSON lines names the line that is none', async () => {
    const headers = { 'Content-Type': 'application/jsonl' };
    const response = await post(
      '{"email":"a@b.example"}\n{oops\n',
      headers,
      `?operation=${operation}`,
    );
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]).toMatchObject({ field: 'body', line: 2 });
  });
});
