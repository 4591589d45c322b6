import { uuidv7 } from 'uuidv7';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { inTransaction, type Sql } from '../../core/db/client.ts';
import { createKey } from '../../core/keys/keys.ts';
import { audit, countViolations } from './audit.ts';

let database: TestDatabase;
const done = uuidv7();
const running = uuidv7();

/** One batch that is completed (a match, a miss, one credit) and one in the middle of a part. */
beforeAll(async () => {
  database = await createTestDatabase();
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'A', credits: 100 });
  await createAccount(sql, { name: 'Has nothing', credits: 0 });
  const { id: keyId } = await createKey(sql, { accountId, mode: 'live', creditsPerDay: 4 });
  const batch = {
    accountId,
    keyId,
    live: true,
    name: 'list',
    operation: 'people.enrich',
    mapping: sql.json({}),
    dialect: sql.json({}),
    uploadKey: 'upload',
    canonicalKey: 'upload',
    uploadBytes: 1,
    width: 1,
    chunksTotal: 1,
  };
  const counts = { matched: 1, noMatch: 1, creditsCharged: 1, chunksDone: 1 };
  const completed = { id: done, state: 'completed', rowsTotal: 2, ...counts };
  const half = { id: running, state: 'running', rowsTotal: 5, creditsReserved: 3 };
  await sql`insert into batches ${sql({ ...batch, ...completed } as never)}`;
  await sql`insert into batches ${sql({ ...batch, ...half } as never)}`;
  await sql`
    insert into chunks (batch_id, number, byte_from, byte_to, first_row, first_line, rows, rows_done,
      parts, state, epoch, lease_until, crc32)
    values (${done}, 1, 0, 9, 1, 2, 2, 2, 1, 'done', 1, null, 0),
      (${running}, 1, 0, 9, 1, 2, 5, 0, 0, 'leased', 1, now(), 0)`;
  await sql`
    insert into parts (batch_id, chunk_number, number, object_key, rows, bytes, crc32, row_bytes_max)
    values (${done}, 1, 0, 'part', 2, 9, 0, 5)`;
  await sql`
    insert into reservations (account_id, batch_id, chunk_id, epoch, amount, budget_day, state, ended_at)
    select ${accountId}::uuid, batch_id, id, 1, 1, utc_today(), 'settled', now() from chunks
    where batch_id = ${done}
    union all
    select ${accountId}::uuid, batch_id, id, 1, 3, utc_today(), 'open', null from chunks
    where batch_id = ${running}`;
  await sql`
    insert into ledger_entries (account_id, reference, kind, amount, operation, units, batch_id)
    values (${accountId}, 'charge', 'charge', -1, 'people.enrich', 1, ${done})`;
  await sql`update wallets set balance = 99, reserved = 3 where account_id = ${accountId}`;
  await sql`update key_budgets set day = utc_today(), spent_by_batches = 4`;
});
afterAll(() => database.drop());

interface Corruption {
  check: string;
  by: string;
  corrupt(sql: Sql): Promise<unknown>;
}

