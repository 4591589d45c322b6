import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { inTransaction } from '../db/client.ts';
import { testLimiter } from './limiter.test-suite.ts';
import { deleteOldLimits, takeTokens } from './limits.sql.ts';
import { openPostgresLimiter } from './postgres-limiter.ts';

describe('limits in Postgres', () => {
  testLimiter(async ({ sql }) => ({
    limiter: openPostgresLimiter(sql),
    async pass(owner, name, seconds) {
      await sql`
        update rate_buckets set full_at = full_at - make_interval(secs => ${seconds})
        where owner = ${owner} and name = ${name}`;
    },
    async close() {},
  }));
});

describe('buckets that are full again', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.drop());

  test('are deleted, but for one that a call has locked', async () => {
    const { sql } = database;
    const owners = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
    for (const owner of owners) {
      await takeTokens(sql, { owner, name: 'requests', perMinute: 60, cost: 1 });
    }
    await sql`update rate_buckets set full_at = full_at - interval '2 hours'`;
    await inTransaction(sql, async (tx) => {
      await tx`select from rate_buckets where owner = ${owners[0] ?? ''} for update`;
      await deleteOldLimits(sql);
    });
    expect(await sql`select owner from rate_buckets`).toEqual([{ owner: owners[0] }]);
  });
});
