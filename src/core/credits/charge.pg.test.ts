/** Concurrent charges of calls and pages of people, tested on the statements themselves. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { untilBlocked } from '../../../tests/support/until-blocked.ts';
import { audit } from '../../jobs/audit/audit.ts';
import { createAccount } from '../accounts/accounts.ts';
import type { CallCredentials } from '../call-credentials.ts';
import { inTransaction, type Sql } from '../db/client.ts';
import { createKey } from '../keys/keys.ts';
import { must } from '../lib/assert.ts';
import { insertSession } from '../sessions/sessions.sql.ts';
import { chargeCalls, type PaidCall } from './charge-calls.sql.ts';
import { chargePage } from './charge-page.sql.ts';
import { lockWallet, readWallet } from './credits.sql.ts';
import { grantCredits } from './credits.ts';
import { setCreditsPerDay } from './key-budgets.sql.ts';
import { setOwnedDays } from './owned.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

interface Payer extends CallCredentials {
  accountId: string;
}

let references = 0;

async function payer(credits: number, creditsPerDay: number | null = null): Promise<Payer> {
  const accountId = await createAccount(database.sql, { name: 'A', credits });
  const { id } = await createKey(database.sql, { accountId, mode: 'live', creditsPerDay });
  return { accountId, keyId: id, sessionSha256: null };
}

function callOf(by: Payer, price: number, isPlain = true): PaidCall {
  const reference = `call:${references++}`;
  return { ...by, price, reference, operation: 'people.enrich', recordId: 1, isPlain };
}

function page(by: Payer, records: number, price = 1) {
  const reference = `search:${references++}`;
  const people = Array.from({ length: records }, (_, index) => index + 1);
  return { ...by, reference, operation: 'people.search' as const, price, people, partial: true };
}

/** Reserves credits of a wallet, as a list does. */
async function reserve({ accountId }: Payer, amount: number): Promise<void> {
  await database.sql`update wallets set reserved = ${amount} where account_id = ${accountId}`;
}

/** Asserts that wallets, ledger and reservations agree; only the prices here are invented. */
async function expectAgreement(): Promise<void> {
  const { checks } = await audit(database.sql);
  const broken = checks.filter(({ violations }) => violations > 0).map(({ name }) => name);
  expect(broken.filter((name) => name !== 'every charge is the price of its matches')).toEqual([]);
}

/** Returns the results of statements that all wait for the wallet of `buyer`. */
async function atOnce<Charged>(buyer: Payer, statements: (() => Promise<Charged>)[]) {
  let charging: Promise<Charged[]> = Promise.resolve([]);
  await inTransaction(database.sql, async (tx) => {
    await tx`select from wallets where account_id = ${buyer.accountId} for update`;
    charging = Promise.all(statements.map((statement) => statement()));
    await untilBlocked(database.sql, statements.length);
  });
  return charging;
}

test.each([
  ['a plain call', (by: Payer) => chargeCalls(database.sql, [callOf(by, 1)])],
  ['any call', (by: Payer) => chargeCalls(database.sql, [callOf(by, 1, false)])],
  ['a page', async (by: Payer) => [await chargePage(database.sql, page(by, 1))]],
])('credits that come while %s waits for the wallet pay for it', async (_, charge) => {
  for (const isReserved of [false, true]) {
    const by = await payer(isReserved ? 5 : 0);
    if (isReserved) await reserve(by, 5);
    let charging: ReturnType<typeof charge> | undefined;
    await inTransaction(database.sql, async (tx) => {
      await lockWallet(tx, by.accountId);
      charging = charge(by);
      await untilBlocked(database.sql, 1);
      if (isReserved) await tx`update wallets set reserved = 0 where account_id = ${by.accountId}`;
      else await grantCredits(tx, { accountId: by.accountId, amount: 5, reference: 'invoice' });
    });
    expect(await charging).toMatchObject([{ remaining: 4 }]);
    expect(await readWallet(database.sql, by.accountId)).toEqual({ balance: 4, reserved: 0 });
  }
});

