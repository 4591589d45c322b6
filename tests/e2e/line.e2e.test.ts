/** The whole service in real processes: users lose nothing when any of them dies during a list. */
import { createReadStream, mkdtempSync } from 'node:fs';
import { cp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Batch } from '../../src/client/api-types.ts';
import { createClient } from '../../src/client/client.ts';
import { must } from '../../src/core/lib/assert.ts';
import { packageRoot } from '../../src/core/lib/package-root.ts';
import { familyOf, parsePromql, selectorsOf } from '../support/promql.ts';
import { readScrape } from '../support/scrape.ts';
import { buildIfStale } from './compiled-code.ts';
import {
  digest,
  LIST_ROWS,
  type Result,
  type RunningList,
  readResult,
  untilEnded,
  untilMidway,
  uploadList,
  withSql,
  writeList,
} from './list.ts';
import { CHUNK_ROWS, runCommand, runJson, startCommand } from './processes.ts';
import { readUpFile, type Service, startService } from './service.ts';
import { waitFor } from './wait-for.ts';

const caseMs = 150_000;
/** How long a thawed worker may take to offer a part. */
const refusalMs = 15_000;

const root = mkdtempSync(path.join(tmpdir(), 'enrich-line-'));
const leads = path.join(root, 'leads.csv');
let service: Service;
let accountId: string;
let apiKey: string;
/** The result of the list when nothing goes wrong. */
let undisturbed: { result: Result; charged: number };

beforeAll(async () => {
  await buildIfStale();
  service = await startService(path.join(root, 'data'));
}, 120_000);

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
}, 60_000);

/** A command with the option for the service's folder. */
const about = (...words: string[]) => [...words, '--data-dir', service.dataDir];

describe('the command line', () => {
  it('writes up.json readable only by its owner, with reachable addresses and live pids', async () => {
    const file = path.join(service.dataDir, 'up.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const { url, metrics_url, database_url, pids } = service.up;
    expect(pids).toEqual({
      up: service.command.pid,
      api: expect.any(Number),
      workers: [expect.any(Number)],
      postgres: expect.any(Number),
    });
    for (const pid of Object.values(pids).flat()) expect(process.kill(pid ?? 0, 0)).toBe(true);
    expect((await fetch(new URL('/readyz', url))).status).toBe(200);
    const scrape = readScrape(await (await fetch(metrics_url)).text());
    expect(scrape.sum('enrich_process_up')).toBe(2);
    expect(scrape.sum('nodejs_eventloop_lag_seconds', { process: 'api' })).not.toBeNull();
    expect(scrape.sum('enrich_database_up', { process: 'worker', number: '1' })).toBe(1);
    // The dashboard queries metrics that Prometheus really scrapes.
    const dashboard = path.join(packageRoot, 'infra', 'grafana', 'dashboard.json');
    const { panels } = JSON.parse(await readFile(dashboard, 'utf8')) as {
      panels: { targets?: { expr: string }[] }[];
    };
    const asked = panels
      .flatMap(({ targets = [] }) => targets)
      .flatMap(({ expr }) => selectorsOf(parsePromql(expr)));
    expect(asked.length).toBeGreaterThan(20);
    for (const { metric } of asked) expect(familyOf(metric, scrape.names), metric).toBeDefined();
    await waitFor('api and worker are seen', 20_000, async () => {
      const { sum } = readScrape(await (await fetch(metrics_url)).text());
      return sum('enrich_processes', { kind: 'api' }) === 1 && sum('enrich_processes') === 2;
    });
    expect(database_url).toMatch(/^postgres:\/\/enrich_service:.+@127\.0\.0\.1:\d+\/enrich$/);
  });

  it('prints one JSON value on stdout and progress on stderr', async () => {
    const words = ['--persons', '20000', '--companies', '4000', '--seed', '1', '--json'];
    const generated = await runCommand(about('generate', ...words));
    expect(generated).toMatchObject({ code: 0, stderr: expect.stringContaining('20000') });
    expect(generated.stdout.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(generated.stdout)).toMatchObject({ persons: 20_000, companies: 4_000 });
    await writeList(service, leads);

    const credits = ['--name', 'Team', '--credits', '10000000'];
    const account = await runJson<{ account_id: string }>(about('account', 'create', ...credits));
    accountId = account.account_id;
    const mode = ['--account', accountId, '--mode', 'live'];
    const made = await runJson<{ key: string; prefix: string }>(about('key', 'create', ...mode));
    expect(made.key.startsWith(made.prefix)).toBe(true);
    apiKey = made.key;
  }, 60_000);

  it(
    'runs a list to its end: each row once, in a file, charged per match',
    async () => {
      const output = path.join(root, 'leads.enriched.csv');
      const words = ['batch', 'run', leads, '--operation', 'people.enrich', '-o', output];
      const batch = await runJson<Batch & { output: string }>(about(...words), apiKey);
      expect(batch).toMatchObject({ state: 'completed', output, rows: { total: LIST_ROWS } });
      expectComplete(batch);
      const result = await digest(createReadStream(output) as AsyncIterable<Buffer>);
      expect(result.lines).toBe(LIST_ROWS + 1);
      undisturbed = { result, charged: batch.credits.charged };
      await expectCleanAudit(service);
    },
    caseMs,
  );

  it('exits 1 for a failure and 2 for a usage error, with nothing on stdout', async () => {
    const run = ['batch', 'run', leads, '--operation', 'people.enrich'];
    const [wrongKey, noKey, noOperation, unknown, negative] = await Promise.all([
      runCommand(about(...run), 'svc_live_nobody'),
      runCommand(about(...run)),
      runCommand(about('batch', 'run', leads), apiKey),
      runCommand(about('enrich-everything')),
      runCommand(about('account', 'create', '--name', 'Team', '--credits', '-1')),
    ]);
    expect(wrongKey).toMatchObject({ code: 1, stdout: '' });
    expect(noKey).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('KEY') });
    for (const ended of [noOperation, unknown, negative]) {
      expect(ended).toMatchObject({
        code: 2,
        stdout: '',
        stderr: expect.stringContaining('--help'),
      });
    }
  }, 30_000);

  it('refuses a second `up` on the folder, and the first continues', async () => {
    const second = await runCommand(about('up', '--port', '0'));
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toContain(String(service.up.pids.up));
    expect((await fetch(new URL('/readyz', service.up.url))).status).toBe(200);
  }, 30_000);
});

