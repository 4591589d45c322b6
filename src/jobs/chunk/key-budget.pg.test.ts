/** A key's daily budget limits its lists as it limits its single calls. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { setCreditsPerDay } from '../../core/credits/key-budgets.sql.ts';
import { createKey } from '../../core/keys/keys.ts';
import { audit } from '../audit/audit.ts';
import { runHousekeeping } from '../housekeeping/run-housekeeping.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  const persons = crowd(20).map((person, n) => ({ ...person, mobile: `+4479111230${10 + n}` }));
  await importGraph(pipeline.sql, { persons });
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.put;
  const { checks } = await audit(pipeline.sql);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
});

const options = { operation: 'people.enrich', fields: 'id' };

/** A list of `count` people, all in the graph. */
function people(count: number): string {
  const rows = Array.from({ length: count }, (_, index) => `p${(index % 20) + 1}@list.example`);
  return `email\n${rows.join('\n')}\n`;
}

async function sweepAndRun(): Promise<void> {
  await pipeline.sweep();
  await pipeline.runUntilIdle();
}

/** Credits that single calls and lists of a key have taken from its daily budget. */
async function takenToday({ keyId }: Caller): Promise<number> {
  const [row] = await pipeline.sql<{ taken: number }[]>`
    select credits_taken_today(b) as taken from key_budgets b
    where key_id = ${keyId}`;
  return row?.taken ?? Number.NaN;
}

const onePerson = '/v1/people/enrich?email=p1@list.example';

describe('a held list that another key starts', () => {
  const held = { ...options, hold: 'true' };
  const start = (caller: Caller, id: string) =>
    pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });

  /** A key of the account that may spend this much in a day. */
  async function keyOf({ accountId }: Caller, creditsPerDay: number | null): Promise<Caller> {
    const { id, key } = await createKey(pipeline.sql, { accountId, mode: 'live', creditsPerDay });
    return { accountId, keyId: id, key };
  }

  test.each([
    ['without a budget', null],
    ['with a higher one', 8],
  ])('counts towards the starting key, if the list is of a key %s', async (_, creditsPerDay) => {
    const maker = await pipeline.boundedAccount(100, creditsPerDay);
    const starter = await keyOf(maker, 3);
    const id = await pipeline.enrich(maker, people(9), { ...held, max_credits: '2' });
    const raised = await pipeline.call(starter, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ max_credits: null }),
    });
    expect(raised.status).toBe(200);
    expect((await start(starter, id)).status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(maker, id)).toMatchObject({
      reason: 'key_budget',
      credits: { charged: 3, reserved: 0 },
    });
    expect(await takenToday(starter)).toBe(3);
  });

  test.each([
    ['without a budget', null],
    ['with a higher one', 8],
  ])('stays with its own key, if the starting key is one %s', async (_, creditsPerDay) => {
    const maker = await pipeline.boundedAccount(100, 3);
    const starter = await keyOf(maker, creditsPerDay);
    const id = await pipeline.enrich(maker, people(9), held);
    expect((await start(starter, id)).status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(maker, id)).toMatchObject({ credits: { charged: 3 } });
    expect(await takenToday(maker)).toBe(3);
  });

  test('is neither resumed nor given more by a key that may spend less, once it has started', async () => {
    const maker = await pipeline.boundedAccount(100, 50);
    const tight = await keyOf(maker, 3);
    const free = await keyOf(maker, null);
    const id = await pipeline.enrich(maker, people(9), { ...options, max_credits: '2' });
    const cap = (caller: Caller, max_credits: number | null) =>
      pipeline.call(caller, `/v1/batches/${id}`, {
        method: 'PATCH',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ max_credits }),
      });
    const act = (caller: Caller, action: string) =>
      pipeline.call(caller, `/v1/batches/${id}/${action}`, { method: 'POST' });
    const forbidden = { status: 403, code: 'forbidden' };
    for (const more of [5, null]) await expectProblem(await cap(tight, more), forbidden);
    // It may stop what costs, and lower what may be spent.
    expect((await act(tight, 'pause')).status).toBe(202);
    expect((await cap(tight, 2)).status).toBe(200);
    await expectProblem(await act(tight, 'resume'), forbidden);
    expect((await cap(free, 4)).status).toBe(200);
    expect((await act(maker, 'resume')).status).toBe(202);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(maker, id)).toMatchObject({ credits: { charged: 4 } });
    expect(await takenToday(maker)).toBe(4);
  });

  test('stays with its own key when neither has a budget, also when the starting one had', async () => {
    const maker = await pipeline.account(100);
    const starter = await keyOf(maker, 3);
    await setCreditsPerDay(pipeline.sql, starter.keyId, null);
    const id = await pipeline.enrich(maker, people(9), held);
    expect((await start(starter, id)).status).toBe(202);
    const [row] = await pipeline.sql<
      { keyId: string }[]
    >`select key_id from batches where id = ${id}`;
    expect(row?.keyId).toBe(maker.keyId);
    await pipeline.runUntilIdle();
  });
});

