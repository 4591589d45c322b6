/** `key bound`, `key list` and `key revoke --cancel` on a database: what they change, print and refuse. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { type CreatedKey, createKey } from '../../src/core/keys/keys.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { openPipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';

let database: TestDatabase;
let folder: string;
let made: CreatedKey;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-keys-'));
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
  const accountId = await createAccount(database.sql, { name: 'A', credits: 100 });
  made = await createKey(database.sql, { accountId, mode: 'live', creditsPerDay: 5 });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

const bound = (...words: string[]) => runKey('bound', ...words);

/** Runs a command of keys; returns what it printed as JSON. */
const runKey = async (...words: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await printKey(...words, '--json'));

/** Runs a command of keys; returns what it printed. */
async function printKey(...words: string[]): Promise<string> {
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  return printedBy(['key', ...words]);
}

async function budgets() {
  return [...(await database.sql`select key_id, credits_per_day, spent from key_budgets`)];
}

test('a bound is changed, lifted and set again, and what was spent of the day stays counted', async () => {
  await database.sql`update key_budgets set day = utc_today(), spent = 3`;
  const spent = { keyId: made.id, spent: 3 };
  expect(await bound(made.prefix, '--credits-per-day', '9')).toEqual({
    prefix: made.prefix,
    credits_per_day: 9,
  });
  expect(await budgets()).toEqual([{ ...spent, creditsPerDay: 9 }]);
  expect(await bound(made.prefix, '--unbounded')).toMatchObject({ credits_per_day: null });
  expect(await budgets()).toEqual([{ ...spent, creditsPerDay: null }]);
  await bound(made.prefix, '--credits-per-day', '2');
  expect(await budgets()).toEqual([{ ...spent, creditsPerDay: 2 }]);
});

test.each([
  ['no bound', []],
  ['both', ['--credits-per-day', '5', '--unbounded']],
  ['a bound of nothing', ['--credits-per-day', '0']],
  ['a bound that is no number', ['--credits-per-day', 'many']],
])('%s is refused, and nothing changes', async (_what, words) => {
  const before = await budgets();
  await expect(bound(made.prefix, ...words)).rejects.toThrow();
  expect(await budgets()).toEqual(before);
});

test('a list of keys tells those that were revoked from those that end and have ended', async () => {
  const accountId = await createAccount(database.sql, { name: 'Has many', credits: 0 });
  const prefixes: string[] = [];
  for (const _ of ['valid', 'ending', 'expired', 'revoked']) {
    prefixes.push((await createKey(database.sql, { accountId, mode: 'live' })).prefix);
  }
  const [valid = '', ending = '', expired = '', revoked = ''] = prefixes;
  await runKey('roll', ending, '--overlap-seconds', '3600');
  await runKey('roll', expired, '--overlap-seconds', '0');
  await runKey('roll', revoked, '--overlap-seconds', '3600');
  await runKey('revoke', revoked);
  const [row] = await database.sql<{ revokedAt: Date }[]>`
    select revoked_at from api_keys where prefix = ${revoked}`;
  const lines = (await printKey('list', '--account', accountId)).split('\n');
  const lineOf = (prefix: string) => lines.find((line) => line.startsWith(`${prefix}...`));
  expect(lineOf(valid)).toContain('  valid  ');
  expect(lineOf(ending)).toMatch(/ {2}ends 20\S+Z {2}/);
  expect(lineOf(expired)).toMatch(/ {2}expired 20\S+Z {2}/);
  // Not the end of its overlap, which it did not live to see.
  expect(lineOf(revoked)).toContain(`  revoked ${row?.revokedAt.toISOString()}  `);
  await expect(runKey('roll', revoked)).rejects.toThrow(
    `was revoked on ${row?.revokedAt.toISOString()}. Create a new key.`,
  );
});

test('an unknown key is named in the error', async () => {
  await expect(bound('svc_live_none', '--unbounded')).rejects.toThrow('svc_live_none');
});

test('a key is named by its prefix, by the prefix as it is listed, by its id, or in full', async () => {
  const accountId = await createAccount(database.sql, { name: 'Leaked', credits: 0 });
  const leaked = () => createKey(database.sql, { accountId, mode: 'live' });
  const [listed, whole, one, other] = [
    await leaked(),
    await leaked(),
    await leaked(),
    await leaked(),
  ];
  expect(await printKey('revoke', `${listed.prefix}...`)).toBe('Revoked 1 key.\n');
  expect(await runKey('revoke', whole.key)).toMatchObject({ revoked: 1 });
  // The id, as the log has it, names one of two keys with the same prefix.
  await database.sql`update api_keys set prefix = ${one.prefix} where id = ${other.id}`;
  await expect(bound(one.prefix, '--unbounded')).rejects.toThrow(`${one.id}, ${other.id}`);
  expect(await bound(one.id, '--unbounded')).toMatchObject({ prefix: one.prefix });
  // Of two keys with one prefix, which may be of two accounts, neither is revoked by it.
  await expect(runKey('revoke', one.prefix)).rejects.toThrow(`${one.id}, ${other.id}`);
  expect(await runKey('revoke', one.id.toUpperCase())).toMatchObject({ revoked: 1 });
  await expect(runKey('revoke', one.id)).rejects.toThrow(`Valid key ${one.id} not found.`);
  expect(await runKey('revoke', one.prefix)).toMatchObject({ revoked: 1 });
  for (const text of [whole.key.slice(0, 20), whole.key.slice(0, 12), 'svc_live_', 'mine']) {
    await expect(runKey('revoke', text)).rejects.toThrow('as `enrich key list` prints it');
  }
});

test('a key is revoked with its lists, and without them', async () => {
  const own = await createTestDatabase();
  const pipeline = await openPipeline({}, 'files', undefined, own);
  vi.stubEnv('DATABASE_URL', own.url);
  try {
    const revoked = async (...words: string[]) => {
      const caller = await pipeline.account(10);
      const other = await pipeline.keyOf(caller.accountId, 'live');
      const options = { operation: 'people.enrich', hold: 'true' };
      const id = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
      const cancelled = words.length === 0 ? '' : `Cancelled 1 batch.\n${id}\n`;
      expect(await printKey('revoke', caller.key.slice(0, 13), ...words)).toBe(
        `Revoked 1 key.\n${cancelled}`,
      );
      expect((await pipeline.call(caller, '/v1/me')).status).toBe(403);
      // The command wakes the workers of the service's own queue; these find the list by the sweep.
      await pipeline.passAnHour();
      await pipeline.sweep();
      await pipeline.runUntilIdle();
      return (await pipeline.batch(other, id)).state;
    };
    expect(await revoked('--cancel')).toBe('cancelled');
    expect(await revoked()).toBe('ready');
  } finally {
    vi.stubEnv('DATABASE_URL', database.url);
    await pipeline.close();
  }
});
