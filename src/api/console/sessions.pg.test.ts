import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { createAccount } from '../../core/accounts/accounts.ts';
import { inTransaction } from '../../core/db/client.ts';
import { must } from '../../core/lib/assert.ts';
import { changePassword } from '../../core/sessions/sessions.ts';
import { runHousekeeping } from '../../jobs/housekeeping/run-housekeeping.ts';

const password = 'correct horse battery';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
});
afterAll(() => pipeline.close());

/** The headers that a browser adds to a call of one of our pages. */
const fromOurPage = { 'Sec-Fetch-Site': 'same-origin' };

function callConsole(method: string, body?: unknown, headers: Record<string, string> = {}) {
  return pipeline.call(null, '/console/session', {
    method,
    headers: { 'Content-Type': 'application/json', ...fromOurPage, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Signs in and returns the cookie as the browser sends it back. */
async function signIn(credentials: unknown): Promise<string> {
  const response = await callConsole('POST', credentials);
  expect(response.status, await response.clone().text()).toBe(201);
  return response.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** A call in the name of a session, from one of our pages unless the headers say otherwise. */
function callAs(cookie: string, path: string, headers: Record<string, string> = fromOurPage) {
  return pipeline.call(null, path, { headers: { Cookie: cookie, ...headers } });
}

async function modeOf(cookie: string): Promise<unknown> {
  const me = (await (await callAs(cookie, '/v1/me')).json()) as { key: { mode: string } };
  return me.key.mode;
}

let made = 0;
/** An account that people sign in to. */
async function accountWithPassword(): Promise<{ accountId: string; email: string }> {
  made += 1;
  const email = `Ada-${made}@Team.example`;
  const accountId = await createAccount(pipeline.sql, {
    name: 'Team',
    email,
    password,
    credits: 100,
  });
  return { accountId, email };
}

test('sign-ins with a key count as calls of its account', async () => {
  const { accountId, key } = await pipeline.account(0);
  const calls = { owner: accountId, name: 'other calls', perMinute: 600 };
  await signIn({ key });
  await pipeline.context.limiter.oweTokens({ ...calls, cost: 1200 });
  const refused = await callConsole('POST', { key });
  const problem = await expectProblem(refused, { status: 429, code: 'rate_limited' });
  expect(problem.detail).toContain('600 for unmetered calls of the account');
  expect(refused.headers.get('retry-after')).not.toBeNull();
});

test('switches of the mode count as calls of the account', async () => {
  const { accountId, email } = await accountWithPassword();
  const cookie = { Cookie: await signIn({ email, password }) };
  expect((await callConsole('PATCH', { mode: 'test' }, cookie)).status).toBe(200);
  const calls = { owner: accountId, name: 'other calls', perMinute: 600 };
  await pipeline.context.limiter.oweTokens({ ...calls, cost: 1200 });
  const refused = await callConsole('PATCH', { mode: 'live' }, cookie);
  await expectProblem(refused, { status: 429, code: 'rate_limited' });
});

test('a key that is in addresses of the reconciliation service opens no session', async () => {
  const { accountId } = await pipeline.account(0);
  const { key } = await pipeline.keyOf(accountId, 'live', ['reconcile']);
  await expectProblem(await callConsole('POST', { key }), { status: 403, code: 'forbidden' });
});

describe('a session of a key', () => {
  let caller: Caller;
  let cookie: string;
  beforeAll(async () => {
    caller = await pipeline.account(5);
    cookie = await signIn({ key: caller.key });
  });

  test('is a cookie that no script reads and no other site sends', async () => {
    const response = await callConsole('POST', { key: caller.key });
    const set = response.headers.get('set-cookie') ?? '';
    expect(set).toMatch(/^enrich_session=[\w-]{43}; Max-Age=43200; Path=\/; Expires=/);
    expect(set).toMatch(/HttpOnly; SameSite=Strict$/);
    const secured = { 'X-Forwarded-Proto': 'https' };
    const bySecure = await callConsole('POST', { key: caller.key }, secured);
    expect(bySecure.headers.get('set-cookie')).toMatch(
      /^__Host-enrich_session=[^;]+;.*; Path=\/;.*; Secure/,
    );
    const stored = await pipeline.sql<{ token: string }[]>`
      select encode(token_sha256, 'hex') as token from sessions`;
    expect(JSON.stringify(stored)).not.toContain(set.slice(15, 58));
  });

  test('over HTTPS is the one that no other host can set, and never one of two', async () => {
    const secured = { 'X-Forwarded-Proto': 'https' };
    const given = await callConsole('POST', { key: caller.key }, secured);
    const secureCookie = given.headers.get('set-cookie')?.split(';')[0] ?? '';
    const over = { ...fromOurPage, ...secured };
    const plainCookie = secureCookie.replace('__Host-', '');
    expect((await callAs(secureCookie, '/v1/me', over)).status).toBe(200);
    await expectProblem(await callAs(plainCookie, '/v1/me', over), {
      status: 401,
      code: 'invalid_key',
    });
    for (const [cookies, headers] of [
      [`${cookie}; enrich_session=attacker`, fromOurPage],
      [`enrich_session=attacker; ${cookie}`, fromOurPage],
      [`${secureCookie}; ${secureCookie}`, over],
    ] as const) {
      await expectProblem(await callAs(cookies, '/v1/me', headers), {
        status: 400,
        code: 'invalid_request',
      });
    }
  });

  test('may do what the key may, and counts as the key', async () => {
    const path = '/v1/people/enrich?email=nobody@nowhere.example';
    const named = { ...fromOurPage, 'Enrich-Account': caller.accountId };
    await expectProblem(await callAs(cookie, path, named), { status: 404, code: 'no_match' });
    const response = await callAs(cookie, '/v1/me');
    const byKey = await pipeline.call(caller, '/v1/me');
    const remaining = (one: Response) =>
      Number(/r=(\d+)/.exec(one.headers.get('RateLimit') ?? '')?.[1]);
    expect(remaining(byKey)).toBe(remaining(response) - 1);
    await expectProblem(await callAs(cookie, '/v1/keys'), { status: 403, code: 'forbidden' });
  });

  test('does not apply to a call that no page of ours made, a charged one included', async () => {
    const host = new URL(pipeline.url).host;
    const others = [
      {},
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
      { 'Sec-Fetch-Site': 'none' },
      { 'Sec-Fetch-Site': 'cross-site', Origin: pipeline.url },
      { Origin: 'http://evil.example' },
      { Origin: 'null' },
      { Referer: `http://evil.example/${host}` },
    ];
    for (const headers of others) {
      for (const path of ['/v1/batches', '/v1/people/enrich?email=a@b.example']) {
        const response = await callAs(cookie, path, headers as Record<string, string>);
        await expectProblem(response, { status: 403, code: 'forbidden' });
      }
    }
    const ours: Record<string, string>[] = [
      { Origin: pipeline.url },
      { Referer: `${pipeline.url}/` },
    ];
    for (const headers of ours) {
      expect((await callAs(cookie, '/v1/batches', headers)).status).toBe(200);
    }
  });

  test('pays for no link, image or form of our own pages: those cannot name the account', async () => {
    for (const path of [
      '/v1/people/enrich?email=a@b.example',
      '/v1/companies/enrich?domain=b.example',
      '/v1/personsearch?gender=1',
      '/personsearch/?gender=1',
    ]) {
      await expectProblem(await callAs(cookie, path), { status: 403, code: 'forbidden' });
      const other = { ...fromOurPage, 'Enrich-Account': '1' };
      await expectProblem(await callAs(cookie, path, other), {
        status: 409,
        code: 'account_changed',
      });
    }
  });

  test('nor can another site sign a user in or out', async () => {
    const crossSite = { 'Sec-Fetch-Site': 'cross-site' };
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const response = await callConsole(
        method,
        { key: caller.key },
        { Cookie: cookie, ...crossSite },
      );
      await expectProblem(response, { status: 403, code: 'forbidden' });
    }
    expect((await callAs(cookie, '/v1/batches')).status).toBe(200);
  });

  test('counts for nothing beside a key in the header', async () => {
    const other = await pipeline.account(77);
    const response = await pipeline.call(other, '/v1/me', { headers: { Cookie: cookie } });
    expect(response.headers.get('X-Credits-Remaining')).toBe('77');
    const bad = { Authorization: 'Bearer svc_live_wrong', Cookie: cookie, ...fromOurPage };
    const refused = await pipeline.call(null, '/v1/me', { headers: bad });
    await expectProblem(refused, { status: 401, code: 'invalid_key' });
  });

  test('does nothing for a page that shows the other mode', async () => {
    const response = await callAs(cookie, '/v1/batches', { ...fromOurPage, 'Enrich-Mode': 'test' });
    await expectProblem(response, { status: 409, code: 'mode_changed' });
    const change = await callConsole('PATCH', { mode: 'test' }, { Cookie: cookie });
    await expectProblem(change, { status: 409, code: 'invalid_state' });
  });

  test('ends when the user signs out, after 12 hours, and with its key', async () => {
    const left = await signIn({ key: caller.key });
    const out = await callConsole('DELETE', undefined, { Cookie: left });
    expect(out.status).toBe(204);
    expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
    const over = { status: 401, code: 'session_expired' };
    await expectProblem(await callAs(left, '/v1/batches'), over);

    const old = await signIn({ key: caller.key });
    await pipeline.sql`update sessions set expires_at = now()`;
    await expectProblem(await callAs(old, '/v1/batches'), over);
    expect((await callConsole('GET', undefined, { Cookie: old })).status).toBe(204);
    await runHousekeeping(pipeline.context);
    expect(await pipeline.sql`select from sessions`).toHaveLength(0);

    const revoked = await signIn({ key: caller.key });
    await pipeline.sql`update api_keys set revoked_at = now() where id = ${caller.keyId}`;
    const gone = { status: 403, code: 'key_revoked' };
    await expectProblem(await callAs(revoked, '/v1/batches'), gone);
    await expectProblem(await callAs(revoked, '/v1/me'), gone);
    expect((await callConsole('GET', undefined, { Cookie: revoked })).status).toBe(204);
    await expectProblem(await callConsole('POST', { key: caller.key }), gone);
  });
});

describe('signing in with email and password', () => {
  test('takes the address in any case, and works in both modes', async () => {
    const { email } = await accountWithPassword();
    const cookie = await signIn({ email: ` ${email.toUpperCase()} `, password });
    expect(await modeOf(cookie)).toBe('live');
    const change = await callConsole('PATCH', { mode: 'test' }, { Cookie: cookie });
    expect(await change.json()).toMatchObject({ key: { mode: 'test' }, modes: ['live', 'test'] });
    expect(await modeOf(cookie)).toBe('test');
    const keys = await callAs(cookie, '/v1/keys');
    expect(keys.status).toBe(200);
  });

  test('makes one hidden key a mode, which no list shows and no call can revoke or roll', async () => {
    const { accountId, email } = await accountWithPassword();
    const cookies = await Promise.all([1, 2, 3].map(() => signIn({ email, password })));
    const keys = await pipeline.sql<{ id: string }[]>`
      select id from api_keys where account_id = ${accountId}`;
    expect(keys).toHaveLength(1);
    const [cookie = ''] = cookies;
    const list = (await (await callAs(cookie, '/v1/keys')).json()) as { data: unknown[] };
    expect(list.data).toEqual([]);
    for (const [method, path] of [
      ['DELETE', `/v1/keys/${keys[0]?.id}`],
      ['POST', `/v1/keys/${keys[0]?.id}/roll`],
    ] as const) {
      const headers = { Cookie: cookie, ...fromOurPage };
      const response = await pipeline.call(null, path, { method, headers });
      await expectProblem(response, { status: 404, code: 'not_found' });
    }
  });

  test('says of a wrong password and of an unknown address the same', async () => {
    const { email } = await accountWithPassword();
    await pipeline.account(1);
    const wrong = { status: 401, code: 'invalid_sign_in' };
    const told = [];
    for (const credentials of [
      { email, password: 'wrong horse battery' },
      { email: 'nobody@team.example', password },
    ]) {
      const response = await callConsole('POST', credentials);
      expect(response.headers.get('set-cookie')).toBeNull();
      const { request_id: _, ...problem } = await expectProblem(response, wrong);
      told.push(problem);
    }
    expect(told[0]).toEqual(told[1]);
  });

  test('is refused after too many tries, for that address alone, the right password too', async () => {
    const { email } = await accountWithPassword();
    const other = await accountWithPassword();
    // All at once: hashing takes its time, in which a slow machine would let the next try in.
    const tries = Array.from({ length: 12 }, () =>
      callConsole('POST', { email: email.toUpperCase(), password: 'wrong horse battery' }),
    );
    const limited = { status: 429, code: 'rate_limited' };
    await Promise.any(
      tries.map(async (tried) => expect((await tried).status).toBe(limited.status)),
    );
    const refused = await callConsole('POST', { email, password });
    await expectProblem(refused, limited);
    expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(0);
    await Promise.all(tries);
    await signIn({ email: other.email, password });
  });

  test('a right sign-in counts against no limit', async () => {
    const { email } = await accountWithPassword();
    for (let times = 0; times < 8; times++) await signIn({ email, password });
  });

  test('ends for all users with a new password', async () => {
    const { accountId, email } = await accountWithPassword();
    const caller = await pipeline.keyOf(accountId, 'live');
    const before = await signIn({ email, password });
    const ofKey = await signIn({ key: caller.key });
    await changePassword(pipeline.sql, { accountId, password: 'another horse battery' });
    const over = { status: 401, code: 'session_expired' };
    await expectProblem(await callAs(before, '/v1/batches'), over);
    expect((await callAs(ofKey, '/v1/batches')).status).toBe(200);
    await expectProblem(await callConsole('POST', { email, password }), {
      status: 401,
      code: 'invalid_sign_in',
    });
    await signIn({ email, password: 'another horse battery' });
  });

  test('opens nothing by a password that is being changed', async () => {
    const { accountId, email } = await accountWithPassword();
    let signingIn: Promise<Response> | undefined;
    await inTransaction(pipeline.sql, async (tx) => {
      await tx`update accounts set password_hash = 'another' where id = ${accountId}`;
      signingIn = callConsole('POST', { email, password });
      await Promise.race([signingIn, pipeline.untilBlocked(1)]);
    });
    const refusal = { status: 401, code: 'invalid_sign_in' };
    await expectProblem(must(await signingIn, 'answer'), refusal);
    const opened = await pipeline.sql`select from sessions where account_id = ${accountId}`;
    expect(opened).toHaveLength(0);
  });

  test('needs an address that no other account signs in with', async () => {
    const { email } = await accountWithPassword();
    const make = (input: { email?: string; password?: string }) =>
      createAccount(pipeline.sql, { name: 'Other', credits: 0, ...input });
    await expect(make({ email: email.toLowerCase(), password })).rejects.toThrow('Another account');
    await expect(make({ password })).rejects.toThrow('needs an email address');
    await expect(make({ email: 'x@y.example', password: 'short' })).rejects.toThrow('12 to 1000');
    // An account without a password may have the same address.
    await make({ email });
  });
});

test('what cannot be read is refused with the field', async () => {
  const invalid = { status: 400, code: 'invalid_parameter' };
  const malformed = await callConsole('POST', { key: 'svc_live_nothing' });
  const { errors } = await expectProblem(malformed, invalid);
  expect(errors).toMatchObject([{ field: 'key' }]);
  for (const body of [{}, { email: 'a@b.example' }, { key: '' }, { key: 'a', password: 'b' }, []]) {
    await expectProblem(await callConsole('POST', body), invalid);
  }
  await expectProblem(await callConsole('PATCH', { mode: 'live' }), {
    status: 401,
    code: 'session_expired',
  });
});
