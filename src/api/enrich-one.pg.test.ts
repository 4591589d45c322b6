import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';
import { inTransaction } from '../core/db/client.ts';
import { suppress } from '../core/suppression/suppress.ts';
import { audit } from '../jobs/audit/audit.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
  await suppress(pipeline.sql, 'out@home.example');
});
afterAll(() => pipeline.close());

interface Answer {
  data: { directors: unknown[] };
  meta: { request_id: string };
}

const read = async (response: Response) => (await response.json()) as Answer;

async function get(caller: Caller, path: string, headers: Record<string, string> = {}) {
  return pipeline.call(caller, path, { headers });
}

describe('a match', () => {
  test.each([
    ['/v1/people/enrich?email=ada%40acme.example', 1, 'email', { id: 1, name: 'Ada' }],
    [
      '/v1/people/enrich?professional_network=https%3A%2F%2Fwww.professional-network.example%2Fin%2Fada-lovely',
      1,
      'professional_network',
      { id: 1 },
    ],
    // A plus that was not encoded arrives as a space.
    ['/v1/people/enrich?phone=+447700900001', 1, 'phone', { id: 1 }],
    ['/v1/people/enrich?twitter=eve_old', 1, 'former_handle', { id: 4 }],
    [
      '/v1/people/enrich?twitter=%40ada&fields=name,person.surname',
      1,
      'twitter',
      { surname: 'Lovely' },
    ],
    [
      '/v1/people/enrich-with-company?email=ada%40acme.example',
      1,
      'email',
      { company: { id: 10 } },
    ],
    ['/v1/people/mobile?email=ada%40acme.example', 8, 'email', { mobile: '+447700900001' }],
    ['/v1/people/email/verify?email=ada%40acme.example', 1, 'email', { status: 'valid' }],
    ['/v1/companies/enrich?domain=acme.example', 1, 'domain', { id: 10 }],
    ['/v1/companies/enrich?registry_number=1234567', 1, 'registry_number', { id: 10 }],
    ['/v1/companies/logo?name=ACME+widgets+limited', 1, 'name', { company_id: 10 }],
    ['/v1/companies/financials?domain=acme.example', 1, 'domain', { company_id: 10 }],
  ])('of %s costs %i', async (path, price, by, data) => {
    const caller = await pipeline.account(100);
    const response = await get(caller, path);
    const body = await read(response);
    expect(body).toMatchObject({
      data,
      match: { by, conflict: false },
      meta: { credits_charged: price, live: true },
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-credits-charged')).toBe(String(price));
    expect(response.headers.get('x-credits-remaining')).toBe(String(100 - price));
    expect(await pipeline.wallet(caller)).toEqual({ balance: 100 - price, reserved: 0 });
    expect(body.meta.request_id).toBe(response.headers.get('x-request-id'));
  });

  test('with fields holds those and no others', async () => {
    const caller = await pipeline.account(1);
    const response = await get(caller, '/v1/people/enrich?twitter=ada&fields=name,person.surname');
    expect((await read(response)).data).toEqual({ name: 'Ada', surname: 'Lovely' });
  });

  test('of a UK number names the directors', async () => {
    const caller = await pipeline.account(1);
    const response = await get(caller, '/v1/companies/enrich?registry_number=GB-COH-01234567');
    const { data } = await read(response);
    expect(data.directors.length).toBeGreaterThan(1);
    expect(data.directors[0]).toHaveProperty('matched_by');
  });
});

describe('no match costs nothing', () => {
  test.each([
    ['/v1/people/enrich?email=nobody%40acme.example', 404, 'no_match'],
    ['/v1/people/mobile?email=bob%40acme.example', 404, 'no_match'],
    ['/v1/people/email/verify?email=ada%40home.example', 404, 'no_match'],
    ['/v1/companies/logo?domain=beta.example', 404, 'no_match'],
    ['/v1/people/enrich?phone=%2B441632960099', 409, 'ambiguous_match'],
    ['/v1/people/enrich?email=out%40home.example', 404, 'no_match'],
    ['/v1/people/enrich', 400, 'missing_identifier'],
    ['/v1/people/enrich?email=a%40b.example&phone=%2B447700900001', 400, 'conflicting_identifiers'],
    ['/v1/people/enrich?email=nobody', 400, 'invalid_parameter'],
    ['/v1/people/enrich?email=a%40b.example&email=c%40d.example', 400, 'invalid_parameter'],
    ['/v1/people/enrich?mail=a%40b.example', 400, 'invalid_parameter'],
    ['/v1/people/enrich?email=ada%40acme.example&fields=nothing', 400, 'invalid_parameter'],
    ['/v1/people/mobile?email=ada%40acme.example&fields=mobile', 400, 'invalid_parameter'],
    ['/v1/people/mobile?phone=%2B447700900001', 400, 'invalid_parameter'],
    ['/v1/people/enrich?phone=07700900001', 400, 'invalid_parameter'],
    ['/v1/companies/enrich?domain=gmail.com', 400, 'invalid_parameter'],
    ['/v1/people/enrich?twitter=nan', 400, 'invalid_parameter'],
    ['/v1/companies/enrich?name=None', 400, 'invalid_parameter'],
  ])('%s is %i %s', async (path, status, code) => {
    const caller = await pipeline.account(100);
    const response = await get(caller, path);
    await expectProblem(response, { status, code });
    expect(response.headers.get('x-credits-charged')).toBe('0');
    expect(await pipeline.wallet(caller)).toEqual({ balance: 100, reserved: 0 });
  });

  test('a phone without its country says what to send', async () => {
    const response = await get(await pipeline.account(1), '/v1/people/enrich?phone=07700900001');
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toContain('its country as `default_region`');
  });

  test('a person who opted out, one without the requested data and an unknown one get the same response', async () => {
    const caller = await pipeline.account(100);
    const answers = await Promise.all(
      [
        '/v1/people/mobile?email=nobody%40acme.example',
        '/v1/people/mobile?email=bob%40acme.example',
        '/v1/people/mobile?email=out%40home.example',
      ].map(async (path) => {
        const missing = { status: 404, code: 'no_match' };
        return (await expectProblem(await get(caller, path), missing)).detail;
      }),
    );
    expect(new Set(answers).size).toBe(1);
  });

  test('an ambiguous one says how many are equally good', async () => {
    const caller = await pipeline.account(1);
    const problem = await (await get(caller, '/v1/people/enrich?phone=%2B441632960099')).json();
    expect(problem).toMatchObject({ candidates: 2 });
  });
});

describe('money', () => {
  test('a wallet below the price is refused before any look-up, with what is needed', async () => {
    const caller = await pipeline.account(7);
    const response = await get(caller, '/v1/people/mobile?email=nobody%40acme.example');
    const problem = await expectProblem(response, { status: 402, code: 'insufficient_credits' });
    expect(problem).toMatchObject({ needed: 8, available: 7 });
    const empty = await get(
      await pipeline.account(0),
      '/v1/people/enrich?email=ada%40acme.example',
    );
    const { detail } = await expectProblem(empty, { status: 402, code: 'insufficient_credits' });
    expect(detail).toContain('may cost 1 credit, and the wallet has only 0 available');
  });

  test('two hundred callers on a hundred credits get a hundred paid answers', async () => {
    const caller = await pipeline.account(100);
    await pipeline.sql`
      update api_keys set requests_per_minute = 1000 where id = ${caller.keyId}`;
    const path = '/v1/people/enrich?email=ada%40acme.example';
    const answers = await Promise.all(Array.from({ length: 200 }, () => get(caller, path)));
    const statuses = answers.map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 402)).toHaveLength(100);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
    expect((await pipeline.charges(caller)).length).toBe(100);
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });

  test('a dear call that does not fit leaves what a cheap one behind it needs', async () => {
    const caller = await pipeline.account(9);
    const mobile = '/v1/people/mobile?email=ada%40acme.example';
    const person = '/v1/people/enrich?email=ada%40acme.example';
    const answers = await Promise.all([mobile, mobile, person].map((path) => get(caller, path)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 200, 402]);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
  });

  test('HEAD is refused: a response without a body is never charged', async () => {
    const caller = await pipeline.account(5);
    const path = '/v1/people/enrich?email=ada%40acme.example';
    expect((await pipeline.call(caller, path, { method: 'HEAD' })).status).toBe(405);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 5, reserved: 0 });
  });

  test('a test key sees the graph of test keys and never the wallet', async () => {
    const owner = await pipeline.account(5);
    const caller = await pipeline.keyOf(owner.accountId, 'test');
    const response = await get(caller, '/v1/people/enrich?email=ada%40acme.example');
    await expectProblem(response, { status: 404, code: 'no_match' });
    expect(await pipeline.wallet(owner)).toEqual({ balance: 5, reserved: 0 });
  });
});