const corruptions: Corruption[] = [
  {
    check: 'the ledger of every account sums to its balance',
    by: 'a balance that no line explains',
    corrupt: (sql) => sql`update wallets set balance = balance + 1`,
  },
  {
    check: 'every charge is the price of its matches',
    by: 'a match that cost another price',
    corrupt: (sql) => sql`update ledger_entries set units = 2 where reference = 'charge'`,
  },
  {
    check: 'every charge is the price of its matches',
    by: 'a charge that tells no matches',
    corrupt: (sql) => sql`update ledger_entries set units = null where reference = 'charge'`,
  },
  {
    check: 'every charge is the price of its matches',
    by: 'a charge for nothing that has a price',
    corrupt: (sql) => sql`
      update ledger_entries set operation = 'people.unknown' where reference = 'charge'`,
  },
  {
    check: 'every wallet holds 0 <= reserved <= balance',
    by: 'more reserved than there is',
    corrupt: (sql) => sql`update wallets set reserved = balance + 1`,
  },
  {
    check: 'every wallet holds 0 <= reserved <= balance',
    by: 'less than nothing reserved',
    corrupt: (sql) => sql`update wallets set reserved = -1`,
  },
  {
    check: 'every wallet reserves what its open reservations hold',
    by: 'a reservation that the wallet forgot',
    corrupt: (sql) => sql`update wallets set reserved = 2 where reserved = 3`,
  },
  {
    check: 'the day of every key holds what its batches reserved and were charged',
    by: 'a reservation that the day of its key forgot',
    corrupt: (sql) => sql`update key_budgets set spent_by_batches = 1`,
  },
  {
    check: 'the day of every key holds what its batches reserved and were charged',
    by: 'a void that gave nothing back',
    corrupt: (sql) => sql`
      update reservations set state = 'voided', ended_at = now() where state = 'open'`,
  },
  {
    check: 'every batch reserves what its open reservations hold',
    by: 'a reservation that the batch forgot',
    corrupt: (sql) => sql`update batches set credits_reserved = 0`,
  },
  {
    check: 'every batch charged what its ledger lines say',
    by: 'a charge without a line',
    corrupt: (sql) => sql`update batches set credits_charged = 5 where id = ${running}`,
  },
  {
    check:
      'every live batch charged exactly its matched rows but the owned ones, a test batch none',
    by: 'a match that was not charged',
    corrupt: (sql) => sql`
      update batches set matched = 2, no_match = 0 where id = ${done}`,
  },
  {
    check:
      'every live batch charged exactly its matched rows but the owned ones, a test batch none',
    by: 'a test batch that was charged',
    corrupt: (sql) => sql`update batches set live = false where id = ${done}`,
  },
  {
    check: 'every person that an account owns was paid for by a charge of the account',
    by: 'a person owned without a charge',
    corrupt: (sql) => sql`
      insert into owned_people (account_id, kind, person_id, charge_id, paid_at)
      select account_id, 1, 1, 0, now() from wallets limit 1`,
  },
  {
    check: 'no charge paid for more people than it has units',
    by: 'a person owned by the charge for others',
    corrupt: (sql) => sql`
      insert into owned_people (account_id, kind, person_id, charge_id, paid_at)
      select account_id, 1, p, id, now() from ledger_entries l, generate_series(1, l.units + 1) p
      where kind = 'charge'`,
  },
  {
    check: 'no ended batch holds a reservation',
    by: 'a batch that failed with credits held',
    corrupt: (sql) => sql`
      update batches set state = 'failed', error = '{}' where id = ${running}`,
  },
  {
    check: 'every open reservation belongs to a chunk under lease, with its epoch',
    by: 'the reservation of a worker that lost its lease',
    corrupt: (sql) => sql`update chunks set epoch = epoch + 1`,
  },
  {
    check: 'every open reservation belongs to a chunk under lease, with its epoch',
    by: 'the reservation of a chunk that is not held',
    corrupt: (sql) => sql`
      update chunks set state = 'pending', lease_until = null where batch_id = ${running}`,
  },
  {
    check: 'the outcomes of every completed batch add up to its rows',
    by: 'a row without an outcome',
    corrupt: (sql) => sql`update batches set no_match = 0 where id = ${done}`,
  },
  {
    check: 'the parts of every chunk hold the rows that it has done',
    by: 'a part that is gone',
    corrupt: (sql) => sql`delete from parts`,
  },
  {
    check: 'the parts of every chunk hold the rows that it has done',
    by: 'a part that lost a row',
    corrupt: (sql) => sql`update parts set rows = 1`,
  },
  {
    check: 'no stored object was damaged or missing when it was last read',
    by: 'an object that the scrub found damaged',
    corrupt: (sql) => sql`update batches set objects_damaged = 1 where id = ${done}`,
  },
  {
    check: 'every settled reservation has its ledger line',
    by: 'a line that is gone',
    corrupt: (sql) => sql`delete from ledger_entries where reference = 'charge'`,
  },
  {
    check: 'every account has the sum of its ended batches with files',
    by: 'a sum without one',
    corrupt: (sql) => sql`
      insert into stored_sums (account_id, bytes, batches) select account_id, 0, 1 from batches where id = ${done}`,
  },
  {
    check: 'no published copy of the graph keeps a person who withdrew an hour ago',
    by: 'a person who was deleted after a copy was published, 61 minutes ago',
    corrupt: (sql) => sql`
      with last as (select number, token from graph_changes order by number desc limit 1),
      published as (
        insert into published_copies (number, token, wiped_to, published_at, manifest, bytes, pieces)
        select number, token, number, now(), '', 0, '{}' from last),
      changed as (
        insert into graph_changes (number, changed_at)
        select number + 1, now() - interval '61 minutes' from last returning number)
      insert into changed_records (number, entity, id) select number, 2, 999 from changed`,
  },
];

/** Takes off what would refuse the corruption, and undoes everything afterwards. */
async function violationsAfter(corrupt: Corruption['corrupt']) {
  const undo = new Error('undo');
  let found: { name: string; violations: number }[] = [];
  const work = inTransaction(database.sql, async (tx) => {
    await tx`alter table ledger_entries disable trigger all`;
    const checks = await tx<{ table: string; name: string }[]>`
      select conrelid::regclass::text as table, conname as name from pg_constraint
      where contype = 'c' and conrelid = any(array['wallets', 'batches', 'chunks']::regclass[])`;
    for (const { table, name } of checks) {
      await tx`alter table ${tx(table)} drop constraint ${tx(name)}`;
    }
    await corrupt(tx);
    found = await countViolations(tx);
    throw undo;
  });
  await expect(work).rejects.toBe(undo);
  return found;
}

describe('the audit', () => {
  test('finds nothing where nothing is wrong', async () => {
    const { ok, checks } = await audit(database.sql);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([]);
    expect(ok).toBe(true);
  });

  test.each(corruptions)('reports $by: $check', async ({ check, corrupt }) => {
    const found = await violationsAfter(corrupt);
    expect(found.find(({ name }) => name === check)?.violations).toBeGreaterThan(0);
  });

  test('has no check that was never seen to fail', async () => {
    const { checks } = await audit(database.sql);
    const seen = new Set(corruptions.map(({ check }) => check));
    expect(checks.map(({ name }) => name).filter((name) => !seen.has(name))).toEqual([]);
  });

  test('is not ok as soon as one check fails', async () => {
    await database.sql`update wallets set balance = balance + 1 where balance = 99`;
    const { ok, checks } = await audit(database.sql);
    await database.sql`update wallets set balance = balance - 1 where balance = 100`;
    expect(ok).toBe(false);
    expect(checks.filter(({ violations }) => violations > 0)).toEqual([
      { name: 'the ledger of every account sums to its balance', violations: 1 },
    ]);
  });
});
