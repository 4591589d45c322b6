/** Commands that name an account, by its id or its e-mail address. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { addGlobalOptions } from '../global-options.ts';
import { addAccountCommands } from './accounts.ts';
import { addKeyCommands } from './keys.ts';

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
  database = await createTestDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'enrich-accounts-'));
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Runs a command; returns what it printed as JSON. */
async function run(...words: string[]): Promise<Record<string, unknown>> {
  const printed: string[] = [];
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  const program = new Command().exitOverride();
  addGlobalOptions(program);
  addAccountCommands(program);
  addKeyCommands(program);
  await program.parseAsync([...words, '--json'], { from: 'user' });
  return JSON.parse(printed.join(''));
}

const grant = ['--amount', '5', '--reference'];

test('an account is listed, and taken by its id or its address in any case', async () => {
  const created = await run(
    ...['account', 'create', '--name', 'Team', '--email', 'team@acme.example'],
    ...['--credits', '10', '--owned-days', '7'],
  );
  const id = String(created.account_id);
  expect(await run('account', 'list')).toMatchObject({
    accounts: [
      { account_id: id, name: 'Team', email: 'team@acme.example', credits: 10, owned_days: 7 },
    ],
  });
  expect(await run('credits', 'grant', '--account', 'Team@Acme.example', ...grant, 'a')).toEqual({
    balance: 15,
  });
  expect(await run('credits', 'grant', '--account', id, ...grant, 'b')).toEqual({ balance: 20 });
  const key = await run('key', 'create', '--account', 'team@acme.example', '--mode', 'live');
  const { keys } = (await run('key', 'list', '--account', 'team@acme.example')) as {
    keys: { prefix: string }[];
  };
  expect(keys.map(({ prefix }) => prefix)).toEqual([key.prefix]);
});

test('an account pays for each person once for the days that are set', async () => {
  const set = ['account', 'set', '--account', 'team@acme.example', '--owned-days'];
  expect(await run(...set, '90')).toMatchObject({ owned_days: 90 });
  expect(await run('account', 'list')).toMatchObject({ accounts: [{ owned_days: 90 }] });
  await expect(run(...set, '4000')).rejects.toThrow('owned_days: must be a whole number');
});

test('an unknown account is said to be unknown, and an address of two to be ambiguous', async () => {
  await run('account', 'create', '--name', 'A', '--email', 'two@acme.example', '--credits', '0');
  await run('account', 'create', '--name', 'B', '--email', 'two@acme.example', '--credits', '0');
  const granted = (account: string) => run('credits', 'grant', '--account', account, ...grant, 'c');
  await expect(granted('nope')).rejects.toMatchObject({ code: 'not_found' });
  await expect(granted('no@one.example')).rejects.toMatchObject({ code: 'not_found' });
  await expect(granted('two@acme.example')).rejects.toMatchObject({ code: 'ambiguous_account' });
});
