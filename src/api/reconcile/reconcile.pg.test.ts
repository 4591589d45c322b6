/** The reconciliation service as its clients use it: a key in the address, forms, queries and extensions. */
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { openSocket } from '../../../tests/support/raw-http.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { displayPrefix } from '../../core/keys/key-format.ts';
import { createKey } from '../../core/keys/keys.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../../jobs/audit/audit.ts';

let pipeline: Pipeline;
let caller: Caller;

const companies = [
  { id: 10, name: 'Nordlicht Optik GmbH', domain: 'nordlicht.example', countryId: 1 },
  { id: 12, name: 'Bergkristall AG', countryId: 1, registryNumber: 'DE-HRB1234' },
  { id: 13, name: 'Bergkristall Ltd', countryId: 2 },
  { id: 14, name: 'Opitz and Sons', aliases: ['Silberfaden'], countryId: 2 },
];
const persons = [
  { id: 1, name: 'Robert', surname: 'Zwirner', companyId: 10, position: 'Buyer', countryId: 1 },
  { id: 2, name: 'Ilka', surname: 'Quast', companyId: 10, countryId: 1 },
  { id: 3, name: 'Ilka', surname: 'Quast', companyId: 10, countryId: 1 },
  { id: 4, name: 'Olga', surname: 'Opitz', companyId: 10, countryId: 1, email: 'o@out.example' },
  ...Array.from({ length: 60 }, (_, n) => {
    return { id: 1000 + n, name: `Given${n}`, surname: `Family${n}`, companyId: 12, countryId: 1 };
  }),
];

beforeAll(async () => {
  pipeline = await openPipeline();
  const countries = [
    { id: 1, name: 'Germany', iso2: 'DE' },
    { id: 2, name: 'United Kingdom', iso2: 'GB' },
  ];
  await importGraph(pipeline.sql, { countries, companies, persons });
  expect(await suppress(pipeline.sql, 'o@out.example')).toEqual({ persons: 1 });
});
beforeEach(async () => {
  caller = await reconciler(100);
});
afterAll(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  await pipeline.close();
});

/** An account with credits whose key may only reconcile; people are paid once in 30 days. */
async function reconciler(credits: number, ownedDays = 30): Promise<Caller> {
  const { accountId } = await pipeline.account(credits);
  await changeOwnedDays(pipeline.sql, accountId, ownedDays);
  const limits = { requestsPerMinute: 100_000, requestsPerDay: 100_000 };
  const key = { accountId, mode: 'live', scopes: ['reconcile'], ...limits } as const;
  const made = await createKey(pipeline.sql, { ...key, scopes: ['reconcile'] });
  return { accountId, keyId: made.id, key: made.key };
}

const get = (path = '', { key } = caller) => pipeline.call(null, `/v1/reconcile/${key}${path}`);

const post = (name: 'queries' | 'extend', value: object, { key } = caller) =>
  pipeline.call(null, `/v1/reconcile/${key}`, {
    method: 'POST',
    body: new URLSearchParams({ [name]: JSON.stringify(value) }),
  });

interface Results {
  [name: string]: { result: { id: string; name: string; score: number; match: boolean }[] };
}

async function ask(queries: Record<string, object>): Promise<Results> {
  const response = await post('queries', queries);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as Results;
}

const spent = async ({ accountId } = caller) => {
  const wallet = await pipeline.wallet({ ...caller, accountId });
  return 100 - (wallet?.balance ?? 0);
};

const nordlicht = { query: 'Nordlicht Optik', type: 'company' };
const zwirner = {
  query: 'Robert Zwirner',
  type: 'person',
  properties: [{ pid: 'company_name', v: 'Nordlicht Optik' }],
};

