import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { takeTokens } from './queries.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Key {
  id: string;
  requestsPerMinute: number;
  requestsPerDay: number;
}

async function takeRequest(key: Key) {
  const [answer] = await database.sql<
    {
      admitted: boolean;
      refusedBy: string | null;
      minuteRemaining: number;
      dayRemaining: number;
      retrySeconds: number;
    }[]
  >`
    select *, extract(epoch from retry_in)::float8 as retry_seconds
    from take_request(${key.id}, ${key.requestsPerMinute}, ${key.requestsPerDay})`;
  if (answer === undefined) throw new Error('no answer');
  return answer;
}

/** Moves a bucket's clock: as if so much time had passed. */
async function pass(owner: string, seconds: number): Promise<void> {
  await database.sql`
    update rate_buckets set full_at = full_at - make_interval(secs => ${seconds})
    where owner = ${owner}`;
}

test('a minute admits its limit at once, then one request for each share of the minute', async () => {
  const key = { id: crypto.randomUUID(), requestsPerMinute: 60, requestsPerDay: 1000 };
  const answers = await Promise.all(Array.from({ length: 100 }, () => takeRequest(key)));
  expect(answers.filter((answer) => answer.admitted)).toHaveLength(60);
  const refused = await takeRequest(key);
  expect(refused).toMatchObject({ admitted: false, refusedBy: 'minute', minuteRemaining: 0 });
  expect(refused.retrySeconds).toBeGreaterThan(0);
  expect(refused.retrySeconds).toBeLessThanOrEqual(1);
  await pass(key.id, 3);
  const later = await Promise.all(Array.from({ length: 10 }, () => takeRequest(key)));
  expect(later.filter((answer) => answer.admitted)).toHaveLength(3);
});

test('a day admits its cap and not one more, and a refused request takes nothing', async () => {
  const key = { id: crypto.randomUUID(), requestsPerMinute: 1000, requestsPerDay: 50 };
  const answers = await Promise.all(Array.from({ length: 80 }, () => takeRequest(key)));
  expect(answers.filter((answer) => answer.admitted)).toHaveLength(50);
  const refused = await takeRequest(key);
  expect(refused).toMatchObject({ admitted: false, refusedBy: 'day', dayRemaining: 0 });
  expect(refused.minuteRemaining).toBe(950);
  const [counted] = await database.sql<{ requests: number }[]>`
    select requests from day_counts where owner = ${key.id}`;
  expect(counted?.requests).toBe(50);
});

test('a cost above the bucket is admitted when it is full, and then runs it into debt', async () => {
  const bucket = { owner: crypto.randomUUID(), name: 'rows', perMinute: 100, cost: 250 };
  expect((await takeTokens(database.sql, bucket)).admitted).toBe(true);
  const refused = await takeTokens(database.sql, { ...bucket, cost: 1 });
  expect(refused.admitted).toBe(false);
  expect(refused.retrySeconds).toBeGreaterThan(89);
  expect(refused.retrySeconds).toBeLessThan(91);
  await pass(bucket.owner, 91);
  expect((await takeTokens(database.sql, { ...bucket, cost: 1 })).admitted).toBe(true);
});

test('a refused bucket names the time after which the same cost is admitted', async () => {
  const bucket = { owner: crypto.randomUUID(), name: 'rows', perMinute: 600, cost: 400 };
  expect((await takeTokens(database.sql, bucket)).admitted).toBe(true);
  const { admitted, retrySeconds } = await takeTokens(database.sql, bucket);
  expect(admitted).toBe(false);
  await pass(bucket.owner, retrySeconds - 1);
  expect((await takeTokens(database.sql, bucket)).admitted).toBe(false);
  await pass(bucket.owner, 1);
  expect((await takeTokens(database.sql, bucket)).admitted).toBe(true);
});
