/** The data folder: copied, moved and read by other users, while the service runs and afterwards. */
import { execFile, execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, statSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../bench/servers/free-port.ts';
import { readAdminUrl } from '../../infra/embedded/embedded-postgres.ts';
import { createClient } from '../../src/client/client.ts';
import { connect } from '../../src/core/db/client.ts';
import { createTestDatabase } from '../support/database.ts';
import { buildIfStale } from './compiled-code.ts';
import { readResult, untilEnded, uploadList, withSql } from './list.ts';
import { runCommand, runJson, startCommand, startWithChannel } from './processes.ts';
import { startApi } from './separate-processes.ts';
import { readUpFile, type Service, startService } from './service.ts';
import { waitFor } from './wait-for.ts';

const caseMs = 150_000;
const run = promisify(execFile);
const root = mkdtempSync(path.join(tmpdir(), 'enrich-data-folder-'));
const leads = path.join(root, 'leads.csv');
let service: Service;
let accountId: string;
let apiKey: string;

beforeAll(async () => {
  await buildIfStale();
  await writeFile(leads, 'email\nada@example.com\ngrace@example.com\n');
  service = await startService(path.join(root, 'original'));
  const inFolder = ['--data-dir', service.dataDir];
  const account = ['account', 'create', '--name', 'Acme', '--credits', '100', ...inFolder];
  accountId = (await runJson<{ account_id: string }>(account)).account_id;
  const key = ['key', 'create', '--account', accountId, '--mode', 'live', ...inFolder];
  apiKey = (await runJson<{ key: string }>(key)).key;
}, 120_000);

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true, maxRetries: 20 });
}, 60_000);

function grant(dataDir: string, reference: string) {
  const words = ['credits', 'grant', '--account', accountId, '--amount', '7'];
  return runCommand([...words, '--reference', reference, '--data-dir', dataDir]);
}

async function readGrants(): Promise<string[]> {
  const rows = await withSql(
    service,
    (sql) => sql<{ reference: string }[]>`
      select reference from ledger_entries where amount = 7 order by reference`,
  );
  return rows.map(({ reference }) => reference);
}

/** Paths in the folder, except the server's own, that grant rights to group or others. */
async function listOpen(dataDir: string): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.map((entry) => path.join(entry.parentPath, entry.name));
  const open: string[] = [];
  for (const file of [dataDir, ...files]) {
    if (file.startsWith(path.join(dataDir, 'postgres', path.sep))) continue;
    if (((await stat(file)).mode & 0o077) !== 0) open.push(file);
  }
  return open;
}

async function runList(): Promise<void> {
  const list = await uploadList(service, apiKey, leads);
  expect((await untilEnded(list)).state).toBe('completed');
  await readResult(list);
}

describe('customer data', () => {
  it(
    'is accessible only to the owner of the data folder, even if it was left open',
    async () => {
      await runList();
      expect(await readdir(path.join(service.dataDir, 'objects/batches'))).toHaveLength(1);
      expect(await listOpen(service.dataDir)).toEqual([]);

      await service.stop();
      for (const file of await readdir(service.dataDir, { recursive: true })) {
        if (!/^objects|^postgres\.log/.test(file)) continue;
        const full = path.join(service.dataDir, file);
        await chmod(full, (await stat(full)).isDirectory() ? 0o755 : 0o644);
      }
      await chmod(service.dataDir, 0o755);
      expect((await listOpen(service.dataDir)).length).toBeGreaterThan(4);
      service = await startService(service.dataDir);
      expect(await listOpen(service.dataDir)).toEqual([]);
    },
    caseMs,
  );
});

it('is not made by a restore of a file that is no backup', async () => {
  const dataDir = path.join(root, 'never-made');
  const refused = await runCommand(['restore', leads, '--data-dir', dataDir]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('not a complete backup'),
  });
  const absent = path.join(root, 'absent.backup');
  const missing = await runCommand(['restore', absent, '--data-dir', dataDir]);
  expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining(`${absent}: no such`) });
  await expect(stat(dataDir)).rejects.toThrow('ENOENT');
});

it('is refused by a restore when it is a service, before the backup is read', async () => {
  const absent = path.join(root, 'absent.backup');
  const refused = await runCommand(['restore', absent, '--data-dir', service.dataDir]);
  const stderr = `error: The data folder ${service.dataDir} is not empty. Name a new folder with --data-dir. Nothing was restored. (not_empty)`;
  expect(refused).toMatchObject({ code: 1, stderr: `${stderr}\n` });
});

it('is refused by a restore into an empty database when its files are those of a service', async () => {
  const absent = path.join(root, 'absent.backup');
  const { url, drop } = await createTestDatabase();
  const options = { databaseUrl: url, dataDir: service.dataDir };
  const restoring = startCommand(['restore', absent], options);
  expect(await restoring.ended).toBe(1);
  expect(restoring.stderr).toContain(
    `The folder ${path.join(service.dataDir, 'objects')} is not empty: it has files of an installation`,
  );
  await drop();
});

