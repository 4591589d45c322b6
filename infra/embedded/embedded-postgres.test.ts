import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { readProcessStart } from './process-identity.ts';

/** Throw-away servers: nothing here proves what a crash of the machine leaves. */
const settings = { fsync: 'off', shared_buffers: '32MB' };
const isRoot = process.getuid?.() === 0;
const nobody = 65_534;

/** Starts a server, says where it is on its first line, and lives until it is killed. */
const holdScript = `
import { startEmbeddedPostgres } from './infra/embedded/embedded-postgres.js';
const [dataDir, settings] = process.argv.slice(2);
const log = (line) => console.error(line);
try {
  const options = { dataDir, log, settings: JSON.parse(settings) };
  const { pid, url } = await startEmbeddedPostgres(options);
  console.log(JSON.stringify({ pid, url }));
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
  process.exit(1);
}
`;

let root: string;
let folders = 0;
const children: ChildProcess[] = [];

/** A folder that is not there yet, below one that only the current user may enter. */
function newDataDir(): string {
  folders += 1;
  return path.join(root, 'home', `folder-${folders}`, '.enrich');
}

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'embedded-postgres-'));
  await chmod(root, 0o755);
  await mkdir(path.join(root, 'home'), { mode: 0o700 });
  await installCompiled(path.join(root, 'app'));
}, 60_000);

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await rm(root, { recursive: true, force: true, maxRetries: 20 });
});

/**
 * The compiled module with copies of the two packages it needs: outside the checkout, which other
 * users may not be able to read, and without the library links, as if npm ran no postinstall.
 */
async function installCompiled(app: string): Promise<void> {
  const config = {
    extends: path.join(packageRoot, 'tsconfig.build.json'),
    compilerOptions: {
      ...{ rootDir: packageRoot, outDir: app, incremental: false, sourceMap: false },
      tsBuildInfoFile: null,
      typeRoots: [path.join(packageRoot, 'node_modules/@types')],
    },
    include: [],
    files: [path.join(import.meta.dirname, 'embedded-postgres.ts')],
  };
  await mkdir(app);
  await writeFile(path.join(app, 'tsconfig.json'), JSON.stringify(config));
  const tsc = path.join(packageRoot, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, '-p', path.join(app, 'tsconfig.json')]);
  await writeFile(path.join(app, 'package.json'), '{"type":"module"}');
  await writeFile(path.join(app, 'hold.js'), holdScript);
  for (const name of [
    ...['postgres', 'zod'],
    `@embedded-postgres/${process.platform}-${process.arch}`,
  ]) {
    const target = path.join(app, 'node_modules', name);
    const isNoLibraryLink = (file: string) => !/\/native\/lib\/lib[^/]*\.so(\.\d+)?$/.test(file);
    cpSync(path.join(packageRoot, 'node_modules', name), target, {
      recursive: true,
      filter: (file) => isNoLibraryLink(file) || !isLink(file),
    });
    if (isRoot) execFileSync('chown', ['-R', String(nobody), target]);
  }
}

function isLink(file: string): boolean {
  const entries = readdirSync(path.dirname(file), { withFileTypes: true });
  return entries.some((entry) => entry.name === path.basename(file) && entry.isSymbolicLink());
}

interface Held {
  child: ChildProcess;
  answer: { pid: number; url: string; code?: string; message?: string };
  log: () => string;
}

/** Runs the hold script in a process of its own; resolves with its first line. */
async function hold(
  dataDir: string,
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<Held> {
  const words = [path.join(root, 'app/hold.js'), dataDir, JSON.stringify(settings)];
  const child = spawn(process.execPath, words, { cwd: '/', ...options });
  children.push(child);
  let log = '';
  child.stderr.on('data', (bytes) => {
    log += bytes;
  });
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'close').then(() => Promise.reject(new Error(`ended: ${log}`))),
  ])) as [string];
  return { child, answer: JSON.parse(line), log: () => log };
}

/** As `hold`, where the start is to succeed. */
async function holdReady(...options: Parameters<typeof hold>): Promise<Held> {
  const held = await hold(...options);
  if (held.answer.code !== undefined) throw new Error(held.answer.message);
  return held;
}

async function waitUntil(what: string, limitMs: number, isSo: () => Promise<boolean>) {
  const deadline = Date.now() + limitMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`not within ${limitMs} ms: ${what}`);
    await delay(20);
  }
}

async function isGone(pid: number): Promise<boolean> {
  return (await readProcessStart(pid)) === null;
}

/** Rows of one statement over a connection of its own. */
async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await client.unsafe(statement);
  } finally {
    await client.end();
  }
}

async function modeOf(...parts: string[]): Promise<string> {
  return ((await stat(path.join(...parts))).mode & 0o777).toString(8);
}

