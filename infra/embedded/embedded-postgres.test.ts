import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, unlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import {
  hold,
  isGone,
  killLater,
  modeOf,
  newDataDir,
  prepareServers,
  query,
  removeServers,
  settings,
  waitUntil,
} from '../../tests/support/held-postgres.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';

beforeAll(prepareServers);
afterAll(removeServers);

describe('a start', () => {
  it('creates the database on first use, and a restart keeps data, port and password', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    expect(first.url).toMatch(/^postgres:\/\/enrich_service:[\w-]{43}@127\.0\.0\.1:\d+\/enrich$/);
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    expect(await isGone(first.pid)).toBe(true);

    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(second.url).toBe(first.url);
    expect(second.pid).not.toBe(first.pid);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it.each(['postgres-credentials.json', 'objects'])(
    'is refused in a folder that has %s of a database that is gone, and begins no empty one',
    async (trace) => {
      const dataDir = newDataDir();
      await (await startEmbeddedPostgres({ dataDir, settings })).stop();
      await mkdir(path.join(dataDir, 'objects'));
      await writeFile(path.join(dataDir, 'objects/installation'), '');
      for (const name of await readdir(dataDir)) {
        if (name !== trace) await rm(path.join(dataDir, name), { recursive: true });
      }
      // A copy of a killed service, whose message would be to delete this file.
      const claim = { claim: 'killed', pid: 1, start: '0', folder: '0:0' };
      await writeFile(path.join(dataDir, 'postgres.lock'), JSON.stringify(claim));
      await mkdir(path.join(dataDir, 'postgres'));
      await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toMatchObject({
        code: 'database_gone',
        message: expect.stringContaining(`The database's files in ${dataDir}/postgres are gone`),
      });
      expect(await readdir(path.join(dataDir, 'postgres'))).toEqual([]);
    },
  );

  it('restricts files and network to this user and machine, and sorts the same everywhere', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await modeOf(dataDir, 'postgres-credentials.json')).toBe('600');
    expect(await modeOf(dataDir, 'postgres.log')).toBe('600');
    expect(await modeOf(dataDir, 'postgres')).toBe('700');
    expect(await modeOf(dataDir)).toBe('700');
    const [row] = await query(
      server.adminUrl,
      `select datlocprovider::text, datlocale, pg_encoding_to_char(encoding) as encoding,
         current_setting('listen_addresses') as addresses,
         current_setting('data_checksums') as sums,
         current_setting('unix_socket_directories') as sockets, current_setting('TimeZone') as zone
       from pg_database where datname = current_database()`,
    );
    expect(row).toEqual({
      ...{ datlocprovider: 'b', datlocale: 'C.UTF-8', encoding: 'UTF8', sums: 'on' },
      ...{ addresses: '127.0.0.1', sockets: '', zone: 'UTC' },
    });
    await expect(query(server.url.replace(/:[\w-]{43}@/, ':wrong@'), 'select 1')).rejects.toThrow(
      'password authentication failed',
    );
  });

  it('never turns durability off by itself, and applies new settings at the next start', async () => {
    const dataDir = newDataDir();
    const read = `select name, setting from pg_settings where name in
      ('fsync', 'synchronous_commit', 'full_page_writes', 'work_mem') order by name`;
    const first = await startEmbeddedPostgres({ dataDir });
    const found = await query(first.url, read);
    expect(found.map(({ setting }) => setting)).toEqual(['on', 'on', 'on', '32768']);
    await first.stop();
    await using second = await startEmbeddedPostgres({ dataDir, settings: { work_mem: '1MB' } });
    expect((await query(second.url, read)).at(-1)?.setting).toBe('1024');
  });

  it('logs one short line for an error, without its statement, values and details', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    await query(server.url, "create table people as select 'ada@example.com' as email");
    await query(server.url, 'create unique index on people (email)');
    const insert = query(server.url, "insert into people values ('ada@example.com')");
    await expect(insert).rejects.toThrow('duplicate key');
    const slow = `set statement_timeout = 50; select pg_sleep(60), '${'x'.repeat(100_000)}'`;
    await expect(query(server.url, slow)).rejects.toThrow('statement timeout');
    await server.stop();
    const log = await readFile(path.join(dataDir, 'postgres.log'), 'utf8');
    expect(log).toContain('duplicate key');
    expect(log).toContain('statement timeout');
    expect(log).not.toMatch(/ada@example|insert into|xxxx/);
  });

  it('takes another port when its own is in use', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await first.stop();
    const squatter = createServer();
    squatter.listen(Number(new URL(first.url).port), '127.0.0.1');
    await once(squatter, 'listening');
    try {
      await using second = await startEmbeddedPostgres({ dataDir, settings });
      expect(second.url).not.toBe(first.url);
      expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    } finally {
      squatter.close();
    }
  });

  it("fails with the server's own message, and releases the folder", async () => {
    const dataDir = newDataDir();
    const broken = { ...settings, work_mem: 'plenty' };
    await expect(startEmbeddedPostgres({ dataDir, settings: broken })).rejects.toMatchObject({
      code: 'embedded_postgres_failed',
      message: expect.stringContaining('invalid value for parameter "work_mem"'),
    });
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('sets a new password when the credentials file is missing', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    await rm(path.join(dataDir, 'postgres-credentials.json'));
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(new URL(second.url).password).not.toBe(new URL(first.url).password);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });
});

describe('one folder', () => {
  it('is not blocked by a postmaster.pid that a full disk left empty', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await first.stop();
    await writeFile(path.join(dataDir, 'postgres/postmaster.pid'), '');
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses a second start in this or another process, and names the process to stop', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    const refusal = {
      code: 'data_folder_in_use',
      message: expect.stringContaining(`in use by process ${process.pid}.`),
    };
    await expect(startEmbeddedPostgres({ dataDir, settings })).rejects.toMatchObject(refusal);
    expect((await hold(dataDir)).answer).toMatchObject(refusal);
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is not blocked by a server that ends, and removes its file, while the start looks at it', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await first.stop();
    const pidFile = path.join(dataDir, 'postgres/postmaster.pid');
    // Whoever reads a pipe waits for its text, so the file is gone right after it was read.
    execFileSync('mkfifo', [pidFile]);
    const removing = writeFile(pidFile, `${first.pid}\n`).then(() => unlink(pidFile));
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    await removing;
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('is not blocked by a postmaster.pid whose pid is another program now', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    const pidFile = path.join(dataDir, 'postgres/postmaster.pid');
    const left = await readFile(pidFile, 'utf8');
    await first.stop();
    const stranger = spawn('sleep', ['60']);
    killLater(stranger);
    await writeFile(pidFile, left.replace(String(first.pid), String(must(stranger.pid, 'pid'))));
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode).toBeNull();
  });
});

it('ends the statement of a client that was killed', async () => {
  await using server = await startEmbeddedPostgres({ dataDir: newDataDir(), settings });
  const wait = `import postgres from 'postgres'; await postgres(process.argv[1])\`select pg_sleep(600)\``;
  const words = ['--input-type=module', '--eval', wait, server.url];
  const client = spawn(process.execPath, words, { cwd: packageRoot });
  killLater(client);
  const runs = async () => {
    const statement = `select from pg_stat_activity where query like 'select pg_sleep%' and state = 'active'`;
    return (await query(server.url, statement)).length > 0;
  };
  await waitUntil('the statement runs', 30_000, runs);
  client.kill('SIGKILL');
  await waitUntil('the statement has ended', 30_000, async () => !(await runs()));
});
