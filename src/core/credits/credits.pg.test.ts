import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { untilBlocked } from '../../../tests/support/until-blocked.ts';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/client.ts';
import { lockWallet, readWallet } from './credits.sql.ts';
import { grantCredits } from './credits.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a grant with the same reference moves credits once', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'A', credits: 100 });
  const grant = { accountId, amount: 50, reference: 'invoice-1' };
  expect((await grantCredits(sql, grant)).balance).toBe(150);
  expect((await grantCredits(sql, grant)).balance).toBe(150);
  await expect(grantCredits(sql, { ...grant, amount: 60 })).rejects.toMatchObject({
    code: 'reference_reused',
  });
  expect(await readWallet(sql, accountId)).toEqual({ balance: 150, reserved: 0 });
});

test('a grant that a wallet cannot hold is refused whole, and no other account suffers', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'A', credits: 100 });
  const amount = 999_999_999_901;
  const refused = { code: 'invalid_parameter', message: expect.stringContaining('999999999900') };
  for (const tooMuch of [amount, Number.MAX_SAFE_INTEGER]) {
    const grant = { accountId, amount: tooMuch, reference: 'invoice-0' };
    await expect(grantCredits(sql, grant)).rejects.toMatchObject(refused);
  }
  const rich = { name: 'C', credits: Number.MAX_SAFE_INTEGER };
  await expect(createAccount(sql, rich)).rejects.toMatchObject({ code: 'invalid_parameter' });
  expect(await readWallet(sql, accountId)).toEqual({ balance: 100, reserved: 0 });
  const most = { accountId, amount: amount - 1, reference: 'invoice-0' };
  expect((await grantCredits(sql, most)).balance).toBe(1_000_000_000_000);
  expect(await grantCredits(sql, most)).toMatchObject({ granted: false });
});

test('a grant beside another one fills the wallet no further than it holds', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'A', credits: 0 });
  const amount = 600_000_000_000;
  let granted: Promise<PromiseSettledResult<unknown>[]> = Promise.resolve([]);
  await inTransaction(sql, async (tx) => {
    await lockWallet(tx, accountId);
    granted = Promise.allSettled(
      ['invoice-4', 'invoice-5'].map((reference) =>
        grantCredits(sql, { accountId, amount, reference }),
      ),
    );
    await untilBlocked(database.sql, 2);
  });
  const statuses = (await granted).map(({ status }) => status);
  expect(statuses.sort()).toEqual(['fulfilled', 'rejected']);
  expect(await readWallet(sql, accountId)).toEqual({ balance: amount, reserved: 0 });
});

test('a grant is for one account only', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'A', credits: 1 });
  const other = await createAccount(sql, { name: 'B', credits: 2 });
  const before = await sql`select account_id, balance from wallets order by account_id`;
  expect((await grantCredits(sql, { accountId, amount: 5, reference: 'invoice-3' })).balance).toBe(
    6,
  );
  const after = await sql`select account_id, balance from wallets order by account_id`;
  expect(after.filter((wallet) => wallet.accountId !== accountId)).toEqual(
    before.filter((wallet) => wallet.accountId !== accountId),
  );
  // The other account's invoice may have the same number.
  expect(
    (await grantCredits(sql, { accountId: other, amount: 7, reference: 'invoice-3' })).balance,
  ).toBe(9);
});

test('fifty concurrent grants of one reference move credits once', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'B', credits: 0 });
  const grant = { accountId, amount: 7, reference: 'invoice-2' };
  await Promise.all(Array.from({ length: 50 }, () => grantCredits(sql, grant)));
  expect(await readWallet(sql, accountId)).toEqual({ balance: 7, reserved: 0 });
});

test('the ledger has each reference of an account once, whatever writes it', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'E', credits: 10 });
  const line = { accountId, reference: 'batch:1:1:0', kind: 'charge', amount: -1 };
  await sql`insert into ledger_entries ${sql(line)}`;
  const again = sql`insert into ledger_entries ${sql({ ...line, amount: -2 })}`;
  await expect(again).rejects.toThrow('ledger_entries_account_id_reference_key');
});

test('the ledger refuses to change or lose a line', async () => {
  const { sql } = database;
  await createAccount(sql, { name: 'C', credits: 1 });
  await expect(sql`update ledger_entries set amount = 5`).rejects.toThrow('append-only');
  await expect(sql`delete from ledger_entries`).rejects.toThrow('append-only');
  await expect(sql`truncate ledger_entries cascade`).rejects.toThrow('append-only');
});

test('a line of the ledger moves credits, and only a charge removes them', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'F', credits: 10 });
  for (const [kind, amount] of [
    ['charge', 0],
    ['grant', 0],
    ['charge', 1],
    ['refund', -1],
  ] as const) {
    const line = { accountId, reference: `${kind} of ${amount}`, kind, amount };
    const written = sql`insert into ledger_entries ${sql(line)}`;
    await expect(written, line.reference).rejects.toThrow('ledger_entries_');
  }
});

test('a wallet’s balance is neither negative nor less than its reservations', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'D', credits: 10 });
  const spend = sql`update wallets set balance = -1 where account_id = ${accountId}`;
  await expect(spend).rejects.toThrow('wallets_check');
  const reserve = sql`update wallets set reserved = 11 where account_id = ${accountId}`;
  await expect(reserve).rejects.toThrow('wallets_check');
  const owe = sql`update wallets set reserved = -1 where account_id = ${accountId}`;
  await expect(owe).rejects.toThrow('wallets_check');
});
