import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { smallGraph } from '../../tests/support/small-graph.ts';
import { setCreditsPerDay } from '../core/credits/key-budgets.sql.ts';
import { createKey } from '../core/keys/keys.ts';
import { assert } from '../core/lib/assert.ts';
import { audit } from '../jobs/audit/audit.ts';
import { cancelKeyBatches } from '../jobs/batch/cancel-key-batches.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, smallGraph);
});
afterAll(() => pipeline.close());

interface KeyView {
  key: string | null;
  id: string;
  prefix: string;
  mode: string;
  credits_per_day: number | null;
  revoked_at: string | null;
  [member: string]: unknown;
}

const ada = '/v1/people/enrich?email=ada%40acme.example';

async function administrator(credits = 0, mode: 'live' | 'test' = 'live'): Promise<Caller> {
  const { accountId } = await pipeline.account(credits);
  return pipeline.keyOf(accountId, mode, ['account']);
}

function send(caller: Caller | null, method: string, path: string, body?: unknown, key?: string) {
  const headers = new Headers(key === undefined ? {} : { 'Idempotency-Key': key });
  if (body === undefined) return pipeline.call(caller, path, { method, headers });
  headers.set('Content-Type', 'application/json');
  return pipeline.call(caller, path, { method, headers, body: JSON.stringify(body) });
}

async function make(admin: Caller, options: object): Promise<Caller & { view: KeyView }> {
  const response = await send(admin, 'POST', '/v1/keys', options);
  const view = (await response.json()) as KeyView;
  expect(response.status, JSON.stringify(view)).toBe(201);
  return { accountId: admin.accountId, keyId: view.id, key: String(view.key), view };
}