describe('the address', () => {
  test('without parameters is the manifest, for any page', async () => {
    const response = await get();
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    const address = `${pipeline.url}/v1/reconcile/${caller.key}`;
    expect(await response.json()).toMatchObject({
      versions: ['0.2'],
      name: expect.any(String),
      identifierSpace: expect.any(String),
      schemaSpace: expect.any(String),
      defaultTypes: [
        { id: 'company', name: 'Company' },
        { id: 'person', name: 'Person' },
      ],
      view: { url: `${address}/preview?id={{id}}` },
      preview: { url: `${address}/preview?id={{id}}`, width: 320, height: 120 },
      suggest: {
        entity: {
          service_url: address,
          service_path: '/suggest/entity',
          flyout_service_url: address,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the client fills it in
          flyout_service_path: '/flyout?id=${id}',
        },
      },
      extend: { propose_properties: { service_url: address, service_path: '/properties' } },
    });
    const headers = { 'X-Forwarded-Proto': 'https' };
    const overTls = await pipeline.call(null, `/v1/reconcile/${caller.key}`, { headers });
    expect(await overTls.text()).toContain('"url":"https://');
  });

  test('a problem document, which is passed on, does not repeat the key of an unknown address', async () => {
    const response = await get('/nothing');
    const { detail } = (await response.json()) as { detail: string };
    expect(detail).toBe('GET /v1/reconcile/svc_live_.../nothing not found.');
  });

  test('takes only a key that may do nothing else, and such a key is no header', async () => {
    const { accountId } = caller;
    const wide = await pipeline.keyOf(accountId, 'live', ['reconcile', 'enrich']);
    await expectProblem(await get('', wide), { status: 403, code: 'forbidden' });
    const other = await pipeline.keyOf(accountId, 'live', ['enrich']);
    await expectProblem(await get('', other), { status: 403, code: 'forbidden' });
    for (const path of [
      '/v1/me',
      '/v1/lookups/companies?q=nord',
      '/v1/people/enrich?email=a@b.cd',
    ]) {
      const response = await pipeline.call(caller, path);
      await expectProblem(response, { status: 403, code: 'forbidden' });
    }
    const unknown = { ...caller, key: `svc_live_${'a'.repeat(36)}` };
    await expectProblem(await get('', unknown), { status: 401, code: 'invalid_key' });
    await pipeline.sql`update api_keys set revoked_at = now() where id = ${caller.keyId}`;
    await expectProblem(await get(), { status: 403, code: 'key_revoked' });
  });

  test('is refused when its key ends before the body has come', async () => {
    const socket = await openSocket(Number(new URL(pipeline.url).port));
    let text = '';
    socket.on('data', (bytes) => {
      text += String(bytes);
    });
    const body = new URLSearchParams({ queries: JSON.stringify({ q0: nordlicht }) }).toString();
    socket.write(
      `POST /v1/reconcile/${caller.key} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n` +
        `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const { keyId, key } = caller;
    await vi.waitUntil(
      async () => (await pipeline.sql`select from rate_buckets where owner = ${keyId}`).length > 0,
      { timeout: 20_000 },
    );
    await revokeKey(pipeline.sql, displayPrefix(key));
    const ended = once(socket, 'close');
    socket.write(body);
    await ended;
    expect(text).toMatch(/^HTTP\/1\.1 403 /);
    expect(text).toContain('key_revoked');
  });

  test('counts each query as a request of its key', async () => {
    const { accountId } = caller;
    const made = await createKey(pipeline.sql, {
      ...{ accountId, mode: 'live', scopes: ['reconcile'], requestsPerMinute: 10 },
    });
    const narrow = { accountId, keyId: made.id, key: made.key };
    const queries = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`q${n}`, nordlicht]));
    expect((await post('queries', queries, narrow)).status).toBe(200);
    const refused = await post('queries', { q0: nordlicht }, narrow);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    await expectProblem(refused, { status: 429, code: 'rate_limited' });
  });

  test('counts each query in the day of its key, and a refused one as a single request', async () => {
    const { accountId } = caller;
    const limits = { requestsPerMinute: 1000, requestsPerDay: 15 };
    const made = await createKey(pipeline.sql, {
      ...{ accountId, mode: 'live', scopes: ['reconcile'], ...limits },
    });
    const narrow = { accountId, keyId: made.id, key: made.key };
    const queries = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`q${n}`, nordlicht]));
    expect((await post('queries', queries, narrow)).status).toBe(200);
    const refused = await post('queries', queries, narrow);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
    expect(problem.detail).toContain('15 for requests a day');
    const { q0, q1, q2, q3 } = queries;
    expect((await post('queries', { q0, q1, q2, q3 }, narrow)).status).toBe(200);
    expect((await post('queries', { q0 }, narrow)).status).toBe(429);
  });
});

describe('queries', () => {
  test('find companies by name, country and domain, for free, under their names', async () => {
    const number = { pid: 'registry_number', v: 'DE-HRB1234' };
    const results = await ask({
      q0: nordlicht,
      q1: { query: 'Bergkristall', type: ['company'], properties: [{ pid: 'country', v: 'UK' }] },
      q2: { query: 'Bergkristall' },
      q3: { query: 'Nobody', properties: [{ pid: 'domain', v: { id: 'nordlicht.example' } }] },
      q4: { query: 'Unknown Company of Nowhere', limit: 1, properties: [number] },
      q5: { query: 'Bergkristall', limit: 1 },
      q6: { query: 'Silberfaden' },
    });
    expect(results.q0?.result).toEqual([
      {
        id: 'company-10',
        name: 'Nordlicht Optik GmbH',
        type: [{ id: 'company', name: 'Company' }],
        score: expect.any(Number),
        match: true,
        description: expect.stringContaining('equal but for its legal form'),
        features: [{ id: 'probability', value: expect.any(Number) }],
      },
    ]);
    expect(results.q0?.result[0]?.score).toBeGreaterThan(95);
    expect(results.q1?.result).toMatchObject([{ id: 'company-13', match: true }]);
    expect(results.q2?.result).toMatchObject([
      { id: 'company-12', name: 'Bergkristall AG', match: false },
      { id: 'company-13', name: 'Bergkristall Ltd', match: false },
    ]);
    // A company of fewer than ten people may be named for its owner: it is called as the query is, unless that is its name.
    expect(results.q6?.result).toMatchObject([{ id: 'company-14', name: 'Silberfaden' }]);
    expect(results.q3?.result).toMatchObject([{ id: 'company-10', score: 100, match: true }]);
    expect(results.q4).toEqual({ result: [] });
    expect(results.q5?.result).toHaveLength(1);
    expect(await spent()).toBe(0);
  });

  test('charge for a person who matches, once, and tell no name of those who only may', async () => {
    const quast = { ...zwirner, query: 'Quast, Ilka' };
    const results = await ask({ q0: zwirner, q1: quast, q2: { ...zwirner, query: 'Olga Opitz' } });
    expect(results.q0?.result).toMatchObject([
      { id: 'person-1', name: 'Robert Zwirner', match: true },
    ]);
    expect(results.q1?.result).toMatchObject([
      { id: 'person-2', name: 'Quast, Ilka', match: false },
      { id: 'person-3', name: 'Quast, Ilka', match: false },
    ]);
    expect(results.q2).toEqual({ result: [] });
    expect(await spent()).toBe(1);
    await ask({ again: zwirner });
    expect(await spent()).toBe(1);
    // Guesses beyond the third are told as those of unknown people.
    const asked = await ask({ q0: quast, q1: quast, q2: quast, q3: quast });
    const told = Object.values(asked).map(({ result }) => result.length);
    expect(told).toEqual([2, 2, 2, 0]);
  });

  test('take the job title under the id of its field, and as it was called before', async () => {
    const by = (pid: string) => ({ ...zwirner, properties: [{ pid, v: 'Buyer' }] });
    const results = await ask({ position: by('position'), title: by('title'), other: by('job') });
    const found = Object.values(results).map(({ result }) => result.map(({ id }) => id));
    expect(found).toEqual([['person-1'], ['person-1'], []]);
  });

  test('are answered under any name', async () => {
    const body = '{"queries":{"toString":{"query":"x","type":"unknown"},"q":{"query":"x"}}}';
    const { queries } = JSON.parse(body) as { queries: Record<string, object> };
    expect(JSON.stringify(await ask(queries))).toBe('{"toString":{"result":[]},"q":{"result":[]}}');
  });

  test('may be sent in the address too', async () => {
    const queries = new URLSearchParams({ queries: JSON.stringify({ q0: nordlicht }) });
    const response = await get(`?${queries}`);
    expect(await response.json()).toMatchObject({ q0: { result: [{ id: 'company-10' }] } });
  });

  test('about people are not taken where each delivery is charged: match and fields would be two', async () => {
    caller = await reconciler(100, 0);
    const manifest = (await (await get()).json()) as { defaultTypes: object[] };
    expect(manifest.defaultTypes).toEqual([{ id: 'company', name: 'Company' }]);
    expect(await ask({ q0: zwirner })).toEqual({ q0: { result: [] } });
    expect(await spent()).toBe(0);
  });

  test('about people need credits for a match, as calls do', async () => {
    caller = await reconciler(0);
    const response = await post('queries', { q0: { ...zwirner, query: 'Nobody Atall' } });
    await expectProblem(response, { status: 402, code: 'insufficient_credits' });
  });

  test.each([
    ['queries=', /not valid JSON/],
    ['queries=[]', /queries|body/],
    ['queries={"q0":{"limit":0}}', /q0\.limit/],
    ['queries={"q0":{},"__proto__":{"query":"x"}}', /queries\.__proto__: cannot be the name/],
    ['nonsense=1', /nonsense/],
    ['', /queries: is missing/],
  ])('with the form %j are refused by name', async (form, message) => {
    const response = await pipeline.call(null, `/v1/reconcile/${caller.key}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: form,
    });
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toMatch(message);
  });

  test('are at most fifty in a call', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`q${n}`, nordlicht]));
    await expectProblem(await post('queries', many), { status: 400, code: 'invalid_parameter' });
  });
});