it('a worker or API whose database is unavailable exits, so that it can be restarted', async () => {
  const nobody = 'postgres://enrich:none@127.0.0.1:1/enrich';
  const processes = ['worker', 'api'].map((name) => startCommand([name], { databaseUrl: nobody }));
  const codes = await Promise.all(processes.map(({ ended }) => ended));
  expect(codes).toEqual([1, 1]);
}, 30_000);

it('a process exits with the reason on a database migrated by another version', async () => {
  await withSql(service, async (sql) => {
    await sql`insert into public.migrations (name, sha256) values ('public/9999-of-the-future.sql', '')`;
    const processes = ['worker', 'api'].map((name) =>
      startCommand([name], { databaseUrl: service.up.database_url }),
    );
    const codes = await Promise.all(processes.map(({ ended }) => ended));
    // Running processes continue: an upgrade does not stop the old processes.
    const ready = await fetch(new URL('/readyz', service.up.url));
    await sql`delete from public.migrations where name = 'public/9999-of-the-future.sql'`;
    expect(codes).toEqual([1, 1]);
    for (const { stderr } of processes) {
      expect(stderr).toContain('migrations that this version does not know');
      expect(stderr).toContain('9999-of-the-future');
    }
    expect(ready.status).toBe(200);
  });
}, 30_000);

