/** Look-ups of reconciliation, which may be free, are shared between accounts. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';
import { createKey } from '../../core/keys/keys.ts';
import { inReadingTurn } from '../../jobs/list/reading-turns.ts';

const IN_FLIGHT = 1;
const WAITING = 64;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  const persons = [{ id: 1, name: 'Ada', email: 'ada@x.example' }];
  await importGraph(pipeline.sql, { persons, companies: [{ id: 10, name: 'Nordlicht Optik' }] });
});
afterAll(() => pipeline.close());

/** Keeps all from looking companies up by their names until the returned function is called. */
async function holdCompanies(): Promise<() => Promise<void>> {
  const session = await pipeline.sql.reserve();
  await session`begin`;
  await session`lock company_name_keys in access exclusive mode`;
  return async () => {
    await session`rollback`;
    session.release();
  };
}

async function reconciler(): Promise<Caller> {
  const { accountId } = await pipeline.account(10);
  const limits = { requestsPerMinute: 100_000, requestsPerDay: 100_000 };
  const key = { accountId, mode: 'live', ...limits } as const;
  const made = await createKey(pipeline.sql, { ...key, scopes: ['reconcile'] });
  return { accountId, keyId: made.id, key: made.key };
}

function ask({ key }: Caller, more: object = {}): Promise<Response> {
  const queries = JSON.stringify({ q: { query: 'Nordlicht Optik', type: 'company', ...more } });
  const body = new URLSearchParams({ queries });
  return pipeline.call(null, `/v1/reconcile/${key}`, { method: 'POST', body });
}

test('an account looks up one call at a time, is refused beyond its share, and others are served', async () => {
  const greedy = await reconciler();
  const letGo = await holdCompanies();
  const calls = Array.from({ length: IN_FLIGHT + WAITING + 4 }, () => ask(greedy));
  const refused = await Promise.race(calls);
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toContain(`${IN_FLIGHT + WAITING} for look-ups by name`);
  const other = await pipeline.account(10);
  const matched = await pipeline.call(other, '/v1/people/enrich?email=ada@x.example');
  expect(matched.status).toBe(200);
  await pipeline.untilBlocked(IN_FLIGHT);
  await letGo();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  expect(statuses.filter((status) => status === 200)).toHaveLength(IN_FLIGHT + WAITING);
});

test('a long body waits for its account’s turn to be parsed, and calls of others do not', async () => {
  const greedy = await reconciler();
  const other = await pipeline.account(10);
  const held = new Signal();
  const reader = { accountId: other.accountId, signal: new AbortController().signal };
  const turn = inReadingTurn(reader, () => held.raised);
  let ended = 0;
  // Many fields, which are refused.
  const body = Array.from({ length: 10_000 }, (_, field) => field.toString(36)).join('&');
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const calls = Array.from({ length: 60 }, async () => {
    const init = { method: 'POST', headers, body };
    const { status } = await pipeline.call(null, `/v1/reconcile/${greedy.key}`, init);
    ended++;
    return status;
  });
  for (let call = 0; call < 10; call++) {
    expect((await pipeline.call(other, '/v1/people/enrich?email=ada@x.example')).status).toBe(200);
  }
  expect(ended).toBe(0);
  expect((await ask(greedy)).status).toBe(200);
  held.raise();
  await turn;
  expect(new Set(await Promise.all(calls))).toEqual(new Set([400]));
});

test('a query has a hundred properties at most, because it keeps them while it waits', async () => {
  const caller = await reconciler();
  const listed = (count: number) => Array.from({ length: count }, () => ({ pid: 'city', v: [] }));
  expect((await ask(caller, { properties: listed(100) })).status).toBe(200);
  const problem = await expectProblem(await ask(caller, { properties: listed(101) }), {
    status: 400,
    code: 'invalid_parameter',
  });
  expect(problem.detail).toContain('q.properties');
});

test('a call whose key is revoked while it waits for its turn gets nothing', async () => {
  const caller = await reconciler();
  const letGo = await holdCompanies();
  const first = ask(caller);
  await pipeline.untilBlocked(1);
  const second = ask(caller);
  // Calls are admitted in the order in which they come.
  expect((await pipeline.call(null, `/v1/reconcile/${caller.key}`)).status).toBe(200);
  await revokeKey(pipeline.sql, displayPrefix(caller.key));
  await letGo();
  expect((await first).status).toBe(200);
  await expectProblem(await second, { status: 403, code: 'key_revoked' });
});
