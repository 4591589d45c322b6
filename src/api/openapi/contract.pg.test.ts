import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { companyFields, personFields } from '../../core/graph/fields.ts';
import { scopes } from '../../core/keys/keys.ts';
import { problemSchema } from '../http/problem.ts';
import { documentedRoutes } from '../routes.ts';
import { renderOpenApi } from './openapi.ts';
import { CANARY, openStocked, operations, type Stocked } from './operations.test-suite.ts';

let stocked: Stocked;
let stranger: Caller;
let revoked: Caller;
beforeAll(async () => {
  stocked = await openStocked();
  const { accountId } = await stocked.account(1000);
  stranger = await stocked.keyOf(accountId, 'live', [...scopes]);
  await stocked.liftLimits(stranger);
  revoked = await stocked.keyOf(stocked.caller.accountId, 'live');
  await stocked.sql`update api_keys set revoked_at = now() where id = ${revoked.keyId}`;
});
afterAll(() => stocked.close());

const call = (caller: Caller | null, name: string) => {
  const { path, init } = stocked.sampleOf(name);
  return stocked.call(caller, path, init);
};

test('the document has every route and no other', () => {
  const { paths } = renderOpenApi(documentedRoutes) as { paths: Record<string, object> };
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  const declared = documentedRoutes.map(({ method, path }) => `${method} ${path}`);
  expect(documented.sort()).toEqual(declared.sort());
  const ids = JSON.stringify(renderOpenApi(documentedRoutes)).match(/"operationId":"\w+"/g) ?? [];
  expect(new Set(ids).size).toBe(documentedRoutes.length);
});

test('every field of a record is described and required; chosen fields are not required', () => {
  const { components } = renderOpenApi(documentedRoutes) as {
    components: {
      schemas: Record<string, { required?: string[]; properties: Record<string, object> }>;
    };
  };
  const records = { Person: personFields, Company: companyFields };
  for (const [name, fields] of Object.entries(records)) {
    const whole = components.schemas[name];
    const names = fields.map((field) => field.name);
    expect(whole?.required).toEqual(names);
    for (const field of names) {
      expect(whole?.properties[field]).toMatchObject({ description: expect.stringMatching(/\w/) });
    }
    const chosen = components.schemas[`Chosen${name}`];
    expect(chosen?.required ?? []).toEqual([]);
    expect(Object.keys(chosen?.properties ?? {})).toEqual(
      expect.arrayContaining([...names, 'country', 'cities.countries.name']),
    );
  }
});

test('GET /openapi.json needs no key and is the document', async () => {
  const response = await stocked.call(null, '/openapi.json');
  expect(response.headers.get('content-type')).toMatch(/^application\/json/);
  expect(await response.json()).toEqual(
    JSON.parse(JSON.stringify(renderOpenApi(documentedRoutes))),
  );
});

type Scope = (typeof scopes)[number];
const keys = new Map<string, Promise<Caller>>();

/** A key of the stocked account with these scopes: one for all operations, as an account may not have many. */
function keyWith(mode: 'live' | 'test', granted: readonly Scope[]): Promise<Caller> {
  const name = `${mode} ${granted}`;
  const key = keys.get(name) ?? stocked.keyOf(stocked.caller.accountId, mode, [...granted]);
  keys.set(name, key);
  return key;
}

describe.each(operations)('$name', ({ name, route }) => {
  test('refuses no key, a made-up key and a revoked one', async () => {
    await expectProblem(await call(null, name), { status: 401, code: 'invalid_key' });
    const { accountId, keyId } = stocked.caller;
    const madeUp = { accountId, keyId, key: `svc_live_${'a'.repeat(36)}` };
    await expectProblem(await call(madeUp, name), { status: 401, code: 'invalid_key' });
    await expectProblem(await call(revoked, name), { status: 403, code: 'key_revoked' });
  });

  test.runIf(route.scope !== null)('refuses a key without its scope', async () => {
    const narrow = await keyWith(
      'live',
      scopes.filter((scope) => scope !== route.scope),
    );
    await expectProblem(await call(narrow, name), { status: 403, code: 'forbidden' });
  });

  test('shows and does nothing of an account to another, nor to its test keys', async () => {
    const tester = await keyWith('test', scopes);
    for (const other of [stranger, tester]) {
      const response = await call(other, name);
      const text = await response.text();
      expect(response.status).toBeLessThan(500);
      if (route.path.includes(':id')) expect([response.status, text]).toEqual([404, text]);
      // What the caller sends comes back; what the owner sent does not.
      const { init } = stocked.sampleOf(name);
      if (!String(init.body ?? '').includes(CANARY)) expect(text).not.toContain(CANARY);
      expect(text).not.toContain(stocked.caller.accountId);
    }
  });

  test.runIf(name !== 'post /v1/batches')('names an unknown parameter', async () => {
    const { path, init } = stocked.sampleOf(name);
    const unknown = `${path}${path.includes('?') ? '&' : '?'}nonsense=1`;
    const response = await stocked.call(stocked.caller, unknown, init);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toContainEqual(
      expect.objectContaining({ field: 'nonsense', message: 'is not a recognised parameter' }),
    );
  });
});

test.each(operations)('$name answers as it is documented', async ({ name, route }) => {
  const response = await call(stocked.caller, name);
  expect(response.headers.get('cache-control')).toBe('no-store');
  if (name.endsWith('/events')) {
    await response.body?.cancel();
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    return;
  }
  const text = await response.text();
  if (response.status >= 400) {
    // A state that the sample is not in, or storage without addresses: said in the form of all errors.
    expect([...route.errors, 400], text).toContain(response.status);
    expect(response.status, text).toBe(409);
    problemSchema.parse(JSON.parse(text));
    return;
  }
  const documented = route.responses[response.status];
  expect(documented, `${response.status} ${text}`).toBeDefined();
  documented?.schema?.parse(JSON.parse(text));
});

test.each([
  ['post /v1/batches', 'batches'],
  ['post /v1/batches/:id/rerun', 'batches'],
  ['post /v1/exports', 'exports'],
  ['post /v1/schedules', 'schedules'],
  ['post /v1/webhooks', 'webhooks'],
])('a replayed response to %s has its Location again', async (name, kind) => {
  // A rerun of another test may be open, and a list has one at a time.
  await stocked.runUntilIdle();
  const { path, init } = stocked.sampleOf(name);
  const headers = new Headers(init.headers);
  headers.set('Idempotency-Key', `location of ${name}`);
  const send = () => stocked.call(stocked.caller, path, { ...init, headers });
  const first = await send();
  const again = await send();
  const { id } = (await again.json()) as { id: string };
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(first.headers.get('location')).toBe(`/v1/${kind}/${id}`);
  expect(again.headers.get('location')).toBe(`/v1/${kind}/${id}`);
});