describe('a list that exceeds its key’s daily budget', () => {
  test('pays the longest prefix, pauses, and resumes after midnight to the same file', async () => {
    const list = people(10);
    const rich = await pipeline.account(100);
    const whole = await pipeline.results(rich, await pipeline.enrich(rich, list, options));
    const caller = await pipeline.boundedAccount(100, 6);
    const id = await pipeline.enrich(caller, list, options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'key_budget',
      rows: { processed: 6, matched: 6, not_processed: 0 },
      credits: { charged: 6, reserved: 0 },
    });
    // Neither time within the day nor credits in the wallet resume it.
    await pipeline.grant(caller, 100, 'top-up');
    await pipeline.passAnHour();
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({ reason: 'key_budget' });
    const problem = { status: 402, code: 'daily_credits_reached' };
    await expectProblem(await pipeline.call(caller, onePerson), problem);

    await pipeline.passADay(caller);
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed', reason: null });
    expect(await pipeline.results(caller, id)).toEqual(whole);
    expect(await takenToday(caller)).toBe(4);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 190, reserved: 0 });
  });

  test('resumes when the budget is raised, and completes when it is removed', async () => {
    const caller = await pipeline.boundedAccount(100, 2);
    const id = await pipeline.enrich(caller, people(9), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 2 } });
    await setCreditsPerDay(pipeline.sql, caller.keyId, 5);
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      reason: 'key_budget',
      credits: { charged: 5 },
    });
    await setCreditsPerDay(pipeline.sql, caller.keyId, null);
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      credits: { charged: 9 },
    });
    // A restored budget counts what was spent without it.
    await setCreditsPerDay(pipeline.sql, caller.keyId, 9);
    expect((await pipeline.call(caller, onePerson)).status).toBe(402);
  });

  test('keeps a remainder below the price of a match', async () => {
    const caller = await pipeline.boundedAccount(100, 20);
    const id = await pipeline.enrich(caller, people(4), { operation: 'people.mobile' });
    expect(await pipeline.batch(caller, id)).toMatchObject({
      reason: 'key_budget',
      credits: { charged: 16, reserved: 0 },
    });
    expect(await takenToday(caller)).toBe(16);
  });

  test('pays nothing when the budget was lowered below what is spent', async () => {
    const caller = await pipeline.boundedAccount(100, 6);
    await pipeline.enrich(caller, people(4), options);
    await setCreditsPerDay(pipeline.sql, caller.keyId, 2);
    const id = await pipeline.enrich(caller, people(3), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      reason: 'key_budget',
      rows: { processed: 0 },
      credits: { charged: 0, reserved: 0 },
    });
    expect(await pipeline.wallet(caller)).toEqual({ balance: 96, reserved: 0 });
  });

  test('shows whether it waits for the wallet or the key, as that changes', async () => {
    const caller = await pipeline.boundedAccount(2, 3);
    const id = await pipeline.enrich(caller, people(5), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({ reason: 'insufficient_credits' });
    await setCreditsPerDay(pipeline.sql, caller.keyId, 2);
    await pipeline.grant(caller, 100, 'top-up');
    await pipeline.sweep();
    expect(await pipeline.batch(caller, id)).toMatchObject({ reason: 'key_budget' });
    await pipeline.passADay(caller);
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 4 } });
  });

  test('paused by its owner stays paused whatever the budget', async () => {
    const caller = await pipeline.boundedAccount(100, 1);
    const id = await pipeline.enrich(caller, people(3), options);
    await pipeline.call(caller, `/v1/batches/${id}/pause`, { method: 'POST' });
    await pipeline.passADay(caller);
    await sweepAndRun();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'paused', reason: 'user' });
  });

  test('with max_credits below the budget pauses as it would without a budget', async () => {
    const caller = await pipeline.boundedAccount(100, 3);
    const id = await pipeline.enrich(caller, people(5), { ...options, max_credits: '3' });
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      rows: { matched: 3, not_processed: 0 },
    });
  });
});

test('concurrent lists and single calls of a key never exceed its daily budget', async () => {
  const caller = await pipeline.boundedAccount(1000, 23);
  for (const _ of [1, 2]) await pipeline.upload(caller, people(18), options);
  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 30 }, () => pipeline.call(caller, onePerson))),
    pipeline.runUntilIdle(3),
  ]);
  const calls = answers.filter(({ status }) => status === 200).length;
  expect(answers.filter(({ status }) => status === 402)).toHaveLength(30 - calls);
  const charges = await pipeline.charges(caller);
  expect(charges.reduce((sum, { amount }) => sum + amount, 0)).toBe(-23);
  expect(await pipeline.wallet(caller)).toEqual({ balance: 977, reserved: 0 });
  expect(await takenToday(caller)).toBe(23);
});

/** True for the person index of a part. */
function isBesidePart(key: string): boolean {
  return key.endsWith('.ids');
}