describe('keys of a key', () => {
  const spent = async (caller: Caller) => 100 - ((await pipeline.wallet(caller))?.balance ?? 0);
  const scopes = ['enrich', 'batches', 'account'];

  /** A key that may make others, with what bounds it. */
  async function boundedMaker(bounds: object): Promise<Caller> {
    const { accountId } = await pipeline.account(100);
    const { id, key } = await createKey(pipeline.sql, {
      ...{ accountId, mode: 'live', scopes: ['enrich', 'batches', 'account'] },
      ...bounds,
    });
    return { accountId, keyId: id, key };
  }

  const successions: Record<string, (caller: Caller) => Promise<Caller>> = {
    async 'makes the next'(caller) {
      const next = await make(caller, { mode: 'live', scopes });
      expect((await send(next, 'DELETE', `/v1/keys/${caller.keyId}`)).status).toBe(200);
      return next;
    },
    async 'is rolled'(caller) {
      const rolled = await send(caller, 'POST', `/v1/keys/${caller.keyId}/roll`, {
        overlap_seconds: 0,
      });
      const { id, key } = (await rolled.json()) as KeyView;
      return { accountId: caller.accountId, keyId: id, key: String(key) };
    },
  };

  test.each(Object.entries(successions))(
    'spend the credits of one day together, when each %s',
    async (_how, succeed) => {
      let caller = await boundedMaker({ creditsPerDay: 5 });
      const refused = { status: 402, code: 'daily_credits_reached' };
      for (let bought = 0; bought < 3; bought++) {
        expect((await pipeline.call(caller, ada)).status).toBe(200);
      }
      for (let generation = 0; generation < 4; generation++) {
        caller = await succeed(caller);
        await pipeline.call(caller, ada);
      }
      await expectProblem(await pipeline.call(caller, ada), refused);
      expect(await spent(caller)).toBe(5);
      expect((await audit(pipeline.sql)).checks.filter(({ violations }) => violations > 0)).toEqual(
        [],
      );
    },
  );

  test.each(Object.entries(successions))(
    'make the requests of one day together, when each %s',
    async (_how, succeed) => {
      let caller = await boundedMaker({ requestsPerDay: 5 });
      const statuses: number[] = [];
      for (let generation = 0; generation < 4; generation++) {
        for (let call = 0; call < 2; call++)
          statuses.push((await pipeline.call(caller, ada)).status);
        caller = await succeed(caller);
      }
      expect(statuses.filter((status) => status === 200)).toHaveLength(5);
      expect(statuses.slice(5)).toEqual([429, 429, 429]);
    },
  );

  test('have bounds of their own within those of their maker, and count with it', async () => {
    const maker = await boundedMaker({ creditsPerDay: 5 });
    const child = await make(maker, { mode: 'live', scopes, credits_per_day: 2 });
    const grandchild = await make(child, { mode: 'live', scopes });
    expect((await pipeline.call(grandchild, ada)).status).toBe(200);
    expect((await pipeline.call(child, ada)).status).toBe(200);
    for (const caller of [child, grandchild]) {
      await expectProblem(await pipeline.call(caller, ada), {
        status: 402,
        code: 'daily_credits_reached',
      });
    }
    expect((await pipeline.call(maker, ada)).status).toBe(200);
    expect(await spent(maker)).toBe(3);
  });

  test.each([
    ['the default ones', { requestsPerMinute: 100_000, requestsPerDay: 1_000_000 }, [60, 10_000]],
    ['those of a maker with less', { requestsPerMinute: 10, requestsPerDay: 100 }, [10, 100]],
  ])('made without limits have %s', async (_which, limits, [minute, day]) => {
    const { view } = await make(await boundedMaker(limits), { mode: 'live' });
    expect(view).toMatchObject({ requests_per_minute: minute, requests_per_day: day });
  });

  test('of one without a bound have days of their own', async () => {
    const maker = await boundedMaker({});
    for (let made = 0; made < 2; made++) {
      const child = await make(maker, { mode: 'live', credits_per_day: 2 });
      for (let call = 0; call < 2; call++)
        expect((await pipeline.call(child, ada)).status).toBe(200);
    }
    expect(await spent(maker)).toBe(4);
  });

  test('are bounded by their operator also after a roll, when no key had a bound before', async () => {
    const refused = { status: 402, code: 'daily_credits_reached' };
    const maker = await boundedMaker({});
    const caller = await successions['is rolled']?.(maker);
    assert(caller !== undefined, 'the key that replaces it');
    await setCreditsPerDay(pipeline.sql, caller.keyId, 3);
    for (let bought = 0; bought < 2; bought++) {
      expect((await pipeline.call(caller, ada)).status).toBe(200);
    }
    const rows = await pipeline.enrich(caller, 'email\nada@acme.example\nada@acme.example\n', {
      operation: 'people.enrich',
    });
    expect(await pipeline.batch(caller, rows)).toMatchObject({ state: 'paused' });
    await expectProblem(await pipeline.call(caller, ada), refused);
    expect(await spent(caller)).toBe(3);
    expect((await audit(pipeline.sql)).checks.filter(({ violations }) => violations > 0)).toEqual(
      [],
    );
  });

  test('do not let their maker take over a key with higher limits', async () => {
    const maker = await boundedMaker({ creditsPerDay: 5 });
    const free = await pipeline.keyOf(maker.accountId, 'live');
    const rolled = await send(maker, 'POST', `/v1/keys/${free.keyId}/roll`, {});
    const problem = await expectProblem(rolled, { status: 403, code: 'forbidden' });
    expect(problem.detail).toContain('credits_per_day');
    expect((await pipeline.call(free, ada)).status).toBe(200);
  });

  test('that are the operator’s are neither rolled nor revoked by them', async () => {
    const maker = await boundedMaker({});
    const operator = await pipeline.keyOf(maker.accountId, 'live', ['account', 'admin']);
    for (const caller of [maker, operator]) {
      for (const [method, path] of [
        ['DELETE', ''],
        ['POST', '/roll'],
      ] as const) {
        const response = await send(caller, method, `/v1/keys/${operator.keyId}${path}`);
        const problem = await expectProblem(response, { status: 403, code: 'forbidden' });
        expect(problem.detail).toContain('enrich key');
      }
    }
    expect((await pipeline.call(operator, '/v1/me')).status).toBe(200);
  });
});

