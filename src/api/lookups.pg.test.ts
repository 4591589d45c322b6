import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { derivedId } from '../core/graph/vocabulary/derived-ids.ts';

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
    countries: [{ id: 5, name: 'Schweiz' }],
    regions: [{ id: 6, name: 'Zürich', countryId: 5 }],
    persons: Array.from({ length: 23 }, (_, index) => ({
      id: index + 1,
      ...(index < 14 ? { cityId: 1, regionId: 6, countryId: 5 } : {}),
      ...(index < 9 ? { positionId: 3, industryId: 4 } : {}),
      position: index < 9 ? 'Prime Minister' : index < 20 ? 'State Senator | Member' : '',
    })),
  });
});
afterAll(() => pipeline.close());

const cook = { type: 'position', id: 3, name: 'Cook', count: 0, filter: 'positionIds=[3]' };
const clerk = { type: 'position', id: 2, name: 'Clerk', count: 0, filter: 'positionIds=[2]' };
const catering = { type: 'industry', id: 4, name: 'Catering', count: 0, filter: 'industryIds=[4]' };
/** The family of the title below. */
const senators = {
  type: 'position',
  id: derivedId('positions', 'state senator'),
  name: 'State Senator',
  count: 10,
  filter: `positionIds=[${derivedId('positions', 'state senator')}]`,
};
/** Eleven people have it, and nine are prime ministers: fewer than ten, so that title is not told. */
const senator = {
  type: 'title',
  id: null,
  name: 'State Senator | Member',
  count: 10,
  filter: 'positionList=[State Senator \\| Member]',
};

test.each([
  [
    '/v1/lookups/locations?q=zurich',
    [
      { type: 'city', id: 1, name: 'Zürich', count: 10, filter: 'locationIds=[1]' },
      { type: 'region', id: 6, name: 'Zürich, Schweiz', count: 10, filter: 'regionId=[6]' },
    ],
  ],
  [
    '/v1/lookups/locations?q=schw&limit=1',
    [{ type: 'country', id: 5, name: 'Schweiz', count: 10, filter: 'countryId=[5]' }],
  ],
  ['/v1/lookups/job-titles', [senators, senator, cook, clerk]],
  ['/v1/lookups/job-titles?q=senator', [senators, senator]],
  ['/v1/lookups/job-titles?q=minister', []],
  ['/v1/lookups/job-titles?q=&limit=1', [senators]],
  ['/v1/lookups/industries?q=CATER', [catering]],
  ['/v1/lookups/job-titles?ids=2,99,3', [clerk, cook]],
])('%s costs nothing', async (path, data) => {
  const response = await pipeline.call(caller, path);
  expect(await response.json()).toEqual({ data });
  expect(response.status).toBe(200);
  expect(response.headers.get('x-credits-charged')).toBe('0');
  expect(response.headers.get('ratelimit')).toMatch(/^"minute";r=\d+/);
});

test.each([0, 1])('the filter of value %i finds its people', async (index) => {
  const rich = await pipeline.account(100);
  const response = await pipeline.call(rich, '/v1/lookups/job-titles?q=senator');
  const { data } = (await response.json()) as { data: { filter: string }[] };
  const found = await pipeline.call(
    rich,
    `/personsearch/?${encodeFilter(data[index]?.filter ?? '')}`,
  );
  expect((await found.json()) as object[]).toHaveLength(11);
});

/** The value of the one parameter of a filter, percent-encoded. */
function encodeFilter(filter: string): string {
  const at = filter.indexOf('=') + 1;
  return filter.slice(0, at) + encodeURIComponent(filter.slice(at));
}

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
  // More than sixty: the bucket gets a token a second while a slow machine makes the calls.
  const answers = await Promise.all(Array.from({ length: 150 }, () => pipeline.call(busy, path)));
  const refused = answers.find((answer) => answer.status !== 200);
  await expectProblem(refused as Response, { status: 429, code: 'rate_limited' });
});
