/** The promises of limits, in every store. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { createAccount } from '../accounts/accounts.ts';
import { openAdmission } from '../keys/admission.ts';
import { hashKey } from '../keys/key-format.ts';
import { createKey } from '../keys/keys.ts';
import type { AppError } from '../lib/errors.ts';
import type { Limiter, RequestLimits } from './limiter.ts';
import { countUnmeteredCall, takeRows, takeUnpaidDisclosures } from './limits.ts';

/** A store of limits under test. */
export interface LimiterHarness {
  limiter: Limiter;
  /** Advances the clock of an owner's bucket by so much time. */
  pass(owner: string, name: string, seconds: number): Promise<void>;
  close(): Promise<void>;
}

interface StoredKey {
  id: string;
  key: string;
}

export function testLimiter(open: (database: TestDatabase) => Promise<LimiterHarness>): void {
  let database: TestDatabase;
  let harness: LimiterHarness;
  let accountId: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    harness = await open(database);
    accountId = await createAccount(database.sql, { name: 'Limited', credits: 7 });
  });
  afterAll(async () => {
    await harness?.close();
    await database?.drop();
  });

  const createLimited = (requestsPerMinute: number, requestsPerDay: number): Promise<StoredKey> =>
    createKey(database.sql, { accountId, mode: 'live', requestsPerMinute, requestsPerDay });

  /** Concurrent calls; returns the result of each. */
  const callMany = async ({ key }: StoredKey, calls: number): Promise<RequestLimits[]> => {
    const admit = openAdmission(database.sql, harness.limiter);
    const admitted = await Promise.all(Array.from({ length: calls }, () => admit(hashKey(key))));
    return admitted.map(({ limits }) => limits);
  };
  const callOnce = async (key: StoredKey) => (await callMany(key, 1))[0] as RequestLimits;
  const countAdmitted = (answers: RequestLimits[]) =>
    answers.filter(({ admitted }) => admitted).length;
  const takeTokens = (bucket: Parameters<Limiter['takeTokens']>[0]) =>
    harness.limiter.takeTokens(bucket);
  const rowsOf = (perMinute: number, cost: number) => ({
    owner: crypto.randomUUID(),
    name: 'rows',
    perMinute,
    cost,
  });

  test('a minute admits its limit at once, then one request in each share of the minute', async () => {
    const key = await createLimited(60, 1000);
    expect(countAdmitted(await callMany(key, 100))).toBe(60);
    const refused = await callOnce(key);
    expect(refused).toMatchObject({ admitted: false, refusedBy: 'minute', minuteRemaining: 0 });
    expect(refused.retrySeconds).toBeGreaterThan(0);
    expect(refused.retrySeconds).toBeLessThanOrEqual(1);
    await harness.pass(key.id, 'requests', 3);
    expect(countAdmitted(await callMany(key, 10))).toBe(3);
  });

  test('a clock that was set back an hour does not lock a key out for an hour', async () => {
    const key = await createLimited(60, 1000);
    await callMany(key, 30);
    await harness.pass(key.id, 'requests', -3600);
    const refused = await callOnce(key);
    expect(refused).toMatchObject({ admitted: false, refusedBy: 'minute' });
    expect(refused.retrySeconds).toBeLessThanOrEqual(61);
    await harness.pass(key.id, 'requests', Math.ceil(refused.retrySeconds));
    expect((await callOnce(key)).admitted).toBe(true);
  });

  test('nor an account out of its unmetered calls', async () => {
    const account = { accountId: crypto.randomUUID() };
    const call = () => countUnmeteredCall(harness.limiter, account);
    await call();
    await harness.pass(account.accountId, 'other calls', -3600);
    const refused = await call().catch((error: AppError) => error);
    expect(refused).toMatchObject({ code: 'rate_limited' });
    expect(refused?.extensions?.retry_after).toBeLessThanOrEqual(61);
    await harness.pass(account.accountId, 'other calls', 61);
    await call();
  });

  test('nor an account out of the unpaid rows that it may see', async () => {
    const accountId = crypto.randomUUID();
    const take = (rows: number) => takeUnpaidDisclosures(harness.limiter, accountId, rows);
    expect(await take(10_000)).toBe(10_000);
    await harness.pass(accountId, 'unpaid disclosures', 3600);
    expect(await take(1)).toBe(0);
    await harness.pass(accountId, 'unpaid disclosures', -30 * 86_400);
    expect(await take(1)).toBe(0);
    await harness.pass(accountId, 'unpaid disclosures', 61);
    expect(await take(1)).toBe(1);
  });

  test('nor a key out of its rows a minute, whatever its longest list has borrowed', async () => {
    const key = { rowsOf: crypto.randomUUID(), rowsPerMinute: 60 };
    const config = { batchRowsMax: 1_200 };
    const take = (rows: number) => takeRows({ limiter: harness.limiter, config }, key, rows);
    expect(await take(1_200)).toBe(0);
    expect(await take(1)).toBeGreaterThan(19 * 60 - 10);
    expect(await take(1)).toBeGreaterThan(19 * 60 - 10);
    await harness.pass(key.rowsOf, 'rows', -86_400);
    expect(await take(1)).toBeLessThanOrEqual(121);
    await harness.pass(key.rowsOf, 'rows', 121);
    expect(await take(1)).toBe(0);
  });

  test('a refunded cost can be taken again', async () => {
    const bucket = rowsOf(2, 1);
    await takeTokens(bucket);
    await takeTokens(bucket);
    expect(await takeTokens(bucket)).toMatchObject({ admitted: false });
    await takeTokens({ ...bucket, cost: -1 });
    expect(await takeTokens(bucket)).toMatchObject({ admitted: true, remaining: 0 });
    expect(await takeTokens(bucket)).toMatchObject({ admitted: false });
  });

  test('owed tokens are regained before the next request', async () => {
    const key = await createLimited(60, 1000);
    await harness.limiter.oweTokens({ owner: key.id, name: 'requests', perMinute: 60, cost: 20 });
    expect((await callOnce(key)).minuteRemaining).toBe(39);
    await harness.limiter.oweTokens({ owner: key.id, name: 'requests', perMinute: 60, cost: 50 });
    const refused = await callOnce(key);
    expect(refused).toMatchObject({ refusedBy: 'minute', minuteRemaining: 0 });
    expect(refused.retrySeconds).toBeGreaterThan(10);
    await harness.pass(key.id, 'requests', Math.ceil(refused.retrySeconds));
    expect((await callOnce(key)).admitted).toBe(true);
  });

  test('concurrent calls of several keys each get their own result, in their order', async () => {
    const [few, many] = [await createLimited(3, 1000), await createLimited(60, 4)];
    const admit = openAdmission(database.sql, harness.limiter);
    const turns = [few, many, few, few, many, few, many, many, many];
    const answers = await Promise.all(turns.map(({ key }) => admit(hashKey(key))));
    const toldOf = (wanted: StoredKey) =>
      answers
        .filter(({ key }) => key.id === wanted.id)
        .map(({ limits }) => limits.refusedBy ?? [limits.minuteRemaining, limits.dayRemaining]);
    expect(toldOf(few)).toEqual([[2, 999], [1, 998], [0, 997], 'minute']);
    expect(toldOf(many)).toEqual([[59, 3], [58, 2], [57, 1], [56, 0], 'day']);
  });

  describe('keys that share counters', () => {
    /** One key with these limits, and others that share its counters. */
    const createFamily = async (limits: [minute: number, day: number][]): Promise<StoredKey[]> => {
      const family: StoredKey[] = [];
      for (const [requestsPerMinute, requestsPerDay] of limits) {
        const [first] = family;
        const counters = first === undefined ? {} : { requestsOf: first.id };
        const key = { requestsPerMinute, requestsPerDay, ...counters };
        family.push(await createKey(database.sql, { accountId, mode: 'live', ...key }));
      }
      return family;
    };

    test('share the minute, even for concurrent calls', async () => {
      const family = await createFamily([
        [60, 1000],
        [60, 1000],
        [60, 1000],
      ]);
      const admit = openAdmission(database.sql, harness.limiter);
      const turns = Array.from({ length: 120 }, (_, call) => family[call % 3] as StoredKey);
      const answers = await Promise.all(turns.map(({ key }) => admit(hashKey(key))));
      expect(countAdmitted(answers.map(({ limits }) => limits))).toBe(60);
      for (const key of family) expect(await callOnce(key)).toMatchObject({ refusedBy: 'minute' });
    });

    test('share the day, of which each may use up to its own limit', async () => {
      const [parent, child] = await createFamily([
        [1000, 10],
        [1000, 4],
      ]);
      if (parent === undefined || child === undefined) throw new Error('two keys');
      expect(countAdmitted(await callMany(child, 3))).toBe(3);
      expect(await callOnce(parent)).toMatchObject({ admitted: true, dayRemaining: 6 });
      expect(await callOnce(child)).toMatchObject({ admitted: false, refusedBy: 'day' });
      const admit = openAdmission(database.sql, harness.limiter);
      const turns = Array.from({ length: 40 }, (_, call) => (call % 2 ? parent : child));
      const answers = await Promise.all(turns.map(({ key }) => admit(hashKey(key))));
      expect(countAdmitted(answers.map(({ limits }) => limits))).toBe(6);
      expect(await callOnce(parent)).toMatchObject({ admitted: false, refusedBy: 'day' });
    });

    test('leave each other the requests that one of them may not use', async () => {
      const [slow, fast] = await createFamily([
        [1, 1000],
        [600, 1000],
      ]);
      if (slow === undefined || fast === undefined) throw new Error('two keys');
      expect(countAdmitted(await callMany(fast, 300))).toBe(300);
      const admit = openAdmission(database.sql, harness.limiter);
      const turns = [
        ...Array.from({ length: 20 }, () => slow),
        ...Array.from({ length: 20 }, () => fast),
      ];
      const answers = await Promise.all(turns.map(({ key }) => admit(hashKey(key))));
      expect(countAdmitted(answers.map(({ limits }) => limits))).toBe(20);
    });
  });

  test('a limit that does not divide a minute loses no call, and returns what is left', async () => {
    const key = await createLimited(7, 1000);
    const left = (await callMany(key, 9)).map(({ minuteRemaining }) => minuteRemaining);
    expect(left).toEqual([6, 5, 4, 3, 2, 1, 0, 0, 0]);
  });

  test.each([7, 60, 97])(
    'a client that waits as long as a limit of %i a minute states is then admitted',
    async (limit) => {
      const key = await createLimited(limit, 1000);
      await callMany(key, limit);
      for (let wait = 0; wait < 5; wait++) {
        let answer = await callOnce(key);
        while (answer.admitted) answer = await callOnce(key);
        // Whole seconds, as in `Retry-After`.
        await harness.pass(key.id, 'requests', Math.ceil(answer.retrySeconds));
        expect((await callOnce(key)).admitted).toBe(true);
      }
    },
  );

  test('every result states what is left, and until when', async () => {
    const key = await createLimited(60, 5000);
    const first = await callOnce(key);
    expect(first).toMatchObject({ admitted: true, refusedBy: null, retrySeconds: 0 });
    expect(first).toMatchObject({ minuteRemaining: 59, dayRemaining: 4999 });
    expect(first.minuteResetSeconds).toBeCloseTo(1, 3);
    const dayLeft = 86_400 - ((Date.now() / 1000) % 86_400);
    expect(Math.abs(first.dayResetSeconds - dayLeft)).toBeLessThan(5);
  });

  test('a day admits exactly its cap, and a refused request takes nothing', async () => {
    const key = await createLimited(1000, 50);
    expect(countAdmitted(await callMany(key, 80))).toBe(50);
    const refused = await callOnce(key);
    expect(refused).toMatchObject({ admitted: false, refusedBy: 'day', dayRemaining: 0 });
    expect(refused.minuteRemaining).toBeGreaterThanOrEqual(950);
    expect(refused.retrySeconds).toBe(refused.dayResetSeconds);
    const [counted] = await database.sql<{ requests: number }[]>`
      select requests from day_counts where owner = ${key.id}`;
    expect(counted?.requests).toBe(50);
  });

  test('a raised day limit admits the difference, a lowered one nothing', async () => {
    const key = await createLimited(1000, 20);
    expect(countAdmitted(await callMany(key, 30))).toBe(20);
    const setCap = (cap: number) =>
      database.sql`update api_keys set requests_per_day = ${cap} where id = ${key.id}`;
    await setCap(25);
    expect(countAdmitted(await callMany(key, 30))).toBe(5);
    await setCap(10);
    expect(await callOnce(key)).toMatchObject({ refusedBy: 'day', dayRemaining: 0 });
  });

  test('a revoked and an unknown key are refused and do not count', async () => {
    const key = await createLimited(60, 1000);
    await database.sql`update api_keys set revoked_at = now() where id = ${key.id}`;
    const admit = openAdmission(database.sql, harness.limiter);
    const other = await createLimited(60, 1000);
    const presented = [key.key, other.key, 'svc'];
    const together = await Promise.allSettled(presented.map((text) => admit(hashKey(text))));
    expect(together.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(together[0]).toMatchObject({ reason: { code: 'key_revoked' } });
    expect(together[1]).toMatchObject({ value: { available: 7, limits: { minuteRemaining: 59 } } });
    const counted = await database.sql`select 1 from day_counts where owner = ${key.id}`;
    expect(counted).toHaveLength(0);
  });

  test('a cost above the capacity is admitted by a full bucket and puts it into debt', async () => {
    const bucket = rowsOf(100, 250);
    expect((await takeTokens(bucket)).admitted).toBe(true);
    const refused = await takeTokens({ ...bucket, cost: 1 });
    expect(refused).toMatchObject({ admitted: false, remaining: 0 });
    expect(refused.retrySeconds).toBeGreaterThan(89);
    expect(refused.retrySeconds).toBeLessThan(91);
    await harness.pass(bucket.owner, 'rows', 91);
    expect((await takeTokens({ ...bucket, cost: 1 })).admitted).toBe(true);
  });

  test('a refusal states the time after which the same cost is admitted', async () => {
    const bucket = rowsOf(600, 400);
    expect((await takeTokens(bucket)).admitted).toBe(true);
    const { admitted, retrySeconds } = await takeTokens(bucket);
    expect(admitted).toBe(false);
    await harness.pass(bucket.owner, 'rows', retrySeconds - 1);
    expect((await takeTokens(bucket)).admitted).toBe(false);
    await harness.pass(bucket.owner, 'rows', 1);
    expect((await takeTokens(bucket)).admitted).toBe(true);
  });

  test('two buckets of one owner, and one name of two owners, are independent', async () => {
    const bucket = rowsOf(10, 10);
    expect((await takeTokens(bucket)).admitted).toBe(true);
    expect((await takeTokens({ ...bucket, name: 'other calls' })).admitted).toBe(true);
    expect((await takeTokens(rowsOf(10, 10))).admitted).toBe(true);
    expect((await takeTokens(bucket)).admitted).toBe(false);
  });
}
