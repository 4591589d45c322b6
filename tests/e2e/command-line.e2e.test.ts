/** Commands as processes: how they end, and what they say of a configuration that is not what it seems. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { environmentWithOnly } from '../../src/core/config.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { buildIfStale } from './compiled-code.ts';
import { startCommand } from './processes.ts';

const dataDir = mkdtempSync(path.join(tmpdir(), 'enrich-command-line-'));
let database: TestDatabase;
beforeAll(async () => {
  await buildIfStale();
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function run(words: string[], options: Record<string, string> = {}) {
  const command = startCommand(words, { databaseUrl: database.url, dataDir, ...options });
  const code = await command.ended;
  return { code, stdout: command.stdout, stderr: command.stderr };
}

async function takePort(): Promise<{ port: string } & Disposable> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const port = String((server.address() as AddressInfo).port);
  return { port, [Symbol.dispose]: () => void server.close() };
}

it.each([
  ['api', 'port', 'set PORT=8081'],
  ['api', 'metricsPort', 'METRICS_PORT: '],
  ['worker', 'metricsPort', 'METRICS_PORT: '],
])('%s ends when its %s is in use, and says what to set', async (name, option, advice) => {
  using taken = await takePort();
  const { code, stderr } = await run([name], { [option]: taken.port });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(advice) });
  expect(stderr).not.toContain('    at ');
});

it.each(['api', 'worker'])(
  'the process %s without its database says so in one line',
  async (name) => {
    const entry = path.join(packageRoot, 'dist', 'workers', `${name}.js`);
    const env = environmentWithOnly({
      databaseUrl: 'postgres://nobody@127.0.0.1:1/nowhere',
      dataDir,
    });
    const ended = promisify(execFile)(process.execPath, [entry], { env });
    await expect(ended).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^error: the database does not respond: .* Check DATABASE_URL.*\n$/,
      ),
    });
  },
);

it('a command whose reader goes away ends quietly', async () => {
  const command = startCommand(['account', 'list'], { databaseUrl: database.url, dataDir });
  command.child.stdout?.destroy();
  expect(await command.ended).toBe(0);
  expect(command.stderr).toBe('');
});

it('a command that reads refuses an empty database, and leaves it empty', async () => {
  const empty = await createTestDatabase();
  await empty.sql`drop schema public cascade`;
  await empty.sql`create schema public`;
  for (const words of [['doctor'], ['audit'], ['account', 'list'], ['status'], ['worker']]) {
    const { code, stderr } = await run(words, { databaseUrl: empty.url, logLevel: 'silent' });
    const said = expect.stringMatching(/^error: The database \S+ is empty\. Correct DATABASE_URL/);
    expect({ words, code, stderr }).toEqual({ words, code: 1, stderr: said });
  }
  expect(await empty.sql`select from pg_tables where schemaname = 'public'`).toHaveLength(0);
  await empty.drop();
});

it('a database that does not exist is told in one line', async () => {
  const databaseUrl = database.url.replace(/\/[^/]*$/, '/mistyped');
  for (const words of [['status'], ['account', 'list']]) {
    const { code, stderr } = await run(words, { databaseUrl });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: the database refuses the connection: .*mistyped.*\n$/),
    });
  }
});

it('a folder that DATABASE_URL or ENRICH_URL overrules is named', async () => {
  const elsewhere = path.join(dataDir, 'elsewhere');
  const words = ['--data-dir', elsewhere];
  const note = (option: string) =>
    expect.stringMatching(new RegExp(`^${option} is set: .*, not that of --data-dir ${elsewhere}`));
  expect((await run(['status', ...words])).stderr).toEqual(note('DATABASE_URL'));
  const options = { apiUrl: 'http://127.0.0.1:1', apiKey: 'svc_live_x' };
  expect((await run(['batch', 'list', ...words], options)).stderr).toEqual(note('ENRICH_URL'));
});
