/** A person is paid for once in `owned_days`: tested on the statements of single calls, pages and refunds. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { untilBlocked } from '../../../tests/support/until-blocked.ts';
import { audit } from '../../jobs/audit/audit.ts';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/client.ts';
import { createKey } from '../keys/keys.ts';
import { type PricedOperation, priceOf } from '../operations.ts';
import { chargeCalls } from './charge-calls.sql.ts';
import { chargePage } from './charge-page.sql.ts';
import { readWallet } from './credits.sql.ts';
import { refundCredits } from './credits.ts';
import { deleteNoLongerOwned } from './owned.sql.ts';
import { changeOwnedDays } from './owned.ts';

const DAYS = 30;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

type Payer = Awaited<ReturnType<typeof payer>>;
let references = 0;

async function payer(credits: number, ownedDays = DAYS, creditsPerDay: number | null = null) {
  const accountId = await createAccount(database.sql, { name: 'A', credits, ownedDays });
  const { id } = await createKey(database.sql, { accountId, mode: 'live', creditsPerDay });
  return { accountId, keyId: id, sessionSha256: null };
}

function call(by: Payer, recordId: number, operation: PricedOperation = 'people.enrich') {
  const reference = `call:${references++}`;
  return { ...by, price: priceOf(operation), reference, operation, recordId, isPlain: true };
}

const charge = (...calls: ReturnType<typeof call>[]) => chargeCalls(database.sql, calls);

function page(by: Payer, people: number[], partial = true) {
  const operation = 'people.search' as const;
  const reference = `search:${references++}`;
  return chargePage(database.sql, { ...by, reference, operation, price: 1, people, partial });
}

const balanceOf = async (by: Payer) => (await readWallet(database.sql, by.accountId))?.balance;

/** Makes everything that the account owns older. */
const pass = (by: Payer, days: number) => database.sql`
  update owned_people set paid_at = paid_at - make_interval(days => ${days})
  where account_id = ${by.accountId}`;

async function expectAgreement(): Promise<void> {
  const { checks } = await audit(database.sql);
  expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
}

/** Returns the results of statements that all wait for the wallet. */
async function atOnce<Charged>(by: Payer, statements: (() => Promise<Charged>)[]) {
  let charging: Promise<Charged[]> = Promise.resolve([]);
  await inTransaction(database.sql, async (tx) => {
    await tx`select from wallets where account_id = ${by.accountId} for update`;
    charging = Promise.all(statements.map((statement) => statement()));
    await untilBlocked(database.sql, statements.length);
  });
  return charging;
}

test('by default each delivery of a person is charged, and no one is owned', async () => {
  const by = await payer(10, 0);
  expect(await charge(call(by, 1), call(by, 1))).toMatchObject([{ charged: 1 }, { charged: 1 }]);
  expect(await page(by, [1, 2])).toMatchObject({ granted: 2, units: 2 });
  const stored = await database.sql`select from owned_people where account_id = ${by.accountId}`;
  expect(stored).toHaveLength(0);
  expect(await balanceOf(by)).toBe(6);
});

test('two calls for a new person at once charge once', async () => {
  const by = await payer(10);
  const one = () => charge(call(by, 1));
  const charged = (await atOnce(by, [one, one])).flat();
  expect(charged.every(({ paid }) => paid)).toBe(true);
  expect(charged.map((each) => each.charged).toSorted()).toEqual([0, 1]);
  expect(await balanceOf(by)).toBe(9);
  await expectAgreement();
});

test('two pages with a new person at once charge once for the person', async () => {
  const by = await payer(10);
  const pages = [() => page(by, [1, 2, 3]), () => page(by, [2, 3, 4])];
  const charged = await atOnce(by, pages);
  expect(charged.map(({ granted }) => granted)).toEqual([3, 3]);
  expect(charged.map(({ units }) => units).toSorted()).toEqual([1, 3]);
  expect(await balanceOf(by)).toBe(6);
  await expectAgreement();
});

test('calls of one statement for a new person charge the first that is paid', async () => {
  const by = await payer(1);
  const charged = await charge(call(by, 1), call(by, 1), call(by, 2), call(by, 1));
  expect(charged.map(({ paid }) => paid)).toEqual([true, true, false, true]);
  expect(charged.map((each) => each.charged)).toEqual([1, 0, 0, 0]);
  expect(await balanceOf(by)).toBe(0);
});