describe('a key that was made', () => {
  test('works, and is shown in no other answer', async () => {
    const admin = await administrator(5);
    const made = await make(admin, { mode: 'live', name: 'Website', scopes: ['enrich'] });
    expect((await pipeline.call(made, ada)).status).toBe(200);
    const list = await (await pipeline.call(admin, '/v1/keys')).text();
    expect(list).toContain('"name":"Website"');
    expect(list).not.toContain(made.key);
    expect(JSON.parse(list).data).toHaveLength(3);
  });

  test('is told but not shown to the same request sent again', async () => {
    const admin = await administrator();
    const body = { mode: 'test', name: 'Once' };
    const first = (await (await send(admin, 'POST', '/v1/keys', body, 'k1')).json()) as KeyView;
    const again = await send(admin, 'POST', '/v1/keys', body, 'k1');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(await again.json()).toEqual({ ...first, key: null });
    const other = await send(admin, 'POST', '/v1/keys', { mode: 'test' }, 'k1');
    await expectProblem(other, { status: 422, code: 'idempotency_key_reused' });
  });
});

describe('a key is not made', () => {
  test.each([
    ['without a mode', {}, 'mode'],
    ['with an unknown scope', { mode: 'live', scopes: ['root'] }, 'scopes.0'],
    [
      'with a higher limit than its maker',
      { mode: 'live', requests_per_minute: 61 },
      'requests_per_minute',
    ],
    ['with a limit of nothing', { mode: 'live', credits_per_day: 0 }, 'credits_per_day'],
    ['with what is no option', { mode: 'live', key: 'mine' }, 'key'],
  ])('%s', async (_case, body, field) => {
    const response = await send(await administrator(), 'POST', '/v1/keys', body);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe(field);
  });

  test('without the scope, nor a live one by a test key', async () => {
    const plain = await pipeline.account(0);
    const refused = await send(plain, 'POST', '/v1/keys', { mode: 'live' });
    await expectProblem(refused, { status: 403, code: 'forbidden' });
    const tester = await administrator(0, 'test');
    const live = await send(tester, 'POST', '/v1/keys', { mode: 'live' });
    await expectProblem(live, { status: 403, code: 'forbidden' });
  });

  test('without the bound of credits that its maker has', async () => {
    const admin = await administrator();
    const bounded = await make(admin, { mode: 'live', scopes: ['account'], credits_per_day: 5 });
    expect((await make(bounded, { mode: 'live' })).view.credits_per_day).toBe(5);
    const more = await send(bounded, 'POST', '/v1/keys', { mode: 'live', credits_per_day: 6 });
    await expectProblem(more, { status: 400, code: 'invalid_parameter' });
  });
});

describe('revoking', () => {
  test('refuses the very next call, and again changes nothing', async () => {
    const admin = await administrator();
    const made = await make(admin, { mode: 'live' });
    const revoked = (await (
      await send(admin, 'DELETE', `/v1/keys/${made.keyId}`)
    ).json()) as KeyView;
    expect(revoked.revoked_at).not.toBeNull();
    for (const path of ['/v1/me', '/v1/batches']) {
      const problem = await pipeline.call(made, path);
      await expectProblem(problem, { status: 403, code: 'key_revoked' });
    }
    const again = await send(admin, 'DELETE', `/v1/keys/${made.keyId}`);
    expect(((await again.json()) as KeyView).revoked_at).toBe(revoked.revoked_at);
  });

  test.each(['DELETE', 'POST'])("%s of another account's key finds none", async (method) => {
    const admin = await administrator();
    const stranger = await administrator();
    const suffix = method === 'POST' ? '/roll' : '';
    for (const id of [stranger.keyId, 'nothing', '00000000-0000-0000-0000-000000000000']) {
      const response = await send(admin, method, `/v1/keys/${id}${suffix}`);
      await expectProblem(response, { status: 404, code: 'not_found' });
    }
    expect((await pipeline.call(stranger, '/v1/me')).status).toBe(200);
  });

  test('a live key is out of reach for a test key', async () => {
    const admin = await administrator();
    const tester = await pipeline.keyOf(admin.accountId, 'test', ['account']);
    const response = await send(tester, 'DELETE', `/v1/keys/${admin.keyId}`);
    await expectProblem(response, { status: 404, code: 'not_found' });
    const { data } = (await (await pipeline.call(tester, '/v1/keys')).json()) as {
      data: KeyView[];
    };
    expect(data.map(({ id }) => id)).toEqual([tester.keyId]);
  });

  test('can cancel the batches of the key', async () => {
    const owner = await pipeline.account(10);
    const id = await pipeline.upload(owner, 'email\nada@acme.example\n', {
      operation: 'people.enrich',
    });
    expect(await cancelKeyBatches(pipeline.context, owner.keyId)).toEqual([id]);
    expect(await cancelKeyBatches(pipeline.context, owner.keyId)).toEqual([]);
    await pipeline.runUntilIdle();
    expect((await pipeline.batch(owner, id)).state).toBe('cancelled');
    expect(await pipeline.wallet(owner)).toEqual({ balance: 10, reserved: 0 });
  });
});

