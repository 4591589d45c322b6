/** Refunds of calls and the credits that their key may spend in a day, tested on the statements. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import { createAccount } from '../accounts/accounts.ts';
import { createKey } from '../keys/keys.ts';
import { chargeCalls, type PaidCall } from './charge-calls.sql.ts';
import { refundBatch } from './credits.sql.ts';
import { refundCredits } from './credits.ts';
import { setCreditsPerDay } from './key-budgets.sql.ts';
import { setOwnedDays } from './owned.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

async function payer(creditsPerDay: number | null) {
  const accountId = await createAccount(database.sql, { name: 'A', credits: 100 });
  const { id: keyId } = await createKey(database.sql, { accountId, mode: 'live', creditsPerDay });
  return { accountId, keyId, sessionSha256: null };
}

let references = 0;

function callOf(by: Awaited<ReturnType<typeof payer>>, price: number): PaidCall {
  const reference = `call:${references++}`;
  return { ...by, price, reference, operation: 'people.enrich', recordId: 1, isPlain: false };
}

const charge = (...calls: PaidCall[]) => chargeCalls(database.sql, calls);

const refund = ({ accountId, reference }: PaidCall, amount?: number) =>
  refundCredits(database.sql, {
    accountId,
    reference,
    ...(amount === undefined ? {} : { amount }),
  });

async function spentToday({ keyId }: Pick<PaidCall, 'keyId'>): Promise<unknown> {
  const [day] = await database.sql`select spent from key_budgets where key_id = ${keyId}`;
  return day?.spent;
}

test('what is refunded of calls on their day no longer counts against their key', async () => {
  const [maker, other] = [await payer(10), await payer(10)];
  const made = await createKey(database.sql, { accountId: maker.accountId, mode: 'live' });
  await database.sql`update api_keys set credits_of = ${maker.keyId} where id = ${made.id}`;
  const byMade = callOf({ ...maker, keyId: made.id }, 1);
  const [whole, part, kept] = [callOf(maker, 4), callOf(maker, 5), callOf(other, 3)];
  await charge(byMade, whole, part, kept);
  for (const call of [byMade, whole, whole]) await refund(call);
  await refund(part, 2);
  expect([await spentToday(maker), await spentToday(other)]).toEqual([3, 3]);
});

test('the refund of a part of a list gives its key nothing: it was reserved for the day', async () => {
  const by = await payer(10);
  await charge(callOf(by, 3));
  const { accountId, keyId } = by;
  const reference = 'batch:1:0:0';
  await database.sql`
    with batch as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, batch_id, key_id)
      values (${accountId}, ${reference}, 'charge', -2, 'people.enrich', 2, gen_random_uuid(), ${keyId}))
    update wallets set balance = balance - 2 where account_id = ${accountId}`;
  expect(await refundCredits(database.sql, { accountId, reference })).toMatchObject({
    refunded: 2,
  });
  expect(await spentToday(by)).toBe(3);
});

test('the refund of a call of another day gives its key nothing', async () => {
  const by = await payer(10);
  const before = callOf(by, 3);
  await charge(before);
  await database.sql`update key_budgets set day = day + 1, spent = 6 where key_id = ${by.keyId}`;
  await refund(before);
  expect(await spentToday(by)).toBe(6);
});

test('a call from before its key had a maximum is refunded, and gives it no more than was counted', async () => {
  const by = await payer(null);
  const early = callOf(by, 6);
  await charge(early);
  await setCreditsPerDay(database.sql, by.keyId, 10);
  await charge(callOf(by, 2));
  await refund(early);
  expect(await spentToday(by)).toBe(0);
});

test('a refund reads the people of its charges, not all that the account owns', async () => {
  const { sql } = database;
  const by = await payer(null);
  await setOwnedDays(sql, by.accountId, 30);
  const [first, second] = [callOf(by, 1), { ...callOf(by, 1), recordId: 2 }];
  await charge(first, second);
  await sql`
    insert into owned_people (account_id, kind, person_id, charge_id, paid_at)
    select account_id, kind, n, charge_id + n, paid_at from owned_people, generate_series(3, 3000) n
    where account_id = ${by.accountId} and person_id = 1`;
  const batchId = crypto.randomUUID();
  await sql`
    with line as (
      insert into ledger_entries (account_id, reference, kind, amount, operation, units, batch_id)
      values (${by.accountId}, 'batch:2:0:0', 'charge', -1, 'people.enrich', 1, ${batchId}) returning id),
    owned as (update owned_people set charge_id = line.id from line where account_id = ${by.accountId} and person_id = 3)
    update wallets set balance = balance - 1 where account_id = ${by.accountId}`;
  await sql`analyze owned_people`;
  const read = (work: Parameters<typeof rowsRead>[2]) => rowsRead(sql, ['owned_people'], work);
  expect(await read((tx) => refundCredits(tx, first))).toBeLessThan(10);
  expect(await read((tx) => refundBatch(tx, batchId))).toBeLessThan(10);
  const left = await sql`
    select person_id from owned_people where account_id = ${by.accountId} and person_id <= 3`;
  expect([...left]).toEqual([{ personId: 2 }]);
});