test('a call is not free because the one before it could not be paid', async () => {
  const by = await payer(10, DAYS, 1);
  await charge(call(by, 9));
  const { id } = await createKey(database.sql, { accountId: by.accountId, mode: 'live' });
  const other = { ...by, keyId: id };
  const charged = await charge(call(by, 1), call(other, 1));
  // The caller tries the second one alone, and then it pays.
  expect(charged.map(({ paid }) => paid)).toEqual([false, false]);
  expect(await charge(call(other, 1))).toMatchObject([{ paid: true, charged: 1 }]);
  expect(await charge(call(by, 1))).toMatchObject([{ paid: true, charged: 0 }]);
});

test('an owned person costs nothing when the wallet and the day of the key are empty', async () => {
  for (const by of [await payer(1), await payer(10, DAYS, 1)]) {
    await charge(call(by, 1));
    const charged = await charge(call(by, 2), call(by, 1));
    expect(charged).toMatchObject([{ paid: false }, { paid: true, charged: 0 }]);
    expect(await page(by, [1])).toMatchObject({ granted: 1, units: 0 });
    expect(await page(by, [1, 2])).toMatchObject({ granted: 1, units: 0 });
    expect(await page(by, [1, 2], false)).toMatchObject({ granted: 0, units: 0 });
  }
});

test('a page ends before the first new person that cannot be paid', async () => {
  const by = await payer(3);
  await page(by, [2]);
  expect(await page(by, [1, 2, 3, 4, 5])).toMatchObject({ granted: 3, units: 2, remaining: 0 });
  expect(await page(by, [1, 2, 3], false)).toMatchObject({ granted: 3, units: 0 });
  await expectAgreement();
});

test('the record is the same by each operation that brings it; a mobile number is paid apart', async () => {
  const by = await payer(30);
  await page(by, [1]);
  const free = (['people.enrich', 'people.enrich-with-company'] as const).map((operation) =>
    call(by, 1, operation),
  );
  expect(await charge(...free)).toMatchObject([{ charged: 0 }, { charged: 0 }]);
  const mobile = () => call(by, 1, 'people.mobile');
  expect(await charge(mobile(), mobile())).toMatchObject([{ charged: 8 }, { charged: 0 }]);
  const verify = () => call(by, 1, 'people.email-verify');
  expect(await charge(verify(), verify())).toMatchObject([{ charged: 1 }, { charged: 1 }]);
  const company = () => call(by, 1, 'companies.enrich');
  expect(await charge(company(), company())).toMatchObject([{ charged: 1 }, { charged: 1 }]);
  await expectAgreement();
});

test('a person is owned for the days of the account, by this account alone', async () => {
  const [by, other] = [await payer(10), await payer(10)];
  await charge(call(by, 1));
  expect(await charge(call(other, 1))).toMatchObject([{ charged: 1 }]);
  await pass(by, DAYS - 1);
  expect(await charge(call(by, 1))).toMatchObject([{ charged: 0 }]);
  await pass(by, 2);
  expect(await charge(call(by, 1))).toMatchObject([{ charged: 1 }]);
  expect(await charge(call(by, 1))).toMatchObject([{ charged: 0 }]);
  await changeOwnedDays(database.sql, by.accountId, 0);
  expect(await charge(call(by, 1))).toMatchObject([{ charged: 1 }]);
  await expectAgreement();
});

test('housekeeping forgets who is no longer owned, and no one else', async () => {
  const by = await payer(10);
  await charge(call(by, 1));
  await pass(by, DAYS + 1);
  await charge(call(by, 2));
  await deleteNoLongerOwned(database.sql);
  const rows = await database.sql`
    select person_id from owned_people where account_id = ${by.accountId}`;
  expect([...rows]).toEqual([{ personId: 2 }]);
});

test('people who are paid for again while those no longer owned are deleted are owned', async () => {
  const { sql } = database;
  const by = await payer(10);
  await charge(call(by, 1), call(by, 2));
  await pass(by, DAYS + 1);
  let deleting: Promise<void> = Promise.resolve();
  await inTransaction(sql, async (tx) => {
    // In another order than that in which they are stored.
    await chargeCalls(tx, [call(by, 2)]);
    deleting = deleteNoLongerOwned(sql);
    await Promise.race([deleting, untilBlocked(database.sql, 1)]);
    await chargeCalls(tx, [call(by, 1)]);
  });
  await deleting;
  expect(await charge(call(by, 1), call(by, 2))).toMatchObject([{ charged: 0 }, { charged: 0 }]);
  expect(await balanceOf(by)).toBe(6);
});

