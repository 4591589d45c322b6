import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { createKey } from '../core/keys/keys.ts';

/** As many places as the service has by default. */
const ACCOUNT_IN_FLIGHT = 2;
const ACCOUNT_WAITING = 64;
/** Names are looked up in a table that the searches of others do not read. */
const HANGING = '/personsearch/preview?industryList=Oil';

let pipeline: Pipeline;
beforeAll(async () => {
  // A search ends here by a cancellation alone.
  pipeline = await openPipeline({ SEARCH_TIMEOUT_MS: '600000' });
  await importGraph(pipeline.sql, {
    persons: [{ id: 1, name: 'Ada', industryId: 3 }],
    industries: [{ id: 3, name: 'Oil' }],
  });
});
afterAll(() => pipeline.close());

let unlock = async () => {};
afterEach(() => unlock());

/** Lets everything hang that reads the table: of industries, every search that looks up the name of one. */
async function lockTable(table: string): Promise<void> {
  const lock = await pipeline.sql.reserve();
  await lock`begin`;
  await lock`lock table ${lock(table)}`;
  unlock = async () => {
    unlock = async () => {};
    await lock`rollback`;
    lock.release();
  };
}

/** An account whose key may ask as often as a test does. */
async function frequentCaller(): Promise<Caller> {
  const { accountId } = await pipeline.account(1000);
  const limits = { requestsPerMinute: 1000, requestsPerDay: 1000 };
  const { id, key } = await createKey(pipeline.sql, { accountId, mode: 'live', ...limits });
  return { accountId, keyId: id, key };
}

/** Process ids of the sessions that hang. */
async function hanging(): Promise<number[]> {
  const rows = await pipeline.sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' order by pid`;
  return rows.map(({ pid }) => pid);
}

const untilHanging = (searches: number) =>
  vi.waitUntil(async () => (await hanging()).length === searches, { timeout: 10_000 });

test('an account that asks for more than its share is refused, and others are served', async () => {
  await lockTable('industries');
  const [greedy, other] = [await frequentCaller(), await frequentCaller()];
  const asked = Array.from({ length: ACCOUNT_IN_FLIGHT + ACCOUNT_WAITING + 4 }, () =>
    pipeline.call(greedy, HANGING),
  );
  const refused = await Promise.race(asked);
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toContain('searches of the account');
  expect(refused.headers.get('retry-after')).not.toBeNull();
  await untilHanging(ACCOUNT_IN_FLIGHT);
  for (const path of ['/personsearch/preview?name=*', '/personsearch/?name=ada&limit=1']) {
    expect((await pipeline.call(other, path)).status).toBe(200);
  }
  await unlock();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
  // A slow machine lets the others wait too long for a turn.
  expect(statuses.every((status) => [200, 429, 503].includes(status))).toBe(true);
  expect((await pipeline.call(greedy, HANGING)).status).toBe(200);
});

test('replays of a page are searches in the share of their account', async () => {
  const greedy = await frequentCaller();
  const ask = () =>
    pipeline.call(greedy, '/personsearch/?name=ada', { headers: { 'Idempotency-Key': 'page' } });
  const page = await (await ask()).text();
  await lockTable('person_records');
  const asked = Array.from({ length: ACCOUNT_IN_FLIGHT + ACCOUNT_WAITING + 4 }, ask);
  await untilHanging(ACCOUNT_IN_FLIGHT);
  await expectProblem(await Promise.race(asked), { status: 429, code: 'rate_limited' });
  await unlock();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  // A slow machine lets some wait too long for a turn, and others come when one has ended.
  expect(statuses.every((status) => [200, 429, 503].includes(status))).toBe(true);
  const replayed = await ask();
  expect(replayed.headers.get('idempotent-replayed')).toBe('true');
  expect(await replayed.text()).toBe(page);
});

test('the searches of all keys of an account are one share, of both modes', async () => {
  await lockTable('industries');
  const live = await frequentCaller();
  const second = await pipeline.keyOf(live.accountId, 'live');
  const asked = [live, second, live].map((caller) => pipeline.call(caller, HANGING));
  await untilHanging(ACCOUNT_IN_FLIGHT);
  const [first] = await hanging();
  // Whoever waits is not in the database.
  const testKey = await pipeline.keyOf(live.accountId, 'test');
  const waiting = pipeline.call(testKey, '/personsearch/preview?name=*');
  expect((await hanging())[0]).toBe(first);
  await unlock();
  for (const answer of await Promise.all([...asked, waiting])) expect(answer.status).toBe(200);
});

test('a client that hangs up frees its place, and its statement is ended in the database', async () => {
  await lockTable('industries');
  const caller = await frequentCaller();
  const hangUp = new AbortController();
  const gone = Array.from({ length: ACCOUNT_IN_FLIGHT }, () =>
    pipeline.call(caller, HANGING, { signal: hangUp.signal }).catch(() => 'gone'),
  );
  await untilHanging(ACCOUNT_IN_FLIGHT);
  const before = await hanging();
  const next = pipeline.call(caller, '/personsearch/preview?name=*');
  hangUp.abort();
  // The place is free although the table is still locked.
  expect((await next).status).toBe(200);
  await untilHanging(0);
  expect(await Promise.all(gone)).toEqual(['gone', 'gone']);
  expect(before).toHaveLength(ACCOUNT_IN_FLIGHT);
});

test('a client that hangs up while it waits is not asked for in the database', async () => {
  await lockTable('industries');
  const caller = await frequentCaller();
  const inFlight = Array.from({ length: ACCOUNT_IN_FLIGHT }, () => pipeline.call(caller, HANGING));
  await untilHanging(ACCOUNT_IN_FLIGHT);
  const hangUp = new AbortController();
  const paid = pipeline.call(caller, '/personsearch/?industryList=Oil&limit=1', {
    signal: hangUp.signal,
  });
  hangUp.abort();
  await expect(paid).rejects.toThrow();
  await unlock();
  await Promise.all(inFlight);
  expect((await pipeline.wallet(caller))?.balance).toBe(1000);
});

test('a search that the database did not end in time costs its key 20 requests', async () => {
  const hasty = await openPipeline({ SEARCH_TIMEOUT_MS: '50' });
  try {
    const lock = await hasty.sql.reserve();
    await lock`begin`;
    await lock`lock table person_search`;
    const { accountId } = await hasty.account(10);
    const limits = { requestsPerMinute: 30, requestsPerDay: 1000 };
    const { key } = await createKey(hasty.sql, { accountId, mode: 'live', ...limits });
    const caller = { accountId, keyId: '', key };
    const ask = (path: string) => hasty.call(caller, path);
    expect((await ask('/personsearch/preview?name=*')).status).toBe(503);
    const second = await ask('/personsearch/?name=ada&limit=1&skip=5');
    await expectProblem(second, { status: 503, code: 'use_cursor' });
    const third = await ask('/personsearch/preview?name=*');
    await expectProblem(third, { status: 429, code: 'rate_limited' });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(15);
    await lock`rollback`;
    lock.release();
  } finally {
    await hasty.close();
  }
});