/** A PATH with everything of the system's but the named programs. */
async function pathWithout(...names: string[]): Promise<NodeJS.ProcessEnv> {
  const folder = await mkdtemp(path.join(root, 'bin-'));
  await chmod(folder, 0o755);
  for (const bin of ['/usr/bin', '/bin', '/usr/sbin', '/sbin']) {
    for (const name of readdirSync(bin)) {
      if (names.includes(name)) continue;
      try {
        symlinkSync(path.join(bin, name), path.join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
  return { PATH: folder };
}

describe('a start', () => {
  it('makes the database on first use, and a restart keeps data, port and password', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    expect(first.url).toMatch(/^postgres:\/\/enrich:[\w-]{43}@127\.0\.0\.1:\d+\/enrich$/);
    await query(first.url, 'create table kept as select 42 as answer');
    await first.stop();
    expect(await isGone(first.pid)).toBe(true);

    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(second.url).toBe(first.url);
    expect(second.pid).not.toBe(first.pid);
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  it('keeps files and network to this user and machine, and sorts alike everywhere', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await modeOf(dataDir, 'postgres-credentials.json')).toBe('600');
    expect(await modeOf(dataDir, 'postgres.log')).toBe('600');
    expect(await modeOf(dataDir, 'postgres')).toBe('700');
    expect(await modeOf(dataDir)).toBe('700');
    const [row] = await query(
      server.url,
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

  it('never turns durability off by itself, and has new settings at the next start', async () => {
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

  it('takes another port when something else has its own', async () => {
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

  it("fails with the server's own words, and leaves the folder free", async () => {
    const dataDir = newDataDir();
    const broken = { ...settings, work_mem: 'plenty' };
    await expect(startEmbeddedPostgres({ dataDir, settings: broken })).rejects.toMatchObject({
      code: 'embedded_postgres_failed',
      message: expect.stringContaining('invalid value for parameter "work_mem"'),
    });
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('sets a new password when the credentials file is gone', async () => {
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
  it('refuses a second start in this or another process, naming the process to stop', async () => {
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

  it('is not blocked by a postmaster.pid whose pid is another program now', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    const pidFile = path.join(dataDir, 'postgres/postmaster.pid');
    const left = await readFile(pidFile, 'utf8');
    await first.stop();
    const stranger = spawn('sleep', ['60']);
    children.push(stranger);
    await writeFile(pidFile, left.replace(String(first.pid), String(must(stranger.pid, 'pid'))));
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(stranger.exitCode).toBeNull();
  });
});

describe('a violent end', () => {
  it.each([
    ['and the system sends the signal', []],
    ['and a shell sends the signal, where setpriv is missing', ['setpriv']],
  ])('of the parent ends the server %s; the next start finds all data', async (_how, missing) => {
    const dataDir = newDataDir();
    const env = missing.length === 0 ? process.env : await pathWithout(...missing);
    const { child, answer } = await holdReady(dataDir, { env });
    await query(answer.url, 'create table kept as select 42 as answer');
    child.kill('SIGKILL');
    // At once: the server is still shutting down, and the start waits for it.
    await using next = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(next.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
    expect(next.url).toBe(answer.url);
    expect(await isGone(answer.pid)).toBe(true);
  });

  it('of the parent leaves no server behind, also while clients are at work', async () => {
    const { child, answer } = await holdReady(newDataDir());
    const client = postgres(answer.url, { max: 1 });
    const sleeping = client`select pg_sleep(60)`.catch((error: Error) => error);
    await waitUntil('the client is at work', 5_000, async () => {
      const rows = await query(
        answer.url,
        `select 1 from pg_stat_activity where query like 'select pg_sleep%'`,
      );
      return rows.length === 1;
    });
    child.kill('SIGKILL');
    await waitUntil('the server is gone', 15_000, () => isGone(answer.pid));
    expect(await sleeping).toBeInstanceOf(Error);
    await client.end({ timeout: 0 });
  });

  it('of the server is told, and the next start recovers what was committed', async () => {
    const dataDir = newDataDir();
    const first = await startEmbeddedPostgres({ dataDir, settings });
    await query(first.url, 'create table kept as select 42 as answer');
    process.kill(first.pid, 'SIGKILL');
    expect(await first.exited).toContain('by signal SIGKILL');
    await first.stop();
    await using second = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(second.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });
});

describe('users', () => {
  it.skipIf(!isRoot)('root: files stay root’s where only root may enter', async () => {
    const dataDir = newDataDir();
    await using server = await startEmbeddedPostgres({ dataDir, settings });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect(await modeOf(root, 'home')).toBe('700');
  });

  it.skipIf(!isRoot)('root without user namespaces: an unused user owns the files', async () => {
    const dataDir = path.join(root, 'open');
    await mkdir(dataDir, { mode: 0o755 });
    const { child, answer } = await holdReady(dataDir, { env: await pathWithout('unshare') });
    expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    const { uid } = await stat(path.join(dataDir, 'postgres'));
    expect(uid).toBeGreaterThanOrEqual(62_000);
    child.kill('SIGKILL');
    await waitUntil('the server is gone', 15_000, () => isGone(answer.pid));
  });

  it.skipIf(!isRoot)(
    'root without user namespaces: files move where that user can be',
    async () => {
      const dataDir = newDataDir();
      const env = await pathWithout('unshare');
      const { child, answer, log } = await holdReady(dataDir, { env });
      const credentials = await readFile(path.join(dataDir, 'postgres-credentials.json'), 'utf8');
      const { dataFolder } = JSON.parse(credentials) as { dataFolder: string };
      try {
        expect(dataFolder).toMatch(/^\/var\/lib\/enrich\/postgres-[0-9a-f]{16}$/);
        expect(log()).toContain(`PostgreSQL's files are in ${dataFolder}`);
        expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
        child.kill('SIGKILL');
        await waitUntil('the server is gone', 15_000, () => isGone(answer.pid));
      } finally {
        await rm(dataFolder, { recursive: true, maxRetries: 20 });
      }
    },
  );

  it.skipIf(!isRoot)(
    'an ordinary user: the library links are made, all files are his',
    async () => {
      const dataDir = path.join(root, 'nobody');
      await mkdir(dataDir, { mode: 0o700 });
      await chown(dataDir, nobody, nobody);
      const { child, answer } = await holdReady(dataDir, { uid: nobody, gid: nobody });
      expect(await query(answer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
      expect((await stat(path.join(dataDir, 'postgres'))).uid).toBe(nobody);
      child.kill('SIGKILL');
      await waitUntil('the server is gone', 15_000, () => isGone(answer.pid));
    },
  );
});
