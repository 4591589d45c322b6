/** A database that went back in time: the audit names what answers promised and the database forgot. */
import { mkdtempSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { createAccount } from '../../src/core/accounts/accounts.ts';
import { createKey } from '../../src/core/keys/keys.ts';
import type { LogAudit } from '../../src/jobs/audit/audit-log.ts';
import type { Diagnosis } from '../../src/jobs/backup/doctor.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { importGraph } from '../support/graph.ts';
import { crowd } from '../support/small-graph.ts';
import { buildIfStale } from './compiled-code.ts';
import { untilEnded } from './list.ts';
import { startCommand } from './processes.ts';
import { startApi, startWorker } from './separate-processes.ts';
import { waitFor } from './wait-for.ts';

const CASE_MS = 120_000;
const LOG_MS_MAX = 10_000;
const READY_MS_MAX = 30_000;
const root = mkdtempSync(path.join(tmpdir(), 'enrich-forgotten-'));
const log = path.join(root, 'api.log');
const backup = path.join(root, 'backup');
let live: TestDatabase;
let restored: TestDatabase;

beforeAll(async () => {
  await buildIfStale();
  [live, restored] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await importGraph(live.sql, { persons: crowd(20) });
}, 120_000);

afterAll(async () => {
  await live?.drop();
  await restored?.drop();
  await rm(root, { recursive: true, force: true });
}, 60_000);

const optionsOf = (database: TestDatabase, folder: string) => ({
  databaseUrl: database.url,
  databaseConnections: '4',
  dataDir: path.join(root, folder),
});

/** Runs a command with `--json`; returns its exit code and value. */
async function run<T>(options: ReturnType<typeof optionsOf>, ...words: string[]) {
  const command = startCommand([...words, '--json'], options);
  const code = await command.ended;
  expect(command.stdout, command.stderr).not.toBe('');
  return { code, value: JSON.parse(command.stdout) as T };
}

it(
  'after a restore, names the lists, charges and actions since the backup, and no other',
  async () => {
    const own = optionsOf(live, 'live');
    const accountId = await createAccount(live.sql, { name: 'Team', credits: 1_000 });
    const { key } = await createKey(live.sql, { accountId, mode: 'live' });
    await using api = await startApi({ ...own, logLevel: 'info' });
    await using _worker = startWorker(own);
    const client = createClient(api.url, key);
    const call = (method: string, route: string, headers = {}) =>
      fetch(new URL(route, api.url), {
        method,
        headers: { Authorization: `Bearer ${key}`, ...headers },
      });
    const get = async (route: string, headers = {}) => {
      const answer = await call('GET', route, headers);
      expect(answer.status, await answer.text()).toBe(200);
      return answer.headers.get('X-Request-Id') ?? '';
    };
    const enrich = async (file: string) => {
      const leads = path.join(root, file);
      await writeFile(leads, 'email\np1@list.example\np2@list.example\n');
      const { id } = await client.createBatch(leads, { operation: 'people.enrich' });
      await untilEnded({ id, client });
      return id;
    };

    await get('/v1/people/enrich?email=p1%40list.example');
    const before = await enrich('before.csv');
    const held: string[] = [];
    for (const name of ['started', 'cancelled']) {
      const file = path.join(root, `${name}.csv`);
      await writeFile(file, 'email\np1@list.example\n');
      const { id } = await client.createBatch(file, { operation: 'people.enrich', hold: 'true' });
      held.push(id);
      const isReady = async () => (await client.getBatch(id)).state === 'ready';
      await waitFor('the list is held', READY_MS_MAX, isReady);
    }
    const [started, cancelled] = held as [string, string];
    expect((await run(own, 'backup', backup)).code).toBe(0);

    const once = { 'Idempotency-Key': 'once' };
    const calls = [
      await get('/v1/people/enrich?email=p2%40list.example'),
      await get('/v1/people/enrich?email=p3%40list.example', once),
    ];
    // Its response is the first one's, and costs nothing.
    await get('/v1/people/enrich?email=p3%40list.example', once);
    const search = await get('/personsearch/?id=1001-1003');
    await client.controlBatch(started, 'start');
    await client.controlBatch(cancelled, 'cancel');
    const gone = await call('DELETE', `/v1/batches/${before}`);
    expect(gone.status).toBe(204);
    const last = await enrich('after.csv');
    const { command } = api;
    await waitFor('the last request is in the log', LOG_MS_MAX, async () =>
      command.stderr.includes(last),
    );
    await writeFile(log, command.stderr);

    const sound = await run<{ log: LogAudit }>(own, 'audit', '--log', log);
    expect(sound.value.log).toMatchObject({ lists: [], charges: [], actions: [] });
    expect(sound.code).toBe(0);

    const past = optionsOf(restored, 'restored');
    const restoring = startCommand(['restore', backup], past);
    expect(await restoring.ended, restoring.stderr).toBe(0);
    expect(restoring.stdout).toContain('0 webhook deliveries ended that may have arrived.');
    expect((await run(past, 'audit')).code).toBe(0);
    const { code, value } = await run<{ log: LogAudit }>(past, 'audit', '--log', log);
    expect(code).toBe(1);
    expect(value.log.lists).toMatchObject([
      { batch_id: last, kind: 'list', account_id: accountId },
    ]);
    expect(value.log.charges).toEqual(
      [...calls.map((id) => [id, 1] as const), [search, 3] as const].map(([id, credits]) =>
        expect.objectContaining({ request_id: id, account_id: accountId, credits }),
      ),
    );

    const { actions } = value.log;
    expect(actions.map(({ action, batch_id, state }) => [action, batch_id, state])).toEqual([
      ['start', started, 'ready'],
      ['cancel', cancelled, 'ready'],
      ['delete', before, 'completed'],
    ]);

    const words = startCommand(['audit', '--log', log], past);
    await words.ended;
    expect(words.stdout).toContain(
      'FAIL the database lacks 1 list, 0 exports, 3 charges and 3 actions that',
    );
    expect(words.stdout).toContain(`cancel of list ${cancelled} of account ${accountId}, answered`);

    // A log that was replaced by the restart, or of a terminal, is no witness.
    await writeFile(log, 'API listening at 8080\n{"msg":"API listening"}\n');
    const silent = await run<{ log: LogAudit }>(past, 'audit', '--log', log);
    expect(silent).toMatchObject({ code: 1, value: { log: { logged: 0, lists: [] } } });

    // The files are those of the lost machine.
    const files = path.join('objects', 'batches', last);
    await cp(path.join(own.dataDir, files), path.join(past.dataDir, files), { recursive: true });
    const doctor = await run<Diagnosis>(past, 'doctor');
    expect(doctor).toMatchObject({ code: 1, value: { findings: [], unknown_batches: [last] } });
    const next = startCommand(['doctor', '--restored'], past);
    expect(await next.ended).toBe(1);
    expect(next.stdout).toContain('Repair it with `enrich doctor --fix --restored`.');
  },
  CASE_MS,
);
