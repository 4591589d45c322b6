import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.account(10);
});
afterAll(() => pipeline.close());

test('what programs ask is answered under a policy that lets nothing in, refusals too', async () => {
  const answers = await Promise.all([
    pipeline.call(caller, '/v1/me'),
    pipeline.call(null, '/v1/me'),
    pipeline.call(caller, '/v1/people/enrich?email=nobody@list.example'),
    pipeline.call(caller, '/v1/nothing'),
    pipeline.call(caller, '/personsearch/?skip=x'),
    pipeline.call(caller, '/personsearch?skip=x'),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 404, 400, 400]);
  for (const { headers } of answers) {
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none';frame-ancestors 'none'",
    );
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/);
    expect(headers.has('x-frame-options')).toBe(false);
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test('everything else is taken for a page', async () => {
  for (const path of ['/docs', '/console', '/admin/health', '/nothing', '/v1s', '/']) {
    const { headers } = await pipeline.call(null, path);
    expect(headers.get('x-frame-options'), path).toBe('SAMEORIGIN');
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    expect(headers.get('referrer-policy'), path).not.toBeNull();
    expect(headers.get('cross-origin-opener-policy'), path).toBe('same-origin');
    expect(headers.get('content-security-policy'), path).toContain('frame-ancestors');
  }
});

test('what operators read is stored by no cache', async () => {
  const { accountId } = await pipeline.account(0);
  const operator = await pipeline.keyOf(accountId, 'live', ['admin']);
  for (const path of ['/admin/health', '/admin/import-runs', '/admin/imports', '/admin/queues']) {
    const { status, headers } = await pipeline.call(operator, path);
    expect(status, path).toBe(200);
    expect(headers.get('cache-control'), path).toBe('no-store');
  }
});

test('what is asked by a whole address, as of a proxy, is stored by no cache', async () => {
  const headers = { Authorization: `Bearer ${caller.key}` };
  for (const path of ['/v1/me', '/personsearch/?skip=x', '/admin/health']) {
    const whole = request(pipeline.url, { path: `${pipeline.url}${path}`, headers }).end();
    const [response] = await once(whole, 'response');
    response.resume();
    expect(response.headers['cache-control'], path).toBe('no-store');
  }
});