describe('a service that is disturbed during a list', () => {
  it(
    'charges nothing after the response to a cancel, and returns all rows',
    async () => {
      const list = await uploadList(service, apiKey, leads);
      await untilMidway(list);
      await list.client.controlBatch(list.id, 'cancel');
      const wallet = await readWallet(service);
      const expectStill = async () => expect(await readWallet(service)).toEqual(wallet);
      const batch = await untilEnded(list, expectStill);
      expect(batch).toMatchObject({ state: 'cancelled', rows: { total: LIST_ROWS } });
      expect(batch.rows.not_processed).toBeGreaterThan(0);
      expectComplete(batch);
      expect((await readResult(list)).lines).toBe(LIST_ROWS + 1);
      // Runs a free list after it to its end: work in flight at the cancel is over by then.
      const mode = ['--account', accountId, '--mode', 'test'];
      const { key } = await runJson<{ key: string }>(about('key', 'create', ...mode));
      const small = path.join(packageRoot, 'samples', 'leads.csv');
      await untilEnded(await uploadList(service, key, small), expectStill);
      await expectCleanAudit(service);
    },
    caseMs,
  );

  it(
    'continues at the same address when the API is killed, and `batch run` waits for it',
    async () => {
      const output = path.join(root, 'leads.api-killed.csv');
      const words = ['batch', 'run', leads, '--operation', 'people.enrich', '-o', output, '--json'];
      const before = await newestBatch();
      const run = startCommand(about(...words), { apiKey });
      const id = await waitFor('the list is uploaded', 30_000, async () => {
        const newest = await newestBatch();
        return newest !== before && newest;
      });
      const list = { id, client: createClient(service.up.url, apiKey) };
      await untilMidway(list);
      process.kill(service.up.pids.api, 'SIGKILL');
      const again = await restarted((up) => up.pids.api !== service.up.pids.api);
      expect(again.url).toBe(service.up.url);
      expect(await run.ended, run.stderr).toBe(0);
      expect(JSON.parse(run.stdout)).toMatchObject({ id, state: 'completed' });
      expect(await digest(createReadStream(output) as AsyncIterable<Buffer>)).toEqual(
        undisturbed.result,
      );
      await expectUndisturbed(service, list);
    },
    caseMs,
  );

  it(
    'shuts down gracefully at SIGTERM, leaves no process, and the next start finishes the list',
    async () => {
      const list = await uploadList(service, apiKey, leads);
      await untilMidway(list);
      const { code, left } = await service.stop('SIGTERM');
      expect({ code, left }).toEqual({ code: 0, left: [] });
      expect(await readUpFile(service.dataDir)).toBeUndefined();
      service = await startService(service.dataDir);
      const client = createClient(service.up.url, apiKey);
      await expectUndisturbed(service, { id: list.id, client });
      // Also by Ctrl-C; the folder can then be copied.
      expect(await service.stop('SIGINT')).toEqual({ code: 0, left: [] });
    },
    caseMs,
  );
});

/** Each on a copy of the folder, in parallel: they mostly wait for a lease to expire. */
describe.concurrent('a process killed or frozen during a list changes neither file nor price', () => {
  it(
    'the only worker killed',
    async ({ expect: check }) => {
      await using copy = await startCopy('worker-killed');
      const list = await uploadList(copy, apiKey, leads);
      await untilMidway(list);
      const [worker] = copy.up.pids.workers;
      process.kill(worker ?? 0, 'SIGKILL');
      const again = await restarted((up) => up.pids.workers[0] !== worker, copy);
      check(again.pids).toEqual({ ...copy.up.pids, workers: [check.any(Number)] });
      await expectUndisturbed(copy, list);
    },
    caseMs,
  );

  it(
    'Postgres killed: it comes back at its address',
    async ({ expect: check }) => {
      await using copy = await startCopy('postgres-killed');
      const list = await uploadList(copy, apiKey, leads);
      await untilMidway(list);
      const { postgres } = copy.up.pids;
      process.kill(postgres ?? 0, 'SIGKILL');
      const again = await restarted((up) => up.pids.postgres !== postgres, copy);
      check(again).toMatchObject({ url: copy.up.url, database_url: copy.up.database_url });
      check(again.pids.up).toBe(copy.up.pids.up);
      await expectUndisturbed(copy, list);
    },
    caseMs,
  );

  it(
    'a worker frozen for longer than its lease: its later work is refused',
    async () => {
      await using copy = await startCopy('worker-frozen', ['--workers', '2']);
      // Every connection has run every statement by then, as in a long-running worker.
      await untilEnded(await uploadList(copy, apiKey, leads));
      // Frozen at the wrong moment, it held nothing or lost its connections too: then retries.
      for (let attempt = 1; !(await freezeOneWorker(copy)); attempt++) {
        if (attempt === 3) throw new Error('the frozen worker never came back with a part');
      }
    },
    2 * caseMs,
  );
});

