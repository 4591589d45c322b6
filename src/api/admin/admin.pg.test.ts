import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startChromium } from '../../../bench/browser.ts';
import { describeWithBrowser } from '../../../tests/support/browser.ts';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import {
  openWorkingPipeline,
  type WorkingPipeline,
} from '../../../tests/support/working-pipeline.ts';
import { accountScopes } from '../../core/keys/keys.ts';
import { startHeartbeat } from '../../jobs/monitor/heartbeat.ts';
import { insertAudit } from '../../jobs/monitor/monitor.sql.ts';
import { queueNames } from '../../jobs/queue/job-names.ts';
import { importText } from '../../sources/import-files.test-suite.ts';
import { renderOpenApi } from '../openapi/openapi.ts';
import { documentedRoutes } from '../routes.ts';

let pipeline: WorkingPipeline;
let admin: Caller;
/** May do everything that a holder of the account may. */
let holder: Caller;
beforeAll(async () => {
  pipeline = await openWorkingPipeline();
  await importGraph(pipeline.sql, { persons: crowd(5) });
  const { accountId } = await pipeline.account(100);
  admin = await pipeline.keyOf(accountId, 'live', ['admin']);
  holder = await pipeline.keyOf(accountId, 'live', [...accountScopes]);
});
afterAll(() => pipeline.close());

const paths = [
  '/admin/people/1/sources',
  '/admin/companies/1/sources',
  '/admin/health',
  '/admin/queues',
  '/admin/queues/api/queues',
  '/admin/elsewhere',
];

const basic = (password: string) => ({
  headers: { Authorization: `Basic ${Buffer.from(`anybody:${password}`).toString('base64')}` },
});

