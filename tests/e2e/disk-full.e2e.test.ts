/** The service on a disk that fills up: first with the reserve, then without space, then with space again. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../src/core/db/client.ts';
import { readScrape } from '../support/scrape.ts';
import { buildIfStale } from './compiled-code.ts';
import { untilEnded, uploadList } from './list.ts';
import { runCommand, runJson } from './processes.ts';
import { readUpFile, type Service, startService } from './service.ts';
import { waitFor } from './wait-for.ts';

const diskMegabytes = 500;
const caseMs = 240_000;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-disk-'));
const disk = path.join(root, 'disk');
const filling = path.join(disk, 'filling');
const leads = path.join(root, 'leads.csv');
const small = path.join(root, 'small');
const tight = path.join(root, 'tight');
const mounted =
  mountDisk(disk, `${diskMegabytes}m`) ?? mountDisk(small, '16k') ?? mountDisk(tight, '150m');
let service: Service;
let apiKey: string;

/** Null, or why a disk of this size cannot be mounted here. */
function mountDisk(folder: string, size: string): string | null {
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
    return null;
  } catch (error) {
    return `no file system can be mounted here: ${String(error).split('\n')[0]}`;
  }
}

beforeAll(async () => {
  if (mounted !== null) return;
  await buildIfStale();
  writeFileSync(leads, `email\n${'ada@example.com\n'.repeat(2_000)}`);
  service = await startService(path.join(disk, 'data'));
  const inFolder = ['--data-dir', service.dataDir];
  const account = ['account', 'create', '--name', 'Acme', '--credits', '100', ...inFolder];
  const { account_id: accountId } = await runJson<{ account_id: string }>(account);
  const key = ['key', 'create', '--account', accountId, '--mode', 'live', ...inFolder];
  apiKey = (await runJson<{ key: string }>(key)).key;
}, 120_000);

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  if (mounted === null) execFileSync('umount', ['-l', disk, small, tight]);
  rmSync(root, { recursive: true, force: true });
}, 60_000);

/** Fills the remaining space. */
function fillDisk(): void {
  const block = Buffer.alloc(1024 * 1024, 'x');
  for (let bytes = block.length; bytes >= 4096; bytes /= 2) {
    try {
      while (true) appendFileSync(filling, block.subarray(0, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}

/** Writes to the database on a full disk until the server exits because its log has no space. */
async function endDatabase(): Promise<void> {
  const sql = connect({ url: service.up.database_url, connections: 1, connectSeconds: 5 });
  try {
    // On a full disk a new session may fail, and then nothing is written.
    await sql`select 1`;
    await waitFor('the database ends', 60_000, async () => {
      fillDisk();
      // A message in the write-ahead log, without a row in any table.
      const write = sql`select pg_logical_emit_message(true, 'filling', repeat('x', 4000000))`;
      const code = await write.then(
        () => null,
        (error: { code?: string }) => error.code ?? '',
      );
      return code !== null && code !== '53100';
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

async function waitsForSpace(): Promise<boolean> {
  const scrape = readScrape(await (await fetch(service.up.metrics_url)).text());
  return scrape.sum('enrich_database_waits_for_space') === 1;
}

async function ready(): Promise<{ status: number; detail?: string }> {
  const response = await fetch(new URL('/readyz', service.up.url), {
    signal: AbortSignal.timeout(3_000),
  }).catch(() => null);
  if (response === null) return { status: 0 };
  const body = (await response.json()) as { detail?: string };
  return { ...body, status: response.status };
}

const untilReady = () =>
  waitFor('the service is ready', 60_000, async () => (await ready()).status === 200);

const reserve = () =>
  stat(path.join(service.dataDir, 'postgres.ballast')).then(
    ({ size }) => size,
    () => 0,
  );

it.skipIf(mounted !== null)(
  'a backup that does not fit names its file, and leaves nothing',
  async () => {
    const file = path.join(small, 'enrich.backup');
    writeFileSync(path.join(small, 'other'), Buffer.alloc(16 * 1024));
    const { code, stderr } = await runCommand(['backup', file, '--data-dir', service.dataDir]);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `error: ${file}: the disk is full, and nothing of the backup was kept.`,
    );
    expect(readdirSync(small)).toEqual(['other']);
  },
  caseMs,
);

it.skipIf(mounted !== null)(
  'a command whose own database does not fit names the folder, not an address',
  async () => {
    const dataDir = path.join(tight, 'data');
    const size = ['--persons', '30000', '--companies', '5000'];
    await runJson(['migrate', '--data-dir', dataDir]);
    const { code, stderr } = await runCommand(['generate', ...size, '--data-dir', dataDir]);
    expect(code).toBe(1);
    expect(stderr).toContain(`error: The disk of the data folder ${dataDir} is full`);
  },
  caseMs,
);

it.skipIf(mounted !== null).each([126, 95, 92])(
  'a command whose database cannot be created next to %i MiB says so in one line',
  async (megabytes) => {
    for (const name of readdirSync(tight)) rmSync(path.join(tight, name), { recursive: true });
    writeFileSync(path.join(tight, 'other'), Buffer.alloc(megabytes * 1024 * 1024));
    const dataDir = path.join(tight, 'tighter');
    const { code, stderr } = await runCommand(['migrate', '--data-dir', dataDir]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^error: The disk of the data folder .* \(disk_full\)\n$/),
    });
  },
  caseMs,
);

it.skipIf(mounted !== null)(
  `recovers from a full disk automatically, even when the write-ahead log is full${mounted === null ? '' : ` (${mounted})`}`,
  async () => {
    const up = service.up.pids.up;
    const before = await uploadList(service, apiKey, leads);
    expect((await untilEnded(before)).state).toBe('completed');
    expect(await reserve()).toBe(64 * 1024 * 1024);

    // The reserve is released: the database is back although nothing was deleted.
    await endDatabase();
    await waitFor('the reserve is released', 60_000, async () => (await reserve()) === 0);
    await untilReady();

    // Without a reserve it waits for space, and reports that.
    await waitFor('the database waits for room', 120_000, async () => {
      if (await waitsForSpace()) return true;
      // A start may find the room that the end before it has left.
      if ((await ready()).status === 200) await endDatabase();
      return false;
    });
    const refused = await ready();
    expect(refused).toMatchObject({ status: 503, detail: expect.stringContaining('disk') });
    expect(process.kill(up, 0)).toBe(true);

    rmSync(filling);
    await untilReady();
    await waitFor('nothing waits', 10_000, async () => !(await waitsForSpace()));
    const after = await uploadList(service, apiKey, leads);
    expect(await untilEnded(after)).toMatchObject({ state: 'completed', rows: { total: 2_000 } });
    await waitFor('up.json is right', 10_000, async () => {
      const { pids } = (await readUpFile(service.dataDir)) ?? service.up;
      return pids.up === up && pids.postgres !== service.up.pids.postgres;
    });
    const audit = await runCommand(['audit', '--deep', '--data-dir', service.dataDir]);
    expect(audit.code, audit.stdout).toBe(0);
    expect(await service.stop()).toEqual({ code: 0, left: [] });
  },
  caseMs,
);