describe.each([
  ['admitted as plain', true],
  ['of any kind', false],
])('calls %s', (_, isPlain) => {
  const call = (by: Payer, price: number) => callOf(by, price, isPlain);

  test('are paid in their order, as long as wallet and key can pay', async () => {
    const [poor, bound] = [await payer(10), await payer(100, 10)];
    for (const by of [poor, bound]) {
      const charged = await chargeCalls(database.sql, [call(by, 6), call(by, 5)]);
      expect(charged.map(({ paid }) => paid)).toEqual([true, false]);
    }
  });

  test('that are concurrent spend each credit of wallet and key once', async () => {
    const { sql } = database;
    for (const buyer of [await payer(10), await payer(100, 10)]) {
      const charge = () => chargeCalls(sql, [call(buyer, 6)]);
      const charged = (await atOnce(buyer, [charge, charge])).flat();
      expect(charged.map(({ paid }) => paid).toSorted()).toEqual([false, true]);
    }
  });

  test('start a new day of their key at zero', async () => {
    const { sql } = database;
    const bound = await payer(100, 3);
    const charge = async () => (await chargeCalls(sql, [call(bound, 2)]))[0];
    expect(await charge()).toMatchObject({ paid: true, leftToday: 1 });
    expect(await charge()).toMatchObject({ paid: false, leftToday: 1 });
    await sql`update key_budgets set day = day - 1 where key_id = ${bound.keyId}`;
    expect(await charge()).toMatchObject({ paid: true, leftToday: 1 });
    expect((await chargeCalls(sql, [call(bound, 1)]))[0]).toMatchObject({
      leftToday: 0,
      paid: true,
    });
    expect(await charge()).toMatchObject({ paid: false, leftToday: 0 });
  });

  test('spend neither credits that a list has reserved nor those of another account', async () => {
    const { sql } = database;
    const [one, other, third] = [await payer(10), await payer(10), await payer(10)];
    await reserve(one, 5);
    const charged = await chargeCalls(sql, [call(one, 6), call(one, 5), call(other, 8)]);
    expect(charged.map(({ paid }) => paid)).toEqual([false, false, true]);
    expect(await chargeCalls(sql, [call(one, 5)])).toEqual([
      { paid: true, charged: 5, remaining: 0, leftToday: null },
    ]);
    expect(await readWallet(sql, one.accountId)).toEqual({ balance: 5, reserved: 5 });
    expect(await readWallet(sql, other.accountId)).toEqual({ balance: 2, reserved: 0 });
    expect(await readWallet(sql, third.accountId)).toEqual({ balance: 10, reserved: 0 });
    await reserve(one, 0);
    await expectAgreement();
  });

  test.each([
    ['wallets', 'account_id', 'accountId'],
    ['key_budgets', 'key_id', 'keyId'],
  ] as const)(
    'wait for %s in the order of their ids, whatever order they came in',
    async (table, column, id) => {
      const { sql } = database;
      const payers: Payer[] = [];
      const maximum = table === 'wallets' ? null : 9;
      for (let each = 0; each < 8; each++) payers.push(await payer(9, maximum));
      const [first, ...others] = payers.map((one) => one[id]).toSorted();
      // The row written last is stored last.
      await sql`
      update ${sql(table)} set ${sql(column)} = ${sql(column)} where ${sql(column)} = ${must(first, 'id')}`;
      let charging: Promise<unknown> = Promise.resolve();
      await inTransaction(sql, async (tx) => {
        await tx`
        select from ${tx(table)} where ${tx(column)} = ${must(first, 'id')} for update`;
        charging = chargeCalls(
          sql,
          payers.toReversed().map((one) => call(one, 1)),
        );
        await untilBlocked(database.sql, 1);
        const free = await sql`
        select from ${sql(table)} where ${sql(column)} = any(${others}::uuid[])
        for update skip locked`;
        expect(free).toHaveLength(others.length);
      });
      expect(await charging).toMatchObject(payers.map(() => ({ paid: true })));
    },
  );
});

test('calls that are no longer plain are charged as what they are, next to those that are', async () => {
  const { sql } = database;
  const [owner, bound, one] = [await payer(10), await payer(10, 3), await payer(10)];
  await setOwnedDays(sql, owner.accountId, 30);
  const charge = () =>
    chargeCalls(
      sql,
      [owner, bound, one, owner].map((by) => callOf(by, 2)),
    );
  const left = { leftToday: null };
  expect(await charge()).toEqual([
    { ...left, paid: true, charged: 2, remaining: 8 },
    { paid: true, charged: 2, remaining: 8, leftToday: 1 },
    { ...left, paid: true, charged: 2, remaining: 8 },
    { ...left, paid: true, charged: 0, remaining: 8 },
  ]);
  const two = await chargeCalls(sql, [callOf(owner, 2), callOf(one, 1)]);
  expect(two.map(({ charged }) => charged)).toEqual([0, 1]);
  expect((await charge()).map(({ paid, charged }) => paid && charged)).toEqual([0, false, 2, 0]);
  expect(await readWallet(sql, bound.accountId)).toMatchObject({ balance: 8 });
  // A key without a maximum counts for one that has it.
  const { id: keyId } = await createKey(sql, { accountId: one.accountId, mode: 'live' });
  await sql`update api_keys set credits_of = ${bound.keyId} where id = ${keyId}`;
  expect(await chargeCalls(sql, [callOf({ ...one, keyId }, 1)])).toMatchObject([{ paid: true }]);
  expect(await chargeCalls(sql, [callOf(bound, 1)])).toMatchObject([{ paid: false }]);
  await setCreditsPerDay(sql, one.keyId, 1);
  expect((await charge()).map(({ paid, charged }) => paid && charged)).toEqual([
    0,
    false,
    false,
    0,
  ]);
  await expectAgreement();
});

