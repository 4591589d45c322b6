/** Commands that name an account, by its id or its email address. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { markStore } from '../../src/jobs/batch/own-store.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline } from '../../tests/support/pipeline.ts';
import { printedBy } from '../../tests/support/printed-by.ts';
import { crowd } from '../../tests/support/small-graph.ts';

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

/** Runs a command; returns what it printed as JSON. */
const run = async (...words: string[]): Promise<Record<string, unknown>> =>
  JSON.parse(await print(...words, '--json'));

const print = (...words: string[]): Promise<string> => printedBy(words);

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
    granted: true,
  });
  const again = ['credits', 'grant', '--account', id, ...grant];
  expect(await run(...again, 'b')).toEqual({ balance: 20, granted: true });
  expect(await run(...again, 'b')).toEqual({ balance: 20, granted: false });
  expect(await print(...again, 'b')).toBe(
    'Granted before under the reference b: nothing was added. Balance 20 credits\n',
  );
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

test('an audit that fails says how often each rule is broken, and names objects that are missing', async () => {
  const own = await createTestDatabase();
  const pipeline = await openPipeline({}, 'files', undefined, own);
  vi.stubEnv('DATABASE_URL', own.url);
  vi.stubEnv('ENRICH_DATA_DIR', pipeline.context.config.dataDir);
  await importGraph(own.sql, { persons: crowd(1) });
  const caller = await pipeline.account(10);
  const options = { operation: 'people.enrich' };
  const id = await pipeline.enrich(caller, 'email\np1@list.example\n', options);
  const [part] = await own.sql<{ key: string }[]>`
    select object_key as key from parts where batch_id = ${id}`;
  const key = String(part?.key);
  // Without the mark it is not the store of this database: no audit, which would be a failed one.
  await expect(run('audit', '--deep')).rejects.toMatchObject({ code: 'another_store' });
  expect(await own.sql`select from audits`).toHaveLength(0);
  await markStore(pipeline.context);
  await pipeline.context.store.delete(key);
  expect(await print('audit', '--deep')).toMatch(
    new RegExp(
      `FAIL every recorded object is stored: 1 violation\\n[^]*     missing: ${key} of list ${id}\\n`,
    ),
  );
  expect(await run('audit', '--deep')).toMatchObject({
    ok: false,
    objects: { missing: [{ object: key, batch_id: id, kind: 'list' }], damaged: [] },
  });
  process.exitCode = undefined;
  vi.stubEnv('DATABASE_URL', database.url);
  vi.stubEnv('ENRICH_DATA_DIR', folder);
  await pipeline.close();
});

test('an audit of a log since a moment leaves out what was answered before it', async () => {
  const log = path.join(folder, 'api.log');
  const line = (time: string, id: string) =>
    JSON.stringify({
      ...{ time, msg: 'request', status: 200, method: 'DELETE', route: '/v1/keys/:id' },
      ...{ account: 'a', object: id },
    });
  await writeFile(
    log,
    [line('2026-11-22T19:06:38.999Z', 'before'), line('2026-11-22T19:06:39.000Z', 'since')].join(
      '\n',
    ),
  );
  const since = (...words: string[]) => run('audit', '--log', log, '--since', ...words);
  for (const moment of ['2026-11-22T19:06:39Z', '2026-11-22T20:06:39.000+01:00']) {
    expect(await since(moment)).toMatchObject({
      ok: true,
      log: { logged: 1, changes: [{ id: 'since' }] },
    });
  }
  expect(await print('audit', '--log', log, '--since', '2026-11-23T00:00:00Z')).toContain(
    'FAIL the log has no line of a request since 2026-11-23T00:00:00.000Z, so nothing was compared',
  );
  expect(process.exitCode).toBe(1);
  process.exitCode = undefined;
  for (const wrong of ['yesterday', '2026-11-22', '2026-11-22T19:06:39', '2026-02-31T12:00:00Z']) {
    await expect(since(wrong)).rejects.toThrow('It must be a time such as 2026-01-31T12:00:00Z.');
  }
  await expect(run('audit', '--since', '2026-11-22T19:06:39Z')).rejects.toThrow('--since needs');
});

test('what only reads sets up no service in a database that is empty', async () => {
  const other = await createTestDatabase();
  await other.sql`drop schema public cascade`;
  await other.sql`create schema public`;
  vi.stubEnv('DATABASE_URL', other.url);
  for (const words of [['account', 'list'], ['audit'], ['key', 'list', '--account', 'a']]) {
    await expect(run(...words)).rejects.toMatchObject({ code: 'schema_older' });
  }
  expect(await other.sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
  vi.stubEnv('DATABASE_URL', database.url);
  await other.drop();
});

test('an unknown account is said to be unknown, and an address of two to be ambiguous', async () => {
  await run('account', 'create', '--name', 'A', '--email', 'two@acme.example', '--credits', '0');
  await run('account', 'create', '--name', 'B', '--email', 'two@acme.example', '--credits', '0');
  const granted = (account: string) => run('credits', 'grant', '--account', account, ...grant, 'c');
  await expect(granted('nope')).rejects.toMatchObject({ code: 'not_found' });
  await expect(granted('no@one.example')).rejects.toMatchObject({ code: 'not_found' });
  await expect(granted('two@acme.example')).rejects.toMatchObject({ code: 'ambiguous_account' });
});
