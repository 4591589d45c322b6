import { connect as connectTcp } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { must } from '../../core/lib/assert.ts';
import type { Route } from '../define-route.ts';
import { problemSchema } from './answer-schemas.ts';
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
];

let stocked: Stocked;
let caller: Caller;
beforeAll(async () => {
  stocked = await openStocked();
});
afterAll(() => stocked.close());

/** Holds the answer to: no failure of ours, and a refusal that says what is wrong. */
async function expectSane(response: Response, parameter: string | null): Promise<void> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return;
  }
  const text = await response.text();
  expect(response.status, text).toBeLessThan(500);
  if (response.status < 400) return;
  const problem = problemSchema.parse(JSON.parse(text));
  expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  if (problem.code !== 'invalid_parameter' || parameter === null) return;
  expect(problem.errors.map(({ field }) => field)).toContain(parameter);
}

interface Parameter {
  name: string;
  in: string;
}

/** The parameters of an operation as its documentation has them. */
function parametersOf(route: Route): Parameter[] {
  const { paths } = renderOpenApi([route]) as {
    paths: Record<string, Record<string, { parameters: Parameter[] }>>;
  };
  return Object.values(paths).flatMap(
    (methods) => must(methods[route.method], 'operation').parameters,
  );
}

describe.each(operations)('$name', ({ name, route }) => {
  const parameters = parametersOf(route);
  const texts = fc.oneof(fc.string({ unit: 'binary', maxLength: 200 }), fc.string());

  const send = async (parameter: Parameter, value: string) => {
    // Half a surrogate pair cannot be sent: what stands for it is.
    const text = Buffer.from(value).toString();
    const sample = stocked.sampleOf(name);
    const url = new URL(sample.path, stocked.url);
    const encoded = encodeURIComponent(text).replaceAll('.', '%2E');
    if (parameter.in === 'path') {
      url.pathname = route.path.replace(`:${parameter.name}`, encoded || '%20');
    } else if (parameter.in === 'query') {
      // Another identifier beside this one would be what is wrong.
      url.search = parameter.name === 'fields' ? url.search : '';
      url.searchParams.set(parameter.name, text);
    } else {
      return;
    }
    const response = await stocked.call(caller, url.pathname + url.search, sample.init);
    await expectSane(response, parameter.in === 'query' ? parameter.name : null);
  };

  test.runIf(parameters.length > 0)('takes any value of any parameter', async () => {
    const { accountId } = await stocked.account(1000);
    caller = await stocked.keyOf(accountId, 'live', ['enrich', 'search', 'batches', 'account']);
    await stocked.liftLimits(caller);
    for (const parameter of parameters) {
      for (const value of hostile) await send(parameter, value);
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
      await expectSane(response, null);
    }
  });

  test('a body that is no JSON, no object, too large or of another type', async () => {
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

  test('headers and addresses of more than sixteen kilobytes', async () => {
    const { hostname, port } = new URL(stocked.url);
    const lines = [`GET /v1/me?q=${'a'.repeat(20_000)} HTTP/1.1`, 'Host: x'];
    for (const request of [
      lines,
      ['GET /v1/me HTTP/1.1', `X-A: ${'a'.repeat(20_000)}`, 'Host: x'],
    ]) {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connectTcp(Number(port), hostname);
        let text = '';
        socket.on('data', (bytes) => {
          text += bytes;
        });
        socket.on('error', reject);
        socket.on('close', () => resolve(text));
        socket.write(`${request.join('\r\n')}\r\n\r\n`);
      });
      expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    }
  });
});
