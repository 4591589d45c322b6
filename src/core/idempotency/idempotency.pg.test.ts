import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { Signal } from '../../../tests/support/signal.ts';
import { createAccount } from '../accounts/accounts.ts';
import { must } from '../lib/assert.ts';
import {
  deleteClaim,
  deleteOldKeys,
  extendClaim,
  findResponse,
  insertClaim,
  storeResponse,
} from './idempotency.sql.ts';
import { claimKey, deleteResponsesAbout } from './idempotency.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** As if the key had been claimed so many hours earlier. */
const age = (hours: number) => database.sql`
  update idempotency_keys set created_at = created_at - make_interval(hours => ${hours})`;

test('a request that takes longer than a day keeps its key, and its response is kept for a day', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'Slow', credits: 0 });
  const scope = { accountId, live: true, method: 'POST', path: '/v1/batches', key: 'slow' };
  const claimed = await claimKey(sql, scope);
  const { claim } = must('claim' in claimed ? claimed : null, 'the claim');
  await age(25);
  await deleteOldKeys(sql);
  const response = { requestSha256: Buffer.alloc(32), status: 202, body: { id: 1 } };
  await sql.begin((tx) => claim.respond(tx as never, response));
  await claim.release();
  await age(23);
  await deleteOldKeys(sql);
  expect(await claimKey(sql, scope)).toEqual({ stored: response });
  await age(1);
  await deleteOldKeys(sql);
  const again = await claimKey(sql, scope);
  expect(again).toHaveProperty('claim');
  await must('claim' in again ? again : null, 'the claim').claim.release();
});

test('a response about an erased person that is stored and not yet committed is cleared too', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'Slow', credits: 0 });
  const scope = { accountId, live: true, method: 'GET', path: '/v1/people/enrich', key: 'late' };
  const claimed = await claimKey(sql, scope);
  const { claim } = must('claim' in claimed ? claimed : null, 'the claim');
  const body = { people: [7], answer: { data: { name: 'Ada' } } };
  const stored = new Signal();
  const commit = new Signal();
  const storing = sql.begin(async (tx) => {
    await claim.respond(tx as never, { requestSha256: Buffer.alloc(32), status: 200, body });
    stored.raise();
    await commit.raised;
  });
  await stored.raised;
  let isOver = false;
  const clearing = deleteResponsesAbout(sql, true, [7]).finally(() => {
    isOver = true;
  });
  const isBlocked = async () => {
    const rows = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length > 0;
  };
  while (!isOver && !(await isBlocked()));
  commit.raise();
  await storing;
  expect(await clearing).toBe(1);
  const kept = await sql`select body from idempotency_keys where key = 'late'`;
  expect(kept).toEqual([{ body: { people: [7], answer: {} } }]);
  await claim.release();
});

test('a claim reads no other keys than its own, however many are kept', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'Many', credits: 0 });
  await sql`
    insert into idempotency_keys (account_id, live, method, path, key, claim, claimed_until)
    select ${accountId}, true, 'GET', '/v1/me', n, gen_random_uuid(), now() from generate_series(1, 10000) n`;
  await sql`vacuum (analyze) idempotency_keys`;
  const scope = { accountId, live: true, method: 'GET', path: '/v1/me', key: 'mine' };
  const response = { requestSha256: Buffer.alloc(32), status: 200, body: {} };
  const read = await rowsRead(sql, ['idempotency_keys'], async (tx) => {
    const first = { ...scope, id: randomUUID() };
    expect(await insertClaim(tx, first, 30)).toBe(true);
    await extendClaim(tx, first, 30);
    await deleteClaim(tx, first);
    const second = { ...scope, id: randomUUID() };
    expect(await insertClaim(tx, second, 30)).toBe(true);
    await deleteClaim(tx, first);
    expect(await storeResponse(tx, second, response)).toBe(true);
    await deleteClaim(tx, second);
    expect(await findResponse(tx, scope)).toEqual(response);
  });
  expect(read).toBeLessThan(20);
});
