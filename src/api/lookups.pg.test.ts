import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(0);
  await importGraph(pipeline.sql, {
    cities: [{ id: 1, name: 'Zürich' }],
    positions: [
      { id: 2, name: 'Clerk' },
      { id: 3, name: 'Cook' },
    ],
    industries: [{ id: 4, name: 'Catering' }],
    persons: [{ id: 1, cityId: 1, positionId: 3, industryId: 4 }],
  });
});
afterAll(() => pipeline.close());

test.each([
  ['/v1/lookups/locations?q=zurich', [{ id: 1, name: 'Zürich', count: 1 }]],
  [
    '/v1/lookups/job-titles',
    [
      { id: 3, name: 'Cook', count: 1 },
      { id: 2, name: 'Clerk', count: 0 },
    ],
  ],
  ['/v1/lookups/job-titles?q=&limit=1', [{ id: 3, name: 'Cook', count: 1 }]],
  ['/v1/lookups/industries?q=CATER', [{ id: 4, name: 'Catering', count: 1 }]],
  [
    '/v1/lookups/job-titles?ids=2,99,3',
    [
      { id: 2, name: 'Clerk', count: 0 },
      { id: 3, name: 'Cook', count: 1 },
    ],
  ],
])('%s costs nothing', async (path, data) => {
  const response = await pipeline.call(caller, path);
  expect(await response.json()).toEqual({ data });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-credits-charged')).toBe('0');
  expect(response.headers.get('ratelimit')).toMatch(/^"minute";r=\d+/);
});

test('a test key looks up in the graph of test keys', async () => {
  const tester = await pipeline.keyOf(caller.accountId, 'test');
  const response = await pipeline.call(tester, '/v1/lookups/locations?q=zurich');
  expect(await response.json()).toEqual({ data: [] });
});

describe('what is wrong is named', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=ten', 'limit'],
    ['q=a&q=b', 'q'],
    ['query=a', 'query'],
    ['ids=', 'ids'],
    ['ids=1,x', 'ids'],
    ['ids=2147483648', 'ids'],
    [`ids=${Array.from({ length: 101 }, (_, id) => id)}`, 'ids'],
    ['ids=1&q=a', 'ids'],
    ['q=%00', 'q'],
    [`q=${'a'.repeat(201)}`, 'q'],
  ])('%s', async (query, field) => {
    const response = await pipeline.call(caller, `/v1/lookups/industries?${query}`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe(field);
  });
});

test('no key is refused with 401, and the sixty-first call of a minute with 429', async () => {
  const path = '/v1/lookups/industries';
  await expectProblem(await pipeline.call(null, path), { status: 401, code: 'invalid_key' });
  const busy = await pipeline.account(0);
  const answers = await Promise.all(Array.from({ length: 61 }, () => pipeline.call(busy, path)));
  const refused = answers.find((answer) => answer.status !== 200);
  await expectProblem(refused as Response, { status: 429, code: 'rate_limited' });
});
