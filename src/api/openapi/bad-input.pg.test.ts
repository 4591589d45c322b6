import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { scopes } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import type { Route } from '../http/define-route.ts';
import { problemSchema } from '../http/problem.ts';
import { renderOpenApi } from './openapi.ts';
import { openStocked, operations, type Stocked } from './operations.test-suite.ts';

/** Random values for each parameter, beside the list: `FUZZ_RUNS=200` looks longer. */
const RUNS = Number(process.env.FUZZ_RUNS ?? 4);

const hostile = [
  '',
  ' ',
  '\0',
  'a\0b',
  '\u200f\u202e',
  '\ufeff',
  '\ud83d',
  '%',
  '%zz',
  '%c3%28',
  "'; drop table persons; --",
  '{"$gt": ""}',
  '[]',
  '__proto__',
  'constructor',
  '-1',
  '1e309',
  'NaN',
  '99999999999999999999',
  '../../etc/passwd',
  '\r\nSet-Cookie: a=b',
  '<script>alert(1)</script>',
  '+44 7700 900001',
  'a@b.example,c@d.example',
  '\u0130\u0131\u1e9e\ufb03'.repeat(40),
  'a'.repeat(3000),
  '0000-01-01',
  '0000-01-01T00:00:00Z',
  // A place in the ledger that is no time.
  Buffer.from('9999-99-99 99:99:99+99|1').toString('base64url'),
];

const hostileJson: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  2 ** 53,
  [],
  [null],
  [[[[]]]],
  {},
  { a: { b: { c: null } } },
  { toString: 1, constructor: {}, length: -1 },
  Array.from({ length: 300 }, () => 'a'),
];

let stocked: Stocked;
let caller: Caller;
beforeAll(async () => {
  stocked = await openStocked();
});
afterAll(() => stocked.close());
// Unmetered calls of whole accounts are not the subject of these tests.
const forgetCalls = () => stocked.sql`truncate rate_buckets`.then(() => {});
beforeEach(forgetCalls);

/** Calls until it is the call's turn: a search may have none within its 2 s, and an account has so many uploads at once. */
async function callInTurn(path: string, init: RequestInit): Promise<Response> {
  while (true) {
    const response = await stocked.call(caller, path, init);
    if (![429, 503].includes(response.status)) return response;
    if (!/without a turn|open at once/.test(await response.clone().text())) return response;
  }
}

/** Holds the answer to: no failure of ours, and a refusal that says what is wrong. */
async function expectSane(
  response: Response,
  parameter: string | null,
  name: string,
): Promise<void> {
  expect(statusesOf(name), name).toContain(String(response.status));
  // A call that a limit refuses tells nothing.
  expect(response.status).not.toBe(429);
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return;
  }
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  if (response.status < 400) {
    const { route } = must(
      operations.find((one) => one.name === name),
      name,
    );
    route.responses[response.status]?.schema?.parse(JSON.parse(text));
    return;
  }
  const problem = problemSchema.parse(JSON.parse(text));
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(problem.code).not.toBe('too_many_keys');
  if (problem.code !== 'invalid_parameter' || parameter === null) return;
  // In a body the name may go on: `rows.0.email`.
  const named = problem.errors.flatMap(({ field = '' }) => [field, field.split('.')[0]]);
  expect(named, text).toContain(parameter);
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
}

interface Documented {
  parameters: Parameter[];
  responses: Record<string, unknown>;
  requestBody?: { content: Record<string, { schema?: { properties?: object } }> };
}

/** An operation as its documentation has it. */
function documentedOf(route: Route): Documented {
  const { paths } = renderOpenApi([route]) as { paths: Record<string, Record<string, Documented>> };
  const [methods] = Object.values(paths);
  return must(methods?.[route.method], 'operation');
}

const documented = new Map(operations.map(({ name, route }) => [name, documentedOf(route)]));

function statusesOf(name: string): string[] {
  return Object.keys(must(documented.get(name), name).responses);
}