it(
  'does not start after a restore that was killed, and is a service after one that ended',
  async () => {
    const backup = path.join(root, 'whole.backup');
    const made = await runCommand(['backup', backup, '--data-dir', service.dataDir]);
    expect(made.code, made.stderr).toBe(0);
    const dataDir = path.join(root, 'half-restored');
    const restoring = startCommand(['restore', backup, '--data-dir', dataDir]);
    await waitFor('the restore has begun', caseMs, async () =>
      existsSync(path.join(dataDir, 'restore-unfinished')),
    );
    restoring.child.kill('SIGKILL');
    expect(await restoring.ended).toBe(null);
    for (const words of [['up', '--port', '0'], ['status'], ['migrate'], ['restore', backup]]) {
      const { code, stderr } = await runCommand([...words, '--data-dir', dataDir]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringContaining(
          `A restore into the data folder ${dataDir} has not finished`,
        ),
      });
    }
    await rm(dataDir, { recursive: true, maxRetries: 20 });
    const again = await runCommand(['restore', backup, '--data-dir', dataDir]);
    expect(again.code, again.stderr).toBe(0);
    const audit = await runCommand(['audit', '--deep', '--data-dir', dataDir]);
    expect(audit.code, audit.stdout).toBe(0);
  },
  caseMs,
);

it('is not asked for its database while DATABASE_URL names another, and the command says so', async () => {
  const databaseUrl = service.up.database_url;
  const words = ['audit', '--data-dir', path.join(root, 'elsewhere')];
  const noted = startCommand(words, { databaseUrl });
  expect(await noted.ended, noted.stderr).toBe(0);
  const { host, pathname } = new URL(databaseUrl);
  expect(noted.stderr).toBe(
    `DATABASE_URL is set: the database is ${host}${pathname}, not that of --data-dir ${words[2]}. To use the folder's, unset DATABASE_URL.\n`,
  );
  // The database of the folder's own service, and a folder that no option names.
  const own = startCommand(['audit', '--data-dir', service.dataDir], { databaseUrl });
  const shared = startCommand(['audit'], { databaseUrl, dataDir: path.join(root, 'elsewhere') });
  for (const silent of [own, shared]) {
    expect(await silent.ended).toBe(0);
    expect(silent.stderr).toBe('');
  }
});

it('is not written to a folder in place of a backup file, or into one that does not exist', async () => {
  const refused = await runCommand(['backup', root, '--data-dir', service.dataDir]);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('is a folder') });
  const folder = path.join(root, 'no-such-folder');
  const words = ['backup', path.join(folder, 'file'), '--data-dir', service.dataDir];
  const stderr = `error: There is no folder ${folder}. Create it, or name a file in another one.`;
  expect(await runCommand(words)).toMatchObject({ code: 1, stderr: `${stderr}\n` });
});

it('does not take the place of a device or a pipe that a backup names', async () => {
  const pipe = path.join(root, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const refused = await runCommand(['backup', pipe, '--data-dir', service.dataDir]);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('is a device or a pipe'),
  });
  expect(statSync(pipe).isFIFO()).toBe(true);
});

it(
  'an API answers whoever started it, though no one answers on the channel that is open to it',
  async () => {
    const options = { databaseUrl: service.up.database_url, dataDir: service.dataDir };
    await using api = await startApi(options, startWithChannel);
    // It ends as it does without a channel: at once, and well.
    expect(await api.stop()).toMatchObject({ code: 0 });
  },
  caseMs,
);

it('workers leave the processor to the API', () => {
  const { api, workers } = service.up.pids;
  expect(workers.length).toBeGreaterThan(0);
  for (const worker of workers) expect(getPriority(worker)).toBeGreaterThan(getPriority(api));
});

it('API and workers are not superusers of their database', async () => {
  const admin = connect({ url: await readAdminUrl(service.dataDir), connections: 1 });
  const roles = await admin<{ name: string; superuser: boolean }[]>`
    select distinct usename::text as name, rolsuper as superuser
    from pg_stat_activity join pg_roles on rolname = usename
    where backend_type = 'client backend' and pid <> pg_backend_pid()`;
  await admin.end();
  expect([...roles]).toEqual([{ name: 'enrich_service', superuser: false }]);
});

it.each([
  ['audit'],
  ['doctor'],
  ['backup', path.join(root, 'nothing.backup')],
  ['migrate', '--plan'],
  ['suppress', 'ada@example.com'],
  ['key', 'create', '--account', randomUUID(), '--mode', 'live'],
  ['credits', 'grant', '--account', randomUUID(), '--amount', '1', '--reference', 'r'],
  ['account', 'create', '--name', 'Acme', '--credits', '1'],
  ['generate', '--persons', '1', '--companies', '1'],
  ['import', 'persons', leads],
])(
  '%s of a folder without a database is refused, and creates none',
  async (...words) => {
    const wrong = path.join(root, 'wrong-folder');
    const { code, stderr } = await runCommand([...words, '--data-dir', wrong]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `error: The data folder ${wrong} has no database. Name the folder of the service with --data-dir, or set DATABASE_URL.\n`,
    });
    await expect(stat(wrong)).rejects.toThrow('ENOENT');
  },
  caseMs,
);