test('plain calls are not charged when the charge of a call next to them fails', async () => {
  const { sql } = database;
  const [one, bound] = [await payer(10), await payer(10, 3)];
  await sql.unsafe(`
    create function fail() returns trigger language plpgsql as $$ begin raise 'failed'; end $$;
    create trigger fails before update on key_budgets for each row execute function fail()`);
  try {
    await expect(chargeCalls(sql, [callOf(one, 2), callOf(bound, 2)])).rejects.toThrow('failed');
  } finally {
    await sql`drop function fail() cascade`;
  }
  expect(await readWallet(sql, one.accountId)).toMatchObject({ balance: 10 });
  await expectAgreement();
});

test.each([
  ['owned days', ({ accountId }: Payer, sql: Sql) => setOwnedDays(sql, accountId, 30), 0],
  [
    'an end',
    ({ keyId }: Payer, sql: Sql) => sql`update api_keys set revoked_at = now() where id = ${keyId}`,
    null,
  ],
] as const)('a plain call that waited for its wallet meets %s', async (_, change, charged) => {
  const { sql } = database;
  const buyer = await payer(10);
  await setOwnedDays(sql, buyer.accountId, 1);
  await chargeCalls(sql, [callOf(buyer, 2)]);
  await setOwnedDays(sql, buyer.accountId, 0);
  let charging: ReturnType<typeof chargeCalls> = Promise.resolve([]);
  await inTransaction(sql, async (tx) => {
    await tx`select from wallets where account_id = ${buyer.accountId} for update`;
    charging = chargeCalls(sql, [callOf(buyer, 2)]);
    await untilBlocked(database.sql, 1);
    await change(buyer, tx);
  });
  const [result] = await charging;
  expect(result?.paid === null ? null : result?.charged).toBe(charged);
  expect(await readWallet(sql, buyer.accountId)).toMatchObject({ balance: 8 });
});

describe('a caller whose key or session has ended', () => {
  const revoke = ({ keyId }: Payer) =>
    database.sql`update api_keys set revoked_at = now() where id = ${keyId}`;

  /** The same payer, calling with a session that is valid or has ended. */
  async function bySession(by: Payer, seconds: number): Promise<Payer & CallCredentials> {
    const tokenSha256 = randomBytes(32);
    const session = { tokenSha256, accountId: by.accountId, keyId: by.keyId };
    await insertSession(database.sql, session, { seconds, passwordHash: null });
    return { ...by, sessionSha256: tokenSha256 };
  }

  test('pays nothing, and takes nothing from concurrent calls', async () => {
    const { sql } = database;
    const [one, other] = [await payer(10), await payer(10, 10)];
    const { id } = await createKey(sql, { accountId: one.accountId, mode: 'live' });
    const revoked = { ...one, keyId: id };
    await revoke(revoked);
    const [signedIn, signedOut] = [await bySession(other, 60), await bySession(other, -1)];
    const plain = [one, revoked, one].map((by) => callOf(by, by === revoked ? 9 : 1));
    expect((await chargeCalls(sql, plain)).map(({ paid }) => paid)).toEqual([true, null, true]);
    const payers = [one, revoked, other, signedIn, signedOut, other, one];
    const charged = await chargeCalls(
      sql,
      payers.map((by) => callOf(by, by === revoked || by === signedOut ? 9 : 2)),
    );
    expect(charged.map(({ paid }) => paid)).toEqual([true, null, true, true, null, true, true]);
    expect(await readWallet(sql, one.accountId)).toMatchObject({ balance: 4 });
    expect(await readWallet(sql, other.accountId)).toMatchObject({ balance: 4 });
    for (const by of [revoked, signedOut]) {
      expect(await chargePage(sql, page(by, 1))).toMatchObject({ granted: null });
    }
    expect(await chargePage(sql, page(signedIn, 1))).toMatchObject({ granted: 1, leftToday: 3 });
    await expectAgreement();
  });

  test.each([
    ['plain calls', async (by: Payer) => (await chargeCalls(database.sql, [callOf(by, 1)]))[0]],
    ['calls', async (by: Payer) => (await chargeCalls(database.sql, [callOf(by, 1, false)]))[0]],
    ['pages', (by: Payer) => chargePage(database.sql, page(by, 1))],
  ] as const)('does not pay for %s that waited for the wallet meanwhile', async (what, charge) => {
    const { sql } = database;
    const buyer = await payer(10);
    const gone = await bySession(await payer(10), 60);
    let charging: Promise<unknown> = Promise.resolve();
    await inTransaction(sql, async (tx) => {
      const accounts = [buyer.accountId, gone.accountId];
      await tx`select from wallets where account_id = any(${accounts}::uuid[]) for update`;
      charging = Promise.all([charge(buyer), charge(gone)]);
      await untilBlocked(database.sql, 2);
      await revoke(buyer);
      await sql`update sessions set expires_at = now() where token_sha256 = ${gone.sessionSha256}`;
    });
    const ended = what === 'pages' ? { granted: null } : { paid: null };
    expect(await charging).toMatchObject([ended, ended]);
    expect(await readWallet(sql, buyer.accountId)).toMatchObject({ balance: 10 });
    expect(await readWallet(sql, gone.accountId)).toMatchObject({ balance: 10 });
  });
});