const send = (caller: Caller, method: string, path: string, body?: unknown) =>
  pipeline.call(caller, path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

test.each(['/ADMIN/health', '/admin/HEALTH', '/admin/health/', '/V1/ME', '/v1/me/', '/DOCS'])(
  'a path has one spelling: %s is none',
  async (path) => {
    const response = await pipeline.call(admin, path);
    await expectProblem(response, { status: 404, code: 'not_found' });
  },
);

describe('what an operator sees', () => {
  test.each(paths)('%s is refused without an admin key', async (path) => {
    const nobody = await pipeline.call(null, path);
    expect(nobody.headers.get('www-authenticate')).toMatch(/^Basic realm=/);
    await expectProblem(nobody, { status: 401, code: 'invalid_key' });
    const mistyped = { status: 401, code: 'invalid_key' };
    await expectProblem(await pipeline.call(null, path, basic(`${admin.key}x`)), mistyped);
    await expectProblem(await pipeline.call(holder, path), { status: 403, code: 'forbidden' });
    await expectProblem(await pipeline.call(null, path, basic(holder.key)), {
      status: 403,
      code: 'forbidden',
    });
  });

  test.each(paths)('%s is refused to a test key of an operator', async (path) => {
    const tester = await pipeline.keyOf(admin.accountId, 'test', ['admin']);
    await expectProblem(await pipeline.call(tester, path), { status: 403, code: 'forbidden' });
  });

  test('is shown to an admin key, as a bearer and as a password', async () => {
    expect((await pipeline.call(admin, '/admin/health')).status).toBe(200);
    expect((await pipeline.call(null, '/admin/health', basic(admin.key))).status).toBe(200);
    await expectProblem(await pipeline.call(admin, '/admin/elsewhere'), {
      status: 404,
      code: 'not_found',
    });
  });

  test('ends with the key', async () => {
    const { accountId } = await pipeline.account(0);
    const leaked = await pipeline.keyOf(accountId, 'live', ['admin']);
    await pipeline.sql`update api_keys set revoked_at = now() where id = ${leaked.keyId}`;
    const response = await pipeline.call(leaked, '/admin/health');
    await expectProblem(response, { status: 403, code: 'key_revoked' });
  });

  test('stands in no public document, but for imports and splits', () => {
    const { paths } = renderOpenApi(documentedRoutes) as { paths: Record<string, object> };
    const ofOperators = Object.keys(paths).filter((path) => path.startsWith('/admin'));
    expect(
      ofOperators.filter((path) => !/^\/admin\/import(s|-runs)(\/|$)|splits?(\/|$)/.test(path)),
    ).toEqual([]);
  });
});

describe('the sources of a record', () => {
  const read = async (path: string) => (await pipeline.call(admin, path)).json();

  test('are told with their days and imports, and no value of a person', async () => {
    const text =
      'Record ID,First Name,Last Name,Email,Job Title,Associated Company IDs\n1,Zoe,Quill,zoe@quill.example,CEO,7\n';
    const { import_id } = await importText(pipeline.sql, {
      source: 'hubspot',
      name: 'contacts.csv',
      text,
      asOf: '2026-10-01',
    });
    const [row] = await pipeline.sql<{ id: number }[]>`
      select id from persons where surname = 'Quill'`;
    const origin = { source: 'hubspot', as_of: '2026-10-01', import_id };
    const told = await read(`/admin/people/${row?.id}/sources`);
    expect(told).toEqual({
      id: row?.id,
      sources: [{ record: expect.any(Number), ...origin }],
      values: {
        name: [origin],
        surname: [origin],
        workEmail: [origin],
        position: [origin],
        positionId: [origin],
        positions: [origin],
      },
    });
    expect(JSON.stringify(told)).not.toMatch(/quill/i);
    const companies = 'Record ID,Company name,Company Domain Name\n7,Quill Ltd,quill.example\n';
    await importText(pipeline.sql, { source: 'hubspot', name: 'companies.csv', text: companies });
    const [company] = await pipeline.sql<{ id: number }[]>`
      select id from companies where name = 'Quill Ltd'`;
    expect(await read(`/admin/companies/${company?.id}/sources`)).toMatchObject({
      sources: [{ source: 'hubspot', key: 'company:7' }],
      values: { domain: [{ source: 'hubspot', key: 'company:7' }] },
    });
  });

  test('of a record with an id of one’s own are the file, until the person opts out', async () => {
    const [row] = await pipeline.sql<{ id: number }[]>`select min(id) as id from persons`;
    const id = row?.id ?? 0;
    expect(await read(`/admin/people/${id}/sources`)).toMatchObject({
      id,
      sources: [{ source: 'own', import_id: null }],
    });
    await pipeline.sql`select suppress_people(array[${id}]::bigint[])`;
    const response = await pipeline.call(admin, `/admin/people/${id}/sources`);
    await expectProblem(response, { status: 404, code: 'not_found' });
  });

  test.each([
    ['/admin/people/99/sources', { status: 404, code: 'not_found' }],
    ['/admin/people/0/sources', { status: 400, code: 'invalid_parameter' }],
    ['/admin/people/1e3/sources', { status: 400, code: 'invalid_parameter' }],
    ['/admin/companies/99999999999999999999/sources', { status: 400, code: 'invalid_parameter' }],
    ['/admin/companies/1/source', { status: 404, code: 'not_found' }],
  ])('%s is refused', async (path, problem) => {
    await expectProblem(await pipeline.call(admin, path), problem);
  });
});

describe('the scope `admin`', () => {
  test('is given by no call of the API', async () => {
    const body = { mode: 'live', scopes: ['enrich', 'admin'] };
    for (const caller of [
      holder,
      await pipeline.keyOf(holder.accountId, 'live', ['account', 'admin']),
    ]) {
      const made = await send(caller, 'POST', '/v1/keys', body);
      await expectProblem(made, { status: 400, code: 'invalid_parameter' });
    }
  });

  test('is not passed on by replacing a key that has it', async () => {
    const keys = async () => pipeline.sql`select id from api_keys where expires_at is null`;
    const before = await keys();
    const rolled = await send(holder, 'POST', `/v1/keys/${admin.keyId}/roll`, {});
    await expectProblem(rolled, { status: 403, code: 'forbidden' });
    expect(await keys()).toHaveLength(before.length);
  });
});

describe('the health of the service', () => {
  interface Health {
    ok: boolean;
    problems: string[];
    processes: { kind: string; seen: boolean }[];
    [part: string]: unknown;
  }
  const read = async () => (await (await pipeline.call(admin, '/admin/health')).json()) as Health;

  test('reports missing workers, then no problems', async () => {
    const alone = await read();
    expect(alone.ok).toBe(false);
    expect(alone.problems).toEqual(['No worker is running: lists and schedules wait.']);
    const worker = startHeartbeat(pipeline.context, 'worker');
    await vi.waitUntil(async () => (await read()).processes.length === 1);
    expect(await read()).toMatchObject({
      ok: true,
      problems: [],
      processes: [{ kind: 'worker', seen: true, local_copy: { copy: null, building: false } }],
      queue: { kept_in: 'postgres', answers: true, chunks: [], oldest_chunk_seconds: 0 },
      batches: { open: [], oldest_progress_seconds: 0 },
      schedules: { due: 0, oldest_due_seconds: 0 },
      database: { connections_max: expect.any(Number), bytes: expect.any(Number), replicas: [] },
      limits: { kept_in: 'postgres', degraded: null },
      storage: { kept_in: 'files', answers: true, bytes_free: expect.any(Number) },
    });
    await worker.stop();
  });

  test('names what is wrong', async () => {
    const { sql } = pipeline;
    await insertAudit(sql, { deep: true, violations: 2, failed: ['every batch adds up'] });
    const id = await pipeline.upload(holder, 'email\np1@list.example\n', {
      operation: 'people.enrich',
      hold: 'true',
    });
    await vi.waitUntil(async () => (await pipeline.batch(holder, id)).state === 'ready');
    await sql`update batches set state = 'validating', state_since = now() - interval '1 day'
      where id = ${id}`;
    await sql`update batches set state_since = now() - interval '1 day' where id = ${id}`;
    const { problems } = await read();
    expect(problems).toContain('The last audit failed: every batch adds up.');
    expect(
      problems.some((text) => /^A batch has made no progress for 86\d{3} s\.$/.test(text)),
    ).toBe(true);
    await sql`delete from audits`;
    await sql`update batches set state = 'failed', error = '{}' where id = ${id}`;
  });
});

/** Holds for both stores of the queue. */
function testBoard(open: () => WorkingPipeline, key: () => Caller): void {
  const board = (path: string, init = {}) => open().call(key(), `/admin/queues${path}`, init);

  test.each([
    '/api/queues?activeQueue=passes&status=completed&page=999999999',
    '/api/queues/passes/%00',
    '/%E0%A4%A',
  ])('says nothing of its insides when it fails: %s', async (path) => {
    const response = await board(path);
    const text = await response.text();
    const type = response.headers.get('content-type');
    if (response.status >= 500) expect(type, text).toContain('application/problem+json');
    expect(text).not.toMatch(/bigint|SELECT|syntax|node_modules|invalid byte/i);
  });

  test('shows the queues and their jobs, with nothing but ids in them', async () => {
    // Nothing is kept of jobs that ended: this one waits.
    const queue = open().backend.openQueue('passes');
    const payload = { batchId: '0192f0f0-0000-7000-8000-000000000000' };
    await queue.add('quote-batch', payload, { jobId: 'quote-batch-seen', delay: 3_600_000 });
    await queue.close();
    const response = await board('/api/queues?activeQueue=passes&status=latest');
    const text = await response.text();
    expect(response.status, text).toBe(200);
    const { queues } = JSON.parse(text) as {
      queues: { name: string; counts: { delayed: number } }[];
    };
    expect(queues.map(({ name }) => name).sort()).toEqual([...queueNames].sort());
    expect(queues.find(({ name }) => name === 'passes')?.counts.delayed).toBe(1);
    expect(text).toContain('quote-batch-seen');
  });

  test('changes nothing', async () => {
    const counted = await open().context.queues.countJobs();
    for (const [method, path] of [
      ['PUT', '/api/queues/batches/pause'],
      ['PUT', '/api/queues/batches/retry/failed'],
      ['PUT', '/api/queues/batches/clean/failed'],
      ['PUT', '/api/queues/batches/obliterate'],
      ['POST', '/api/queues/batches/add'],
      ['PUT', '/api/queues/batches/quote-batch-seen/clean'],
    ] as const) {
      await expectProblem(await board(path, { method }), {
        status: 405,
        code: 'method_not_allowed',
      });
    }
    expect(await open().context.queues.countJobs()).toEqual(counted);
  });
}

describe('the board of the queue in Postgres', () => {
  testBoard(
    () => pipeline,
    () => admin,
  );

  test('leaves the policies of other pages alone', async () => {
    const policyOf = async (caller: Caller | null, path: string) =>
      (await pipeline.call(caller, path)).headers.get('content-security-policy') ?? '';
    expect(await policyOf(admin, '/admin/queues')).toContain("'unsafe-inline'");
    for (const path of ['/docs', '/docs/script.js']) {
      expect(await policyOf(null, path)).not.toMatch(/unsafe/);
    }
    expect(await policyOf(admin, '/admin/health')).not.toContain("script-src 'self' 'unsafe");
  });

  describeWithBrowser('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await startChromium();
    });
    afterAll(() => browser?.close());

    test('shows the waiting job under its own policy, and asks no other host', async () => {
      const context = await browser.newContext({
        httpCredentials: { username: 'admin', password: admin.key },
      });
      const page = await context.newPage();
      const asked: string[] = [];
      const originOf = (request: { url(): string }) => new URL(request.url()).origin;
      page.on('requestfinished', (request) => asked.push(originOf(request)));
      page.on('requestfailed', (request) => {
        // The page names a font elsewhere; the policy keeps the browser from asking for it.
        if (request.failure()?.errorText !== 'csp') asked.push(originOf(request));
      });
      const broken: string[] = [];
      page.on('pageerror', (error) => broken.push(error.message));
      await page.goto(`${pipeline.url}/admin/queues/queue/passes?status=delayed`);
      await page.getByText('quote-batch').first().waitFor();
      expect(broken).toEqual([]);
      expect([...new Set(asked)]).toEqual([pipeline.url]);
      await context.close();
    });
  });
});

describeWithRedis('the board of the queue in Redis', () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let onRedis: WorkingPipeline;
  let key: Caller;
  beforeAll(async () => {
    server = await startRedis();
    onRedis = await openWorkingPipeline({ REDIS_URL: server.url });
    const { accountId } = await onRedis.account(0);
    key = await onRedis.keyOf(accountId, 'live', ['admin']);
  });
  afterAll(async () => {
    await onRedis?.close();
    await server?.[Symbol.asyncDispose]();
  });

  testBoard(
    () => onRedis,
    () => key,
  );

  test('health tells where the queue and the limits are kept', async () => {
    const expected = {
      queue: { kept_in: 'redis', answers: true },
      limits: { kept_in: 'redis', degraded: false },
    };
    // On a busy machine Redis may have responded late just before, and counts as away for half a second.
    await vi.waitFor(
      async () => {
        const health = await (await onRedis.call(key, '/admin/health')).json();
        expect(health).toMatchObject(expected);
      },
      { timeout: 10_000, interval: 100 },
    );
  });
});
