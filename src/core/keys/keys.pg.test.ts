import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts';
import { createAccount } from '../accounts/accounts.ts';
import { connect } from '../db/client.ts';
import { holdCredentials } from '../sessions/sessions.sql.ts';
import { revokeKeyById } from './account-keys.sql.ts';
import { hashKey } from './key-format.ts';
import { countCallers, findCallers } from './keys.sql.ts';
import { authenticate, createKey } from './keys.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const createHash = async () => {
  const accountId = await createAccount(database.sql, { name: 'Counted', credits: 0 });
  const limits = { requestsPerMinute: 600_000, requestsPerDay: 1_000_000 };
  const { key } = await createKey(database.sql, { accountId, mode: 'live', ...limits });
  return hashKey(key).toString('hex');
};

test('keys that many processes count at once, in any order, neither deadlock nor lose a call', async () => {
  const rounds = 60;
  const known = await Promise.all(Array.from({ length: 6 }, createHash));
  const processes = Array.from({ length: 6 }, () => connect({ url: database.url, connections: 1 }));
  for (let round = 0; round < rounds; round++) {
    // Some have never called: their counters are created while the others are counted.
    const hashes = [...known, ...(await Promise.all([createHash(), createHash()]))];
    const counted = await Promise.all(
      processes.map((sql, place) => {
        const turned = [...hashes.slice(place), ...hashes.slice(0, place)];
        const presented = place % 2 === 0 ? turned : turned.reverse();
        return countCallers(
          sql,
          presented.map((keySha256) => ({ keySha256, calls: 1 })),
        );
      }),
    );
    for (const callers of counted) {
      expect(callers.map((caller) => caller?.taken?.admitted)).toEqual(hashes.map(() => 1));
    }
  }
  await Promise.all(processes.map((sql) => sql.end()));
  const used = await database.sql`
    select requests from day_counts d join api_keys k on k.id = d.owner
    where encode(k.key_sha256, 'hex') = any(${known})`;
  expect(used).toEqual(known.map(() => ({ requests: rounds * processes.length })));
});

test('a count commits asynchronously, but the next commit on its connection does not', async () => {
  const sql = connect({ url: database.url, connections: 1 });
  await sql`set synchronous_commit to on`;
  await countCallers(sql, [{ keySha256: await createHash(), calls: 1 }]);
  const [setting] = await sql`show synchronous_commit`;
  await sql.end();
  expect(setting).toEqual({ synchronousCommit: 'on' });
});

test('a revoked key stays revoked when the database’s clock is set back', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'Revoked', credits: 0 });
  const { id, key } = await createKey(sql, { accountId, mode: 'live' });
  const keySha256 = hashKey(key).toString('hex');
  await revokeKeyById(sql, id);
  // The clock is then an hour behind the revocation.
  const [{ revokedAt }] = await sql<[{ revokedAt: Date }]>`
    update api_keys set revoked_at = now() + interval '1 hour' where id = ${id} returning revoked_at`;
  await expect(authenticate(sql, hashKey(key))).rejects.toMatchObject({ code: 'key_revoked' });
  expect(await findCallers(sql, [keySha256])).toMatchObject([{ key: { revokedAt } }]);
  const counted = await countCallers(sql, [{ keySha256, calls: 1 }]);
  expect(counted).toMatchObject([{ key: { revokedAt }, taken: null }]);
  expect(await holdCredentials(sql, { keyId: id, sessionSha256: null })).toMatchObject({
    key: false,
  });
});

test('an account makes a thousand keys in a day, revoked ones included', async () => {
  const { sql } = database;
  const accountId = await createAccount(sql, { name: 'Busy', credits: 0 });
  await createKey(sql, { accountId, mode: 'live' });
  await sql`
    insert into api_keys (id, account_id, mode, prefix, key_sha256, scopes, requests_per_minute, requests_per_day,
      revoked_at)
    select gen_random_uuid(), account_id, mode, prefix, sha256(n::text::bytea), scopes, requests_per_minute,
      requests_per_day, now()
    from api_keys, generate_series(1, 998) n where account_id = ${accountId}`;
  await createKey(sql, { accountId, mode: 'live' });
  const refused = createKey(sql, { accountId, mode: 'live' });
  await expect(refused).rejects.toMatchObject({ status: 429, code: 'rate_limited' });
  await sql`
    update api_keys set created_at = created_at - interval '1 day' where account_id = ${accountId}`;
  await createKey(sql, { accountId, mode: 'live' });
});