test('a charge does not wait for the deletion of all people who are no longer owned', async () => {
  const { sql } = database;
  const by = await payer(10);
  await charge(call(by, 1));
  const last = 50_000;
  await sql`
    insert into owned_people
    select account_id, kind, n, charge_id, paid_at from owned_people, generate_series(2, ${last}::bigint) n
    where account_id = ${by.accountId}`;
  await pass(by, DAYS + 1);
  // The deletion waits for the test when it comes to the last one.
  await sql.unsafe(`
    create function wait() returns trigger language plpgsql as $$
      begin perform pg_advisory_xact_lock(1); return old; end $$;
    create trigger waits before delete on owned_people
      for each row when (old.person_id = ${last}) execute function wait()`);
  let deleting: Promise<void> = Promise.resolve();
  try {
    await inTransaction(sql, async (tx) => {
      await tx`select pg_advisory_xact_lock(1)`;
      deleting = deleteNoLongerOwned(sql);
      await untilBlocked(sql, 1);
      const charging = charge(call(by, 1)).then(([charged]) => charged?.paid);
      expect(await Promise.race([charging, untilBlocked(sql, 2)])).toBe(true);
    });
    await deleting;
  } finally {
    await sql`drop function wait() cascade`;
  }
  const rows = await sql`select person_id from owned_people where account_id = ${by.accountId}`;
  expect([...rows]).toEqual([{ personId: 1 }]);
});

test('a person whose whole charge is refunded is charged again, and no one else', async () => {
  const { sql } = database;
  const by = await payer(20);
  const [first, second] = [call(by, 1), call(by, 2, 'people.mobile')];
  await charge(first, second, call(by, 3));
  await refundCredits(sql, { accountId: by.accountId, reference: first.reference });
  await refundCredits(sql, { accountId: by.accountId, reference: second.reference, amount: 4 });
  const again = await charge(call(by, 1), call(by, 2, 'people.mobile'), call(by, 3));
  expect(again.map(({ charged }) => charged)).toEqual([1, 0, 0]);
  await expectAgreement();
});

const people = fc.integer({ min: 1, max: 6 });
const step = fc.oneof(
  fc.record({ calls: fc.array(people, { minLength: 1, maxLength: 4 }) }),
  fc.record({ page: fc.uniqueArray(people, { minLength: 1, maxLength: 4 }) }),
  fc.record({ days: fc.integer({ min: 1, max: DAYS + 1 }) }),
  fc.record({ grant: fc.integer({ min: 1, max: 3 }) }),
);

test('no order of calls, pages, days and grants charges for a person twice, or delivers one unpaid', async () => {
  const seen = { free: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 8 }),
      fc.array(step, { minLength: 5, maxLength: 20 }),
      async (credits, steps) => {
        const by = await payer(credits);
        let balance = credits;
        let now = 0;
        const paidAt = new Map<number, number>();
        /** Returns what the person costs now, and pays it; null when the wallet cannot. */
        const pay = (id: number): number | null => {
          const isOwned = now - (paidAt.get(id) ?? Number.NEGATIVE_INFINITY) < DAYS;
          if (isOwned) return 0;
          if (balance === 0) return null;
          balance -= 1;
          paidAt.set(id, now);
          return 1;
        };
        for (const one of steps) {
          if ('days' in one) {
            await pass(by, one.days);
            now += one.days;
          } else if ('grant' in one) {
            await database.sql`
              with line as (insert into ledger_entries (account_id, reference, kind, amount)
                values (${by.accountId}, ${`grant:${references++}`}, 'grant', ${one.grant}))
              update wallets set balance = balance + ${one.grant} where account_id = ${by.accountId}`;
            balance += one.grant;
          } else if ('calls' in one) {
            const charged = await charge(...one.calls.map((id) => call(by, id)));
            const expected = one.calls.map(pay);
            expect(charged.map(({ paid }) => paid)).toEqual(expected.map((cost) => cost !== null));
            expect(charged.map((each) => each.charged)).toEqual(expected.map((cost) => cost ?? 0));
            seen.free += expected.filter((cost) => cost === 0).length;
          } else {
            const costs: number[] = [];
            for (const id of one.page) {
              const cost = pay(id);
              if (cost === null) break;
              costs.push(cost);
            }
            const units = costs.reduce((sum, cost) => sum + cost, 0);
            expect(await page(by, one.page)).toMatchObject({ granted: costs.length, units });
            if (costs.length < one.page.length) seen.refused += 1;
          }
          expect(await balanceOf(by)).toBe(balance);
        }
        await expectAgreement();
      },
    ),
    { numRuns: 40 },
  );
  expect(seen.free).toBeGreaterThan(20);
  expect(seen.refused).toBeGreaterThan(5);
});
