import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { scopes } from '../core/keys/keys.ts';
import { must } from '../core/lib/assert.ts';
import { eventTypes } from '../jobs/webhook/event-types.ts';
import type { viewDelivery, viewWebhook } from '../jobs/webhook/webhook-view.ts';
import { openWebhookFixture, type WebhookFixture } from '../jobs/webhook/webhooks.test-suite.ts';
import { WEBHOOKS_MAX } from '../jobs/webhook/webhooks.ts';

type WebhookView = ReturnType<typeof viewWebhook>;
type DeliveryView = ReturnType<typeof viewDelivery>;

let fixture: WebhookFixture;
let caller: Caller;
beforeAll(async () => {
  fixture = await openWebhookFixture();
});
afterAll(() => fixture.close());
beforeEach(async () => {
  const { accountId } = await fixture.account(100);
  caller = await fixture.keyOf(accountId, 'live', [...scopes]);
});

async function send(
  who: Caller,
  method: string,
  path = '',
  body?: object,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fixture.call(who, `/v1/webhooks${path}`, {
    method,
    headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function make(body: object = {}, who = caller) {
  const response = await send(who, 'POST', '', { url: fixture.receiver.url, ...body });
  expect(response.status).toBe(201);
  return (await response.json()) as WebhookView & { secret: string };
}

async function page<Item>(who: Caller, path: string) {
  const response = await send(who, 'GET', path);
  expect(response.status).toBe(200);
  return (await response.json()) as { data: Item[]; next_cursor: string | null };
}

describe('a new webhook', () => {
  test('takes every event unless it names some, and shows its secret this once', async () => {
    const response = await send(caller, 'POST', '', { url: fixture.receiver.url });
    expect(response.headers.get('cache-control')).toBe('no-store');
    const { secret, ...made } = (await response.json()) as WebhookView & { secret: string };
    expect(response.headers.get('location')).toBe(`/v1/webhooks/${made.id}`);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made).toMatchObject({
      events: eventTypes,
      live: true,
      credits_low_threshold: 100,
      enabled: true,
      disabled_reason: null,
      previous_secret_until: null,
    });
    expect(await (await send(caller, 'GET', `/${made.id}`)).json()).toEqual(made);
    expect(await page(caller, '')).toEqual({ data: [made], next_cursor: null });
  });

  test('asked for twice under one Idempotency-Key is made once, and its secret not shown again', async () => {
    const key = { 'Idempotency-Key': 'a' };
    const body = { url: fixture.receiver.url, events: ['batch.failed'] };
    const first = await send(caller, 'POST', '', body, key);
    const again = await send(caller, 'POST', '', body, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    const { secret, ...shown } = (await first.json()) as { secret: string };
    expect(await again.json()).toEqual({ ...shown, secret: null });
    expect((await page(caller, '')).data).toHaveLength(1);
    const [kept] = await fixture.sql<{ body: string }[]>`
      select body::text from idempotency_keys where account_id = ${caller.accountId}`;
    expect(kept?.body).not.toContain(secret);
  });

  test.each([
    ['https://10.0.0.1/', 'must resolve to public addresses only'],
    ['https://[::ffff:a9fe:a9fe]/', 'must resolve to public addresses only'],
    ['http://8.8.8.8/', 'must begin with https://'],
    ['https://8.8.8.8:22/', 'must use port 443 or 8443'],
    ['https://user:word@8.8.8.8/', 'must not contain a user name or password'],
    ['8.8.8.8', 'must be a URL such as https://host/path'],
  ])('that points to %s is told: %s', async (url, message) => {
    const problem = await expectProblem(await send(caller, 'POST', '', { url }), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(problem.errors).toEqual([{ field: 'url', message }]);
  });

  test.each([
    [{}, 'url'],
    [{ url: 1 }, 'url'],
    [{ events: [] }, 'events'],
    [{ events: ['batch.completed', 'batch.done'] }, 'events.1'],
    [{ events: ['webhook.test'] }, 'events.0'],
    [{ credits_low_threshold: 0 }, 'credits_low_threshold'],
    [{ secret: 'whsec_a' }, 'secret'],
  ])('with %j is refused by the name of what is wrong', async (wrong, field) => {
    const body = field === 'url' ? wrong : { url: fixture.receiver.url, ...wrong };
    const problem = await expectProblem(await send(caller, 'POST', '', body), {
      status: 400,
      code: 'invalid_parameter',
    });
    expect(problem.errors).toMatchObject([{ field }]);
  });

  test('is one of at most ten, however many are made at once', async () => {
    const made = await Promise.all(
      Array.from({ length: WEBHOOKS_MAX + 3 }, () =>
        send(caller, 'POST', '', { url: fixture.receiver.url }),
      ),
    );
    const statuses = made.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(WEBHOOKS_MAX);
    const refused = must(
      made.find(({ status }) => status !== 201),
      'refusal',
    );
    await expectProblem(refused, { status: 409, code: 'too_many_webhooks' });
  });
});

describe('a webhook', () => {
  test('is changed in what is sent, and stays as it was in the rest', async () => {
    const { secret: _secret, ...made } = await make();
    const change = { events: ['key.revoked', 'key.revoked'], credits_low_threshold: 7 };
    const after = await send(caller, 'PATCH', `/${made.id}`, change);
    expect(await after.json()).toEqual({
      ...made,
      events: ['key.revoked'],
      credits_low_threshold: 7,
    });
    const inside = await send(caller, 'PATCH', `/${made.id}`, { url: 'https://10.0.0.1/' });
    const problem = await expectProblem(inside, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field: 'url' }]);
    const same = await send(caller, 'PATCH', `/${made.id}`, {});
    expect(await same.json()).toMatchObject({ url: fixture.receiver.url });
  });

  test('that is disabled is neither tested nor sent anything again', async () => {
    const { id } = await make();
    const sent = (await (await send(caller, 'POST', `/${id}/test`)).json()) as DeliveryView;
    await send(caller, 'PATCH', `/${id}`, { enabled: false });
    for (const path of ['test', `deliveries/${sent.id}/replay`]) {
      const refused = await send(caller, 'POST', `/${id}/${path}`);
      await expectProblem(refused, { status: 409, code: 'invalid_state' });
    }
  });

  test('gets a new secret that is shown once, and says until when the old one signs along', async () => {
    const made = await make();
    const response = await send(caller, 'POST', `/${made.id}/rotate`, { overlap_seconds: 3600 });
    expect(response.status).toBe(201);
    const rotated = (await response.json()) as typeof made;
    expect(rotated.secret).not.toBe(made.secret);
    const until = new Date(rotated.previous_secret_until ?? '').getTime() - Date.now();
    expect(Math.abs(until - 3_600_000)).toBeLessThan(60_000);
    const ended = await send(caller, 'POST', `/${made.id}/rotate`, { overlap_seconds: 0 });
    expect(await ended.json()).toMatchObject({ previous_secret_until: null });
    const wrong = await send(caller, 'POST', `/${made.id}/rotate`, { overlap_seconds: -1 });
    await expectProblem(wrong, { status: 400, code: 'invalid_parameter' });
  });

  test('is deleted with its deliveries, while one is due too', async () => {
    const { id } = await make();
    await send(caller, 'POST', `/${id}/test`);
    expect((await send(caller, 'DELETE', `/${id}`)).status).toBe(204);
    await expectProblem(await send(caller, 'GET', `/${id}`), { status: 404, code: 'not_found' });
    await expectProblem(await send(caller, 'DELETE', `/${id}`), { status: 404, code: 'not_found' });
    expect(await fixture.deliveries({ id })).toEqual([]);
  });

  test('is not visible to other accounts or to test keys of its own, nor are its deliveries', async () => {
    const { id } = await make();
    const own = await make();
    const sent = (await (await send(caller, 'POST', `/${id}/test`)).json()) as DeliveryView;
    const { accountId } = await fixture.account(1);
    const strangers = [
      await fixture.keyOf(accountId, 'live', [...scopes]),
      await fixture.keyOf(caller.accountId, 'test', [...scopes]),
    ];
    for (const stranger of strangers) {
      const theirs = await make({}, stranger);
      for (const [method, path, body] of [
        ['GET', `/${id}`],
        ['PATCH', `/${id}`, { enabled: false }],
        ['DELETE', `/${id}`],
        ['POST', `/${id}/rotate`],
        ['POST', `/${id}/test`],
        ['GET', `/${id}/deliveries`],
        ['POST', `/${id}/deliveries/${sent.id}/replay`],
        ['POST', `/${theirs.id}/deliveries/${sent.id}/replay`],
      ] as [string, string, object?][]) {
        const answer = await send(stranger, method, path, body);
        await expectProblem(answer, { status: 404, code: 'not_found' });
      }
      expect((await page<WebhookView>(stranger, '')).data.map((one) => one.id)).toEqual([
        theirs.id,
      ]);
    }
    // Neither is a delivery that of another webhook of the same account.
    const other = await send(caller, 'POST', `/${own.id}/deliveries/${sent.id}/replay`);
    await expectProblem(other, { status: 404, code: 'not_found' });
    expect((await page<DeliveryView>(caller, `/${id}/deliveries`)).data).toHaveLength(1);
  });
});

describe('deliveries', () => {
  test('are listed newest first, page by page, with what was sent and what became of it', async () => {
    const { id, secret } = await make();
    fixture.receiver.received.length = 0;
    for (let n = 0; n < 5; n++) await send(caller, 'POST', `/${id}/test`);
    await fixture.deliver();
    const all = (await page<DeliveryView>(caller, `/${id}/deliveries`)).data;
    expect(all).toHaveLength(5);
    const first = await page<DeliveryView>(caller, `/${id}/deliveries?limit=3`);
    const rest = await page(caller, `/${id}/deliveries?limit=3&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest.data]).toEqual(all);
    expect(rest.next_cursor).toBeNull();
    const times = all.map(({ created_at }) => created_at);
    expect(times).toEqual([...times].sort().reverse());
    const [shown] = all;
    expect(shown).toMatchObject({
      type: 'webhook.test',
      state: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      response_status: 204,
      error: null,
    });
    const message = must(
      fixture.receiver.received.find(({ headers }) => headers['webhook-id'] === shown?.event_id),
      'message',
    );
    expect(new Verifier(secret).verify(message.body, message.headers)).toEqual(shown?.payload);
  });

  test('are found by their state, and one that failed is sent again', async () => {
    const { id } = await make();
    fixture.receiver.answers.push((response) => response.writeHead(500).end());
    await send(caller, 'POST', `/${id}/test`);
    await fixture.deliver();
    const failed = await page<DeliveryView>(caller, `/${id}/deliveries?state=failed`);
    expect(failed.data).toMatchObject([{ attempts: 1, error: 'responded 500' }]);
    const [delivery] = failed.data;
    const replay = await send(caller, 'POST', `/${id}/deliveries/${delivery?.id}/replay`);
    expect(replay.status).toBe(202);
    expect(await replay.json()).toMatchObject({ id: delivery?.id, state: 'pending' });
    await fixture.deliver();
    expect((await page(caller, `/${id}/deliveries?state=failed`)).data).toEqual([]);
    const [again] = (await page<DeliveryView>(caller, `/${id}/deliveries`)).data;
    expect(again).toMatchObject({
      event_id: delivery?.event_id,
      state: 'delivered',
      attempts: 2,
      payload: delivery?.payload,
    });
  });

  test('that were delivered may be made again too, once for each Idempotency-Key', async () => {
    const { id } = await make();
    const sent = (await (await send(caller, 'POST', `/${id}/test`)).json()) as DeliveryView;
    await fixture.deliver();
    const replay = () =>
      send(caller, 'POST', `/${id}/deliveries/${sent.id}/replay`, undefined, {
        'Idempotency-Key': 'once',
      });
    await replay();
    await fixture.deliver();
    expect((await replay()).headers.get('idempotent-replayed')).toBe('true');
    await fixture.deliver();
    const [delivery] = (await page<DeliveryView>(caller, `/${id}/deliveries`)).data;
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 2 });
  });
});
