import { afterAll, beforeAll, expect, test } from 'vitest';
import { fillTestGraph } from '../../samples/test-graph/fill-test-graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { SLOW_MS } from '../core/enrich/magic-identifiers.ts';

let pipeline: Pipeline;
let owner: Caller;
let tester: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await fillTestGraph(pipeline.context.testSql);
  owner = await pipeline.account(0);
  tester = await pipeline.keyOf(owner.accountId, 'test');
});
afterAll(() => pipeline.close());

test.each([
  ['no-match', 404, 'no_match'],
  ['ambiguous', 409, 'ambiguous_match'],
  ['suppressed', 404, 'no_match'],
  ['402', 402, 'insufficient_credits'],
  ['429', 429, 'rate_limited'],
  ['503', 503, 'unavailable'],
])('%s@test.example is answered %i %s', async (word, status, code) => {
  const response = await pipeline.call(tester, `/v1/people/enrich?email=${word}%40test.example`);
  await expectProblem(response, { status, code });
  expect(response.headers.get('x-credits-charged')).toBe('0');
  if (status === 429 || status === 503) expect(response.headers.get('retry-after')).toBe('1');
});

test.each([
  '/v1/people/enrich?email=matched%40test.example',
  '/v1/people/enrich?phone=+447700900901',
  '/v1/people/enrich-with-company?professional_network=test-matched',
  '/v1/people/mobile?email=matched%40test.example',
  '/v1/people/email/verify?email=matched%40test.example',
  '/v1/companies/enrich?registry_number=99000001',
  '/v1/companies/logo?domain=matched-test.example',
  '/v1/companies/financials?name=Test+matched+Ltd',
])('%s is a match that costs nothing, with an empty wallet', async (path) => {
  const response = await pipeline.call(tester, path);
  expect(await response.json()).toMatchObject({ meta: { credits_charged: 0, live: false } });
  expect(await pipeline.wallet(owner)).toEqual({ balance: 0, reserved: 0 });
});

test('slow@test.example is a match after two seconds', async () => {
  const started = performance.now();
  const response = await pipeline.call(tester, '/v1/people/enrich?email=slow%40test.example');
  expect(response.status).toBe(200);
  expect(performance.now() - started).toBeGreaterThanOrEqual(SLOW_MS - 5);
});

test('to a live key the magic identifiers are nobody', async () => {
  const rich = await pipeline.account(5);
  for (const word of ['matched', 'suppressed', '402', 'slow']) {
    const response = await pipeline.call(rich, `/v1/people/enrich?email=${word}%40test.example`);
    await expectProblem(response, { status: 404, code: 'no_match' });
  }
});

test('a batch of them has each outcome, and is not live', async () => {
  const words = ['matched', 'no-match', 'ambiguous', 'suppressed', 'slow', '402', '429', '503'];
  const list = `email\n${words.map((word) => `${word}@test.example\n`).join('')}`;
  const id = await pipeline.enrich(tester, list, { operation: 'people.enrich' });
  const batch = await pipeline.batch(tester, id);
  expect(batch).toMatchObject({
    live: false,
    state: 'completed',
    rows: { total: 8, matched: 2, no_match: 5, ambiguous: 1, suppressed: 0 },
    credits: { charged: 0 },
  });
});