describe('pages', () => {
  test('that are concurrent spend each credit once, and no reserved one', async () => {
    const { sql } = database;
    const buyer = await payer(10);
    await reserve(buyer, 3);
    const charge = () => chargePage(sql, page(buyer, 4));
    const granted = (await atOnce(buyer, [charge, charge])).map((one) => one.granted);
    expect(granted.toSorted()).toEqual([3, 4]);
    expect(await readWallet(sql, buyer.accountId)).toEqual({ balance: 3, reserved: 3 });
    await reserve(buyer, 0);
    await expectAgreement();
  });

  test('charge the price of each record, for as many as can be paid', async () => {
    const { sql } = database;
    const buyer = await payer(100, 10);
    expect(await chargePage(sql, page(buyer, 2, 3))).toMatchObject({
      granted: 2,
      remaining: 94,
      leftToday: 4,
    });
    expect(await chargePage(sql, page(buyer, 2, 3))).toMatchObject({
      granted: 1,
      remaining: 91,
      leftToday: 1,
    });
    expect(await chargePage(sql, page(buyer, 1, 3))).toMatchObject({ granted: 0, leftToday: 1 });
    expect(await readWallet(sql, buyer.accountId)).toMatchObject({ balance: 91 });
    expect(await chargePage(sql, page(buyer, 1))).toMatchObject({ granted: 1, leftToday: 0 });
    await expectAgreement();
  });

  test('that are concurrent spend a key’s day once', async () => {
    const { sql } = database;
    const buyer = await payer(100, 5);
    const charge = () => chargePage(sql, page(buyer, 4));
    const granted = (await atOnce(buyer, [charge, charge])).map((one) => one.granted);
    expect(granted.toSorted()).toEqual([1, 4]);
    expect(await chargePage(sql, page(buyer, 1))).toMatchObject({ granted: 0, leftToday: 0 });
    expect(await chargeCalls(sql, [callOf(buyer, 1)])).toMatchObject([{ paid: false }]);
  });
});

test('the budget of a key is changed beside a charge of the keys that it made, in whatever order they are stored', async () => {
  const { sql } = database;
  const one = await payer(100);
  const keyOf = (creditsPerDay: number | null) =>
    createKey(sql, { accountId: one.accountId, mode: 'live', creditsPerDay });
  const maker = await keyOf(null);
  const made = [await keyOf(5), await keyOf(5)].map(({ id }) => id).sort();
  const [first = '', second = ''] = made;
  // The first one is stored last.
  for (const id of [second, first]) {
    await sql`update api_keys set credits_of = ${maker.id} where id = ${id}`;
    await sql`delete from key_budgets where key_id = ${id}`;
    await sql`insert into key_budgets (key_id, credits_per_day) values (${id}, 5)`;
  }
  let changing: Promise<void> | undefined;
  await sql.begin(async (tx) => {
    await tx`select from key_budgets where key_id = ${first} for update`;
    changing = setCreditsPerDay(sql, maker.id, 3);
    await untilBlocked(sql, 1);
    await tx`select from key_budgets where key_id = ${second} for update`;
  });
  await changing;
  const budgets = await sql<{ creditsPerDay: number }[]>`
    select credits_per_day from key_budgets where key_id in ${sql([maker.id, ...made])}`;
  expect(budgets.map(({ creditsPerDay }) => creditsPerDay)).toEqual([3, 3, 3]);
});