describe('rolling', () => {
  test('gives a key with the same settings, and the old one ends with the overlap', async () => {
    const admin = await administrator(9);
    const old = await make(admin, { mode: 'live', name: 'Crawler', credits_per_day: 7 });
    const rolled = await send(admin, 'POST', `/v1/keys/${old.keyId}/roll`, { overlap_seconds: 60 });
    const view = (await rolled.json()) as KeyView & { replaces: KeyView };
    expect(view).toMatchObject({ name: 'Crawler', credits_per_day: 7, mode: 'live' });
    expect(view.replaces.id).toBe(old.keyId);
    const fresh = { accountId: admin.accountId, keyId: view.id, key: String(view.key) };
    expect((await pipeline.call(old, '/v1/me')).status).toBe(200);
    expect((await pipeline.call(fresh, '/v1/me')).status).toBe(200);
    const again = await send(admin, 'POST', `/v1/keys/${old.keyId}/roll`);
    await expectProblem(again, { status: 409, code: 'invalid_state' });
    await pipeline.sql`
      update api_keys set expires_at = now() - interval '1 ms' where id = ${old.keyId}`;
    for (const path of ['/v1/me', '/v1/batches']) {
      await expectProblem(await pipeline.call(old, path), { status: 403, code: 'key_revoked' });
    }
    expect((await pipeline.call(fresh, '/v1/me')).status).toBe(200);
  });

  test('with no overlap ends the old key at once, and more than a week is refused', async () => {
    const admin = await administrator();
    const old = await make(admin, { mode: 'test' });
    const long = await send(admin, 'POST', `/v1/keys/${old.keyId}/roll`, {
      overlap_seconds: 604_801,
    });
    await expectProblem(long, { status: 400, code: 'invalid_parameter' });
    await send(admin, 'POST', `/v1/keys/${old.keyId}/roll`, { overlap_seconds: 0 });
    await expectProblem(await pipeline.call(old, '/v1/me'), { status: 403, code: 'key_revoked' });
  });
});

describe('credits a day', () => {
  test('bound what single calls spend, however many come at once', async () => {
    const admin = await administrator(100);
    const bounded = await make(admin, { mode: 'live', credits_per_day: 7 });
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => pipeline.call(bounded, ada)),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(7);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(33);
    const next = await expectProblem(await pipeline.call(bounded, ada), {
      status: 402,
      code: 'daily_credits_reached',
    });
    expect(next).toMatchObject({ needed: 1, available: 0 });
    expect(await pipeline.wallet(admin)).toEqual({ balance: 93, reserved: 0 });
    const other = await make(admin, { mode: 'live' });
    expect((await pipeline.call(other, ada)).status).toBe(200);
    await pipeline.sql`
      update key_budgets set day = day - 1 where key_id = ${bounded.keyId}`;
    expect((await pipeline.call(bounded, ada)).status).toBe(200);
    expect((await audit(pipeline.sql)).ok).toBe(true);
  });

  test('a dear call that does not fit leaves what a cheap one behind it needs', async () => {
    const admin = await administrator(100);
    const bounded = await make(admin, { mode: 'live', credits_per_day: 9 });
    const mobile = '/v1/people/mobile?email=ada%40acme.example';
    const paths = [mobile, mobile, ada];
    const answers = await Promise.all(paths.map((path) => pipeline.call(bounded, path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 402]);
    expect(await pipeline.wallet(admin)).toEqual({ balance: 91, reserved: 0 });
  });
});