describe.each(operations)('$name', ({ name, route }) => {
  const { parameters, requestBody } = must(documented.get(name), name);
  const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string());

  /** The required values of every call, from the sample. */
  const requiredOf = (query: URLSearchParams) =>
    new URLSearchParams(
      parameters
        .filter(({ in: place, required }) => place === 'query' && required)
        .map(({ name: needed }): [string, string] => [needed, query.get(needed) ?? '']),
    ).toString();

  const send = async (parameter: Parameter, value: string) => {
    // Half a surrogate pair cannot be sent: what stands for it is.
    const text = Buffer.from(value).toString();
    const sample = stocked.sampleOf(name);
    const url = new URL(sample.path, stocked.url);
    const encoded = encodeURIComponent(text).replaceAll('.', '%2E');
    if (parameter.in === 'path') {
      // A segment of dots alone cannot be sent: a URL is without it.
      if (/^\.{1,2}$/.test(text)) return;
      url.pathname = route.path.replace(`:${parameter.name}`, encoded || '%20');
    } else if (parameter.in === 'query') {
      // Another identifier beside this one would be what is wrong.
      if (parameter.name !== 'fields') url.search = requiredOf(url.searchParams);
      url.searchParams.set(parameter.name, text);
    }
    const headers = new Headers(sample.init.headers);
    if (parameter.in === 'header') {
      // What no header can hold cannot be sent.
      if (/[^\t\x20-\x7e\x80-\xff]/.test(text)) return;
      headers.set(parameter.name, text);
    }
    const init = { ...sample.init, headers };
    const response = await callInTurn(url.pathname + url.search, init);
    await expectSane(response, parameter.in === 'query' ? parameter.name : null, name);
  };

  const json = requestBody?.content['application/json'];

  test.runIf(json !== undefined)('takes any value of any field of its body', async () => {
    // Its owner calls: another account would be told that there is no such object.
    caller = stocked.caller;
    await stocked.liftLimits(caller);
    const { path, init } = stocked.sampleOf(name);
    const sample = JSON.parse(String(init.body ?? '{}')) as Record<string, unknown>;
    const fields = [...Object.keys(json?.schema?.properties ?? {}), ...Object.keys(sample)];
    const post = async (body: unknown, field: string | null) => {
      await expectSane(
        await callInTurn(path, {
          ...init,
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
        field,
        name,
      );
    };
    await Promise.all([...hostile, ...hostileJson].map((value) => post(value, null)));
    for (const field of new Set(fields)) {
      // So many calls are made for each field.
      await forgetCalls();
      await Promise.all(
        [...hostile, ...hostileJson].map((value) => post({ ...sample, [field]: value }, field)),
      );
      await fc.assert(
        fc.asyncProperty(fc.jsonValue(), (value) => post({ ...sample, [field]: value }, field)),
        { numRuns: RUNS },
      );
    }
  });

  test.runIf(parameters.length > 0)('takes any value of any parameter', async () => {
    const { accountId } = await stocked.account(1000);
    caller = await stocked.keyOf(accountId, 'live', [...scopes]);
    await stocked.liftLimits(caller);
    for (const parameter of parameters) {
      // So many calls are made for each parameter.
      await forgetCalls();
      await Promise.all(hostile.map((value) => send(parameter, value)));
      await fc.assert(
        fc.asyncProperty(texts, (value) => send(parameter, value)),
        { numRuns: RUNS },
      );
    }
  });
});

describe('what no parameter can hold', () => {
  test('a query that is no text', async () => {
    for (const query of ['email=%', 'email=%c3%28', 'email=%00', 'email[a]=b', '%5B%5D=1', '&&=']) {
      const response = await stocked.call(stocked.caller, `/v1/people/enrich?${query}`);
      expect(response.status).toBe(400);
      await expectSane(response, null, 'get /v1/people/enrich');
    }
  });

  test('a body that is not JSON, not an object, too large or of another type', async () => {
    const post = (body: string, type = 'application/json') =>
      stocked.call(stocked.caller, '/v1/keys', {
        method: 'POST',
        headers: { 'Content-Type': type },
        body,
      });
    const bad = { status: 400, code: 'invalid_parameter' };
    for (const body of ['{', 'null', '[]', '"a"', '{"mode":{}}', '{"__proto__":1}', '']) {
      await expectProblem(await post(body), bad);
    }
    const large = await post(JSON.stringify({ name: 'a'.repeat(200_000) }));
    await expectProblem(large, { status: 413, code: 'body_too_large' });
    const form = await post('mode=live', 'application/x-www-form-urlencoded');
    await expectProblem(form, { status: 415, code: 'unsupported_media_type' });
  });
});