describe('an extension', () => {
  const extend = (ids: string[], ...properties: string[]) =>
    post('extend', { ids, properties: properties.map((id) => ({ id })) });

  test('has the fields of each record once, and charges for it', async () => {
    const response = await extend(['company-10', 'company-12', 'company-10'], 'name', 'domain');
    expect(response.headers.get('x-credits-charged')).toBe('2');
    expect(await response.json()).toEqual({
      meta: [
        { id: 'name', name: 'name' },
        { id: 'domain', name: 'domain' },
      ],
      rows: {
        'company-10': {
          name: [{ str: 'Nordlicht Optik GmbH' }],
          domain: [{ str: 'nordlicht.example' }],
        },
        'company-12': { name: [{ str: 'Bergkristall AG' }], domain: [] },
      },
    });
    expect(await spent()).toBe(2);
  });

  test('is free for a person whose match was paid; no one who opted out has fields', async () => {
    await ask({ q0: zwirner });
    const response = await extend(['person-1', 'person-4', 'person-999'], 'position');
    expect(response.headers.get('x-credits-charged')).toBe('0');
    expect(await response.json()).toMatchObject({
      rows: {
        'person-1': { position: [{ str: 'Buyer' }] },
        'person-4': { position: [] },
        'person-999': { position: [] },
      },
    });
    expect(await spent()).toBe(1);
  });

  test('delivers what was paid when the credits end on the way', async () => {
    caller = await reconciler(1);
    const response = await extend(['company-10', 'company-12'], 'name');
    expect(response.headers.get('x-credits-charged')).toBe('1');
    const { rows } = (await response.json()) as { rows: Record<string, { name: object[] }> };
    expect(Object.values(rows).filter(({ name }) => name.length > 0)).toHaveLength(1);
    await expectProblem(await extend(['company-10'], 'name'), {
      status: 402,
      code: 'insufficient_credits',
    });
  });

  test.each([
    [['company-10'], 'shoe_size', /shoe_size/],
    // Another spelling of an id would be charged as another record.
    [['company-10', 'company-010'], 'name', /ids: must be an id of this service/],
    [['4711'], 'name', /ids: must be an id of this service/],
  ])('of %j by %s is refused', async (ids, property, message) => {
    const response = await extend(ids, property);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.detail).toMatch(message);
    expect(await spent()).toBe(0);
  });

  test('without properties is refused, and charges nothing', async () => {
    await expectProblem(await extend(['company-10']), { status: 400, code: 'invalid_parameter' });
    expect(await spent()).toBe(0);
  });

  test('may have any field of its type', async () => {
    for (const [type, field] of [
      ['company', 'registryNumber'],
      ['person', 'workEmail'],
    ]) {
      const response = await get(`/properties?type=${type}`);
      const { properties } = (await response.json()) as { properties: { id: string }[] };
      expect(properties.map(({ id }) => id)).toContain(field);
    }
    const ofNone = await get('/properties?type=constructor');
    expect(await ofNone.json()).toMatchObject({ properties: [] });
    const few = await get('/properties?type=company&limit=2');
    expect(await few.json()).toMatchObject({ type: 'company', limit: 2, properties: [{}, {}] });
  });
});