describe('limits', () => {
  test('sixty a minute are let in, the next is told when to come back', async () => {
    const caller = await pipeline.account(0);
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 150 }, () => get(caller, '/v1/me')));
    const seconds = (performance.now() - started) / 1000;
    const refused = answers.find((answer) => answer.status !== 200);
    const admitted = answers.filter((answer) => answer.status === 200).length;
    expect(admitted).toBeGreaterThanOrEqual(60);
    // The bucket gets a token a second.
    expect(admitted).toBeLessThanOrEqual(60 + seconds);
    await expectProblem(refused as Response, { status: 429, code: 'rate_limited' });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect(refused?.headers.get('ratelimit')).toMatch(/^"minute";r=0;t=\d+$/);
    expect(refused?.headers.get('ratelimit-policy')).toBe(
      '"minute";q=60;w=60, "day";q=10000;w=86400',
    );
  });

  test('a refused call is charged nothing and counts for nothing', async () => {
    const caller = await pipeline.account(10);
    await pipeline.sql`update api_keys set requests_per_day = 2 where id = ${caller.keyId}`;
    const path = '/v1/people/enrich?email=ada%40acme.example';
    const statuses: number[] = [];
    for (let call = 0; call < 4; call++) statuses.push((await get(caller, path)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 8, reserved: 0 });
  });
});

test('a call by identifier does not wait for the calls by name of another account', async () => {
  const [greedy, other] = [await pipeline.account(10), await pipeline.account(10)];
  const named = await inTransaction(pipeline.sql, async (tx) => {
    await tx`lock table graph.name_statistics in access exclusive mode`;
    const query = 'match=likely&name=Nora+Nobody&company=Acme';
    const waiting = get(greedy, `/v1/people/enrich?${query}`);
    const isWaiting = () => tx`
      select from pg_locks where relation = 'graph.name_statistics'::regclass and not granted`;
    while ((await isWaiting()).length === 0);
    const called = await get(other, '/v1/people/enrich?email=ada%40acme.example');
    expect(called.status).toBe(200);
    return { waiting };
  });
  expect((await named.waiting).status).toBe(404);
});