it.each([
  ['up', '--port', '0'],
  ['suppress', 'ada@example.com'],
])(
  '%s of a folder whose database is gone is refused, and begins no empty one',
  async (...words) => {
    const lost = await mkdtemp(path.join(root, 'lost-'));
    await mkdir(path.join(lost, 'objects'));
    await writeFile(path.join(lost, 'objects/installation'), 'id');
    const { code, stderr } = await runCommand([...words, '--data-dir', lost]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/files in .*\/postgres are gone\..*\(database_gone\)\n$/),
    });
    expect(await readdir(lost)).toEqual(['objects']);
  },
  caseMs,
);

it(
  'with files of another installation is refused by the processes of `up`, which ends with their code',
  async () => {
    const { url, drop } = await createTestDatabase();
    const dataDir = await mkdtemp(path.join(root, 'mixed-'));
    await mkdir(path.join(dataDir, 'objects'));
    await writeFile(path.join(dataDir, 'objects/installation'), randomUUID());
    const up = startCommand(['up', '--workers', '0'], { databaseUrl: url, dataDir });
    expect(await up.ended).toBe(1);
    expect(up.stderr).toMatch(/is the object store of another installation.* \(another_store\)\n$/);
    await drop();
  },
  caseMs,
);

describe('a copy of the data folder', () => {
  it(
    'that was made while the service ran does not affect the original, and its error says what to do',
    async () => {
      const copy = path.join(root, 'torn');
      // Files come and go meanwhile, which makes `cp` fail at its end.
      await run('cp', ['-r', service.dataDir, copy]).catch(() => {});
      for (const words of [['migrate'], ['up', '--port', '0']]) {
        const { code, stderr } = await runCommand([...words, '--data-dir', copy]);
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: expect.stringMatching(
            `is a copy of one that process ${service.up.pids.up} was using.*Stop that process and copy again`,
          ),
        });
      }
      const { code, stderr } = await grant(copy, 'for-the-copy');
      expect(code, stderr).toBe(1);
      expect(await readGrants()).toEqual([]);
      const { stderr: said } = await runCommand(['usage', '--data-dir', copy], apiKey);
      expect(said).not.toContain(service.up.url);
      // The original is unaffected.
      expect((await grant(service.dataDir, 'original')).code).toBe(0);
      expect(await readGrants()).toEqual(['original']);
    },
    caseMs,
  );

  it(
    'that was made after a stop is an independent service, wherever it is moved',
    async () => {
      await service.stop();
      const copy = path.join(root, 'copy');
      await cp(service.dataDir, copy, { recursive: true });
      service = await startService(service.dataDir);
      const { code, stdout } = await runCommand(['audit', '--deep', '--data-dir', copy]);
      expect(code, stdout).toBe(0);
      expect((await grant(copy, 'for-the-copy')).code).toBe(0);
      expect(await readGrants()).toEqual(['original']);

      const moved = path.join(root, 'moved');
      await rename(copy, moved);
      await using second = await startService(moved);
      expect(second.up.url).not.toBe(service.up.url);
      expect((await grant(moved, 'moved')).code).toBe(0);
      expect(await readGrants()).toEqual(['original']);
      const client = createClient(second.up.url, apiKey);
      expect((await client.getMe()).credits.remaining).toBe(100 + 3 * 7);
      expect(await second.stop()).toEqual({ code: 0, left: [] });
    },
    caseMs,
  );
});

it(
  'takes the cancellation of a list before anything of it runs, when it is started without workers',
  async () => {
    await service.stop();
    service = await startService(service.dataDir, ['--workers', '0']);
    expect(service.up.pids.workers).toEqual([]);
    const { id, client } = await uploadList(service, apiKey, leads);
    const cancelled = await client.controlBatch(id, 'cancel');
    expect(cancelled).toMatchObject({ state: 'cancelled', credits: { charged: 0 } });
  },
  caseMs,
);

it(
  'names the service from its first answer on, so that a script that waits for /readyz can go on',
  async () => {
    await service.stop();
    const { dataDir } = service;
    const port = await freePort();
    const words = ['--port', String(port), '--workers', '1', '--data-dir', dataDir];
    const up = startCommand(['up', ...words]);
    const url = `http://127.0.0.1:${port}`;
    try {
      const answer = () => fetch(new URL('/readyz', url)).catch(() => null);
      await waitFor('it answers', caseMs, async () => (await answer())?.status === 200);
      expect(await readUpFile(dataDir)).toMatchObject({ url, pids: { up: up.pid } });
    } finally {
      up.child.kill('SIGTERM');
      await up.ended;
    }
  },
  caseMs,
);