/** True if the worker, once thawed, was refused. The list is correct in any case. */
async function freezeOneWorker(copy: Service): Promise<boolean> {
  const list = await uploadList(copy, apiKey, leads);
  await untilMidway(list);
  const { workers } = must(await readUpFile(copy.dataDir), 'up.json').pids;
  const worker = must(workers[0], 'a worker');
  process.kill(worker, 'SIGSTOP');
  await untilEnded(list);
  const result = await readResult(list);
  const said = copy.command.stderr.length;
  process.kill(worker, 'SIGCONT');
  const wasRefused = await waitFor('a part of the thawed worker refused', refusalMs, async () =>
    copy.command.stderr.slice(said).includes('"part refused"'),
  ).catch(() => false);
  await expectUndisturbed(copy, list);
  expect(await readResult(list)).toEqual(result);
  await expectOnlyRecordedParts(copy, list);
  return wasRefused;
}

async function startCopy(name: string, words: string[] = []): Promise<Service> {
  const dataDir = path.join(root, name);
  const objects = path.join(service.dataDir, 'objects');
  const filter = (source: string) => source !== objects;
  await cp(service.dataDir, dataDir, { recursive: true, filter });
  // The mark of the store, without which the copy would not start.
  await cp(path.join(objects, 'installation'), path.join(dataDir, 'objects', 'installation'));
  return await startService(dataDir, words);
}

async function restarted(differs: (up: Service['up']) => boolean, of = service) {
  return await waitFor('up.json names the new process', 60_000, async () => {
    const up = await readUpFile(of.dataDir);
    return up !== undefined && differs(up) && up;
  });
}

async function newestBatch(): Promise<string | undefined> {
  const response = await fetch(new URL('/v1/batches?limit=1', service.up.url), {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  const { data } = (await response.json()) as { data: { id: string }[] };
  return data[0]?.id;
}

/** Credits of the team; they do not change while nothing is charged, granted or reserved. */
async function readWallet(of: Service) {
  return await withSql(of, async (sql) => {
    const wallets = await sql`
      select balance, reserved from wallets where account_id = ${accountId}`;
    return wallets[0];
  });
}

/** The list ends with the same bytes and the same price as when nothing happened to it. */
async function expectUndisturbed(of: Service, list: RunningList): Promise<void> {
  const batch = await untilEnded(list);
  const result = await readResult(list);
  const { state, credits } = batch;
  expect({ state, result, charged: credits.charged, reserved: credits.reserved }).toEqual({
    state: 'completed',
    ...undisturbed,
    reserved: 0,
  });
  await expectCleanAudit(of);
}

/** Every row has one outcome, and each match was paid. */
function expectComplete({ rows: counts, credits }: Batch): void {
  const { total, processed, ...outcomes } = counts;
  const sum = Object.values(outcomes).reduce<number>((all, count) => all + (count ?? 0), 0);
  expect({ processed, sum, charged: credits.charged }).toEqual({
    processed: total,
    sum: total,
    charged: outcomes.matched,
  });
}

async function expectCleanAudit({ dataDir }: Service): Promise<void> {
  const audit = await runJson<{ ok: boolean; checks: { violations: number }[] }>([
    ...['audit', '--data-dir', dataDir],
  ]);
  expect(audit.checks.filter(({ violations }) => violations > 0)).toEqual([]);
  expect(audit.ok).toBe(true);
}

/** The result has one object for each recorded part, whatever other objects are stored. */
async function expectOnlyRecordedParts(of: Service, { id }: RunningList): Promise<void> {
  const folder = path.join(of.dataDir, 'objects', 'batches', id, 'parts');
  const stored = new Set(await readdir(folder));
  const parts = await withSql(
    of,
    (sql) => sql<{ objectKey: string }[]>`
    select object_key from parts where batch_id = ${id}`,
  );
  const recorded = parts.map(({ objectKey }) => path.basename(objectKey));
  expect(recorded.filter((name) => !stored.has(name))).toEqual([]);
  expect(recorded).toHaveLength(LIST_ROWS / CHUNK_ROWS);
}
