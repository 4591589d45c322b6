import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { generateKey } from '../../core/keys/key-format.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(42);
});
afterAll(() => pipeline.close());

describe('a request is refused with 401', () => {
  const unknown = generateKey('live');
  const last = unknown.endsWith('a') ? 'b' : 'a';
  test.each([
    ['without a key', undefined],
    ['with an empty header', ''],
    ['with another scheme', `Basic ${unknown}`],
    ['with a key that was never made', `Bearer ${unknown}`],
    ['with a key whose checksum is wrong', `Bearer ${unknown.slice(0, -1)}${last}`],
    ['with a key cut short', `Bearer ${unknown.slice(0, -3)}`],
    ['with two keys', `Bearer ${unknown} ${unknown}`],
    ['with a key of a megabyte less than a header may hold', `Bearer ${'a'.repeat(8000)}`],
  ])('%s', async (_case, authorization) => {
    const headers = authorization === undefined ? {} : { Authorization: authorization };
    const response = await pipeline.call(null, '/v1/me', { headers });
    await expectProblem(response, { status: 401, code: 'invalid_key' });
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect(response.headers.get('x-credits-remaining')).toBeNull();
  });
});

test('the case of the scheme does not count', async () => {
  const headers = { Authorization: `bearer ${caller.key}` };
  expect((await pipeline.call(null, '/v1/me', { headers })).status).toBe(200);
});

test('a revoked key is refused with 403 and told so', async () => {
  const doomed = await pipeline.keyOf(caller.accountId, 'live');
  expect((await pipeline.call(doomed, '/v1/me')).status).toBe(200);
  await revokeKey(pipeline.sql, doomed.key.slice(0, 'svc_live_0000'.length));
  const response = await pipeline.call(doomed, '/v1/me');
  await expectProblem(response, { status: 403, code: 'key_revoked' });
});

describe('a key without the scope', () => {
  test('is refused with 403 on what the scope covers, and nowhere else', async () => {
    const narrow = await pipeline.keyOf(caller.accountId, 'live', ['enrich']);
    const list = await pipeline.call(narrow, '/v1/batches');
    const problem = await expectProblem(list, { status: 403, code: 'forbidden' });
    expect(problem.detail).toBe(
      `This key lacks the scope \`batches\`. Use a key that has it; on the server, \`enrich key create --account ${caller.accountId} --mode live --scopes batches\` creates one.`,
    );
    const upload = await pipeline.call(narrow, '/v1/batches?operation=people.enrich', {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv' },
      body: 'email\na@b.example\n',
    });
    await expectProblem(upload, { status: 403, code: 'forbidden' });
    expect(await pipeline.objects()).toEqual([]);
    expect((await pipeline.call(narrow, '/v1/me')).status).toBe(200);
  });
});

describe('every answer to a key', () => {
  test('says its request, what it cost and what is left', async () => {
    const response = await pipeline.call(caller, '/v1/me');
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-credits-charged')).toBe('0');
    expect(response.headers.get('x-credits-remaining')).toBe('42');
    const other = await pipeline.call(caller, '/v1/me');
    expect(other.headers.get('x-request-id')).not.toBe(response.headers.get('x-request-id'));
  });

  test('says so on errors too', async () => {
    const response = await pipeline.call(caller, '/v1/batches?limit=none');
    await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(response.headers.get('x-credits-charged')).toBe('0');
    expect(response.headers.get('x-credits-remaining')).toBe('42');
  });
});

test('GET /v1/me tells the key, the credits and the limits, and never the key itself', async () => {
  const response = await pipeline.call(caller, '/v1/me');
  const body = await response.text();
  expect(body).not.toContain(caller.key);
  expect(JSON.parse(body)).toMatchObject({
    key: { prefix: caller.key.slice(0, 13), mode: 'live', created_at: expect.any(String) },
    credits: { remaining: 42, reserved: 0 },
    rate_limits: { minute: { limit: 60 }, day: { limit: 10_000 } },
  });
});

describe('a path without a route', () => {
  test('is a problem document too', async () => {
    await expectProblem(await pipeline.call(caller, '/v1/nothing'), {
      status: 404,
      code: 'not_found',
    });
    await expectProblem(await pipeline.call(null, '/nothing'), { status: 404, code: 'not_found' });
  });

  test('and a path that is no text neither', async () => {
    const response = await pipeline.call(caller, '/v1/batches/%E0%A4%A');
    expect(response.status).toBe(400);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });
});

test('health and readiness need no key', async () => {
  expect((await pipeline.call(null, '/healthz')).status).toBe(200);
  expect((await pipeline.call(null, '/readyz')).status).toBe(200);
});

test('an API is ready on a schema that has more than it needs, not on one that has less', async () => {
  const { sql } = pipeline;
  await sql`insert into public.migrations (name, sha256) values ('public/9999-of-the-future.sql', '')`;
  expect((await pipeline.call(null, '/readyz')).status).toBe(200);
  const readsMigrations = async () => {
    const [{ scans }] = (await sql`
      select pg_stat_force_next_flush(), seq_scan + idx_scan as scans from pg_stat_user_tables
      where relname = 'migrations'`) as unknown as [{ scans: number }];
    return scans;
  };
  const before = await readsMigrations();
  await Promise.all(Array.from({ length: 200 }, () => pipeline.call(null, '/readyz')));
  expect((await readsMigrations()) - before).toBeLessThan(20);
  const [gone] = await sql`
    delete from public.migrations where name = 'public/0001-baseline.sql' returning *`;
  const older = await vi.waitUntil(
    async () => {
      const response = await pipeline.call(null, '/readyz');
      return response.status === 200 ? null : response;
    },
    { timeout: 10_000 },
  );
  await sql`insert into public.migrations ${sql(gone ?? {})}`;
  await sql`delete from public.migrations where name = 'public/9999-of-the-future.sql'`;
  await expectProblem(older, { status: 503, code: 'schema_older' });
});