describe('a reservation', () => {
  test('that is voided returns its credits to the daily budget', async () => {
    const caller = await pipeline.boundedAccount(100, 5);
    const id = await pipeline.upload(caller, people(4), options);
    const taken: number[] = [];
    pipeline.faults.put = async (key) => {
      if (isBesidePart(key)) return;
      taken.push(await takenToday(caller));
      await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
    };
    await pipeline.runUntilIdle();
    // The matches, then the unprocessed rows.
    expect(taken).toEqual([4, 0]);
    expect(await takenToday(caller)).toBe(0);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 100, reserved: 0 });
  });

  test('that is voided after midnight returns nothing to the new day', async () => {
    const caller = await pipeline.boundedAccount(100, 5);
    await pipeline.upload(caller, people(4), options);
    pipeline.faults.put = async (key) => {
      if (isBesidePart(key)) return;
      await pipeline.passADay(caller);
      expect((await pipeline.call(caller, onePerson)).status).toBe(200);
      throw new Error('no space left on device');
    };
    await pipeline.runUntilIdle();
    expect(await takenToday(caller)).toBe(1);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 99, reserved: 0 });
  });

  test('that is settled after midnight stays spent on the day before', async () => {
    const caller = await pipeline.boundedAccount(100, 4);
    const id = await pipeline.upload(caller, people(4), options);
    pipeline.faults.put = () => pipeline.passADay(caller);
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 4 } });
    expect(await takenToday(caller)).toBe(0);
    expect((await pipeline.call(caller, onePerson)).status).toBe(200);
  });
});

describe('lists of keys that share the budget of the key that created them', () => {
  /** A key with the budget of its creator, which it shares. */
  async function successorOf({ accountId, keyId }: Caller, creditsPerDay: number): Promise<Caller> {
    const counted = { creditsOf: keyId, creditsPerDay };
    const { id, key } = await createKey(pipeline.sql, { accountId, mode: 'live', ...counted });
    return { accountId, keyId: id, key };
  }

  test('spend from one budget, and wait for it', async () => {
    const maker = await pipeline.boundedAccount(100, 6);
    const child = await successorOf(maker, 6);
    await pipeline.enrich(maker, people(4), options);
    const id = await pipeline.enrich(child, people(4), options);
    const waiting = { state: 'paused', reason: 'key_budget', credits: { charged: 2 } };
    expect(await pipeline.batch(child, id)).toMatchObject(waiting);
    await sweepAndRun();
    expect(await pipeline.batch(child, id)).toMatchObject(waiting);
    expect((await pipeline.call(maker, onePerson)).status).toBe(402);
    expect(await takenToday(maker)).toBe(6);
    await pipeline.passADay(maker);
    await sweepAndRun();
    expect(await pipeline.batch(child, id)).toMatchObject({ state: 'completed' });
    expect(await takenToday(maker)).toBe(2);
  });

  test('return voided credits to the day that they were taken from', async () => {
    const maker = await pipeline.boundedAccount(100, 5);
    const child = await successorOf(maker, 4);
    const id = await pipeline.upload(child, people(4), options);
    const taken: number[] = [];
    pipeline.faults.put = async (key) => {
      if (isBesidePart(key)) return;
      taken.push(await takenToday(maker));
      await pipeline.call(child, `/v1/batches/${id}/cancel`, { method: 'POST' });
    };
    await pipeline.runUntilIdle();
    expect(taken).toEqual([4, 0]);
    expect(await takenToday(maker)).toBe(0);
  });

  test('are limited by a lower budget of their creator', async () => {
    const maker = await pipeline.boundedAccount(100, 5);
    const child = await successorOf(maker, 5);
    await setCreditsPerDay(pipeline.sql, maker.keyId, 1);
    const id = await pipeline.enrich(child, people(4), options);
    expect(await pipeline.batch(child, id)).toMatchObject({ credits: { charged: 1 } });
  });
});

test('a charge with a late clock after midnight counts on the new day instead of restarting the old one', async () => {
  const caller = await pipeline.boundedAccount(100, 2);
  // As if another process's clock had passed midnight and spent from the new day.
  await pipeline.sql`
    update key_budgets set day = utc_today() + 1, spent = 1 where key_id = ${caller.keyId}`;
  expect((await pipeline.call(caller, onePerson)).status).toBe(200);
  expect(await takenToday(caller)).toBe(2);
  expect((await pipeline.call(caller, onePerson)).status).toBe(402);
  await pipeline.passADay(caller);
  expect(await takenToday(caller)).toBe(2);
  expect((await pipeline.call(caller, onePerson)).status).toBe(402);
});

test('what lists took before the clock was set back counts for today, and the audit agrees', async () => {
  const caller = await pipeline.boundedAccount(100, 9);
  await pipeline.enrich(caller, people(3), options);
  const move = (days: number) => pipeline.sql`
    update reservations set budget_day = budget_day + ${days}::int where account_id = ${caller.accountId}`;
  await move(-1);
  await pipeline.enrich(caller, people(2), options);
  // Three credits on the next to last of the days ahead, and two on the last one.
  await move(30);
  await pipeline.sql`
    update key_budgets set day = day + 30, spent_by_batches = 2 where key_id = ${caller.keyId}`;
  await runHousekeeping(pipeline.context);
  expect(await takenToday(caller)).toBe(2);
  const id = await pipeline.enrich(caller, people(9), options);
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'key_budget',
    credits: { charged: 7 },
  });
});
