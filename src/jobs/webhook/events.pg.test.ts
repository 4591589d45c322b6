/** Every change that is an event is recorded in its own transaction, and no other change is. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import type { Caller } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { revokeKey } from '../../core/keys/account-keys.ts';
import { consoleKeyOf, scopes } from '../../core/keys/keys.ts';
import { packageRoot } from '../../core/lib/package-root.ts';
import { audit } from '../audit/audit.ts';
import { runDueSchedules } from '../schedule/run-due.ts';
import type { ScheduleView } from '../schedule/schedule-view.ts';
import { eventTypes } from './event-types.ts';
import { deleteWebhook } from './webhooks.sql.ts';
import { type Hook, openWebhookFixture, type WebhookFixture } from './webhooks.test-suite.ts';
import { changeWebhook, removeWebhook } from './webhooks.ts';

/** Part of every text that a customer writes; no message may contain it. */
const CANARY = 'zq7canary';

let fixture: WebhookFixture;
let caller: Caller;
let hook: Hook;
beforeAll(async () => {
  fixture = await openWebhookFixture({ BATCH_ROWS_MAX: '8' });
  await importGraph(fixture.sql, {
    persons: [...crowd(9), { id: 9, email: `${CANARY}@home.example`, name: CANARY }],
  });
});
afterAll(() => fixture.close());
beforeEach(async () => {
  caller = await fixture.account(1000);
  hook = await fixture.hook(caller);
});

const list = (...names: string[]) =>
  `email,note\n${names.map((name) => `${name}@list.example,${CANARY}`).join('\n')}\n`;
const options = { operation: 'people.enrich', fields: 'id', name: CANARY };

const events = async (of: { id: string } = hook) =>
  (await fixture.deliveries(of)).map(({ type, payload }) => ({ type, data: payload.data }));
const types = async (of: { id: string } = hook) => (await events(of)).map(({ type }) => type);

const act = (path: string, method = 'POST', body: unknown = undefined, who = caller) =>
  fixture.call(who, path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

async function makeSchedule(body: object): Promise<ScheduleView> {
  const nightly = { cron: '30 2 * * *', filter: 'id=1001-1003', fields: ['id'], name: CANARY };
  const made = await act('/v1/schedules', 'POST', { ...nightly, ...body });
  return (await made.json()) as ScheduleView;
}

const slotOf = (schedule: ScheduleView, nights = 0) =>
  new Date(new Date(schedule.next_run_at ?? '').getTime() + nights * 24 * 3_600_000);

describe('a list', () => {
  test('that ends sends one event, with its counts', async () => {
    const id = await fixture.enrich(caller, list('p1', 'p2', 'nobody'), options);
    expect(await events()).toEqual([
      {
        type: 'batch.completed',
        data: {
          id,
          state: 'completed',
          reason: null,
          error_code: null,
          operation: 'people.enrich',
          schedule_id: null,
          rows: {
            total: 3,
            matched: 2,
            no_match: 1,
            ambiguous: 0,
            invalid: 0,
            suppressed: 0,
            duplicate: 0,
            error: 0,
            not_processed: 0,
          },
          credits: { charged: 2, max: null },
          links: { self: `/v1/batches/${id}` },
        },
      },
    ]);
  });

  test('that fails or is cancelled sends an event', async () => {
    const tooLong = list('p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9');
    await fixture.enrich(caller, tooLong, options);
    const cancelled = await fixture.upload(caller, list('p1', 'p2'), options);
    await fixture.queues.runNext(fixture.context, 'split-batch');
    await act(`/v1/batches/${cancelled}/cancel`);
    await fixture.runUntilIdle();
    const deleted = await fixture.upload(caller, list('p1'), options);
    await act(`/v1/batches/${deleted}`, 'DELETE');
    expect(await events()).toMatchObject([
      { type: 'batch.failed', data: { error_code: 'too_many_rows' } },
      { type: 'batch.cancelled', data: { id: cancelled, rows: { total: 2, not_processed: 2 } } },
      { type: 'batch.cancelled', data: { id: deleted } },
    ]);
  });

  test('that pauses sends an event at every change of the reason, and none when it resumes', async () => {
    const poor = await fixture.account(1);
    const poorHook = await fixture.hook(poor, { events: ['batch.paused', 'batch.completed'] });
    const id = await fixture.enrich(poor, list('p1', 'p2', 'p3'), options);
    await act(`/v1/batches/${id}/pause`, 'POST', undefined, poor);
    await act(`/v1/batches/${id}/pause`, 'POST', undefined, poor);
    await act(`/v1/batches/${id}/resume`, 'POST', undefined, poor);
    await fixture.runUntilIdle();
    await fixture.grant(poor, 10, 'more');
    await fixture.sweep();
    await fixture.runUntilIdle();
    expect(await events(poorHook)).toMatchObject([
      {
        type: 'batch.paused',
        data: { reason: 'insufficient_credits', rows: { matched: 1 }, credits: { charged: 1 } },
      },
      { type: 'batch.paused', data: { reason: 'user' } },
      { type: 'batch.paused', data: { reason: 'insufficient_credits' } },
      { type: 'batch.completed', data: { rows: { matched: 3 } } },
    ]);
  });
});

describe('exports and schedules', () => {
  test('an export has event types of its own and names the schedule that ran it', async () => {
    const schedule = await makeSchedule({});
    await runDueSchedules(fixture.context, slotOf(schedule));
    await fixture.runUntilIdle();
    const id = await fixture.makeExport(caller, { filter: 'id=1001-1002', hold: true });
    await fixture.runUntilIdle();
    await act(`/v1/exports/${id}/start`);
    await act(`/v1/exports/${id}/pause`);
    await act(`/v1/exports/${id}/cancel`);
    await fixture.runUntilIdle();
    const tooMany = await fixture.makeExport(caller, { filter: 'id=1001-1009' });
    await fixture.runUntilIdle();
    expect(await events()).toMatchObject([
      {
        type: 'export.completed',
        data: { schedule_id: schedule.id, rows: { total: 3, matched: 3 }, credits: { charged: 3 } },
      },
      { type: 'export.paused', data: { id, reason: 'user', links: { self: `/v1/exports/${id}` } } },
      {
        type: 'export.cancelled',
        // Like the export itself: it has delivered no one.
        data: { id, schedule_id: null, rows: { total: null, matched: 0, not_processed: 0 } },
      },
      { type: 'export.failed', data: { id: tooMany, error_code: 'too_many_results' } },
    ]);
  });

  test('a slot that is skipped or fails sends an event; one that starts sends those of its export', async () => {
    const schedule = await makeSchedule({ filter: 'id=1001-1003' });
    await runDueSchedules(fixture.context, slotOf(schedule));
    await runDueSchedules(fixture.context, slotOf(schedule, 1));
    await fixture.sql`update schedules set filter = ${`nothing=${CANARY}`} where id = ${schedule.id}`;
    await fixture.runUntilIdle();
    await runDueSchedules(fixture.context, slotOf(schedule, 2));
    const links = {
      self: `/v1/schedules/${schedule.id}`,
      runs: `/v1/schedules/${schedule.id}/runs`,
    };
    expect(await events()).toEqual([
      {
        type: 'schedule.skipped',
        data: {
          id: schedule.id,
          slot: slotOf(schedule, 1).toISOString(),
          reason: 'previous_run_open',
          links,
        },
      },
      { type: 'export.completed', data: expect.objectContaining({ schedule_id: schedule.id }) },
      {
        type: 'schedule.failed',
        data: {
          id: schedule.id,
          slot: slotOf(schedule, 2).toISOString(),
          reason: 'export_refused',
          links,
        },
      },
    ]);
  });

  test('a schedule whose key was revoked sends an event, as does the key', async () => {
    const other = await fixture.keyOf(caller.accountId, 'live', [...scopes]);
    const schedule = await makeSchedule({});
    const [key] = await fixture.sql<{ prefix: string }[]>`
      select prefix from api_keys where id = ${caller.keyId}`;
    await act(`/v1/keys/${caller.keyId}`, 'DELETE', undefined, other);
    await runDueSchedules(fixture.context, slotOf(schedule));
    expect(await events()).toMatchObject([
      { type: 'key.revoked', data: { id: caller.keyId, prefix: key?.prefix } },
      { type: 'schedule.failed', data: { reason: 'key_revoked' } },
    ]);
  });
});

test('a revoked key sends one event, also from the command line, to webhooks of its own mode', async () => {
  const tester = await fixture.keyOf(caller.accountId, 'test');
  const testHook = await fixture.hook(caller, { live: false });
  await revokeKey(fixture.sql, tester.keyId);
  await fixture.sql`update api_keys set revoked_at = now() where id = ${tester.keyId}`;
  // The key of the web console sends none.
  const consoleKey = await consoleKeyOf(fixture.sql, caller.accountId, 'live');
  await fixture.sql`update api_keys set revoked_at = now() where id = ${consoleKey}`;
  expect(await types()).toEqual([]);
  expect(await events(testHook)).toEqual([
    { type: 'key.revoked', data: { id: tester.keyId, prefix: tester.key.slice(0, 13) } },
  ]);
});

describe('credits', () => {
  const enrichOne = async (who: Caller, times: number) => {
    const path = '/v1/people/enrich?email=p1%40list.example&fields=id';
    const calls = Array.from({ length: times }, () => fixture.call(who, path));
    return (await Promise.all(calls)).filter(({ status }) => status === 200).length;
  };

  test('that fall below a threshold send one event, however many charges come at once', async () => {
    const who = await fixture.account(140);
    await fixture.sql`
      update api_keys set requests_per_minute = 100000, requests_per_day = 100000
      where id = ${who.keyId}`;
    const low = await fixture.hook(who, { creditsLowThreshold: 100 });
    const lower = await fixture.hook(who, { creditsLowThreshold: 50 });
    expect(await enrichOne(who, 40)).toBe(40);
    expect(await types(low)).toEqual([]);
    expect(await enrichOne(who, 50)).toBe(50);
    const crossing = { type: 'credits.low', data: { threshold: 100, balance: expect.any(Number) } };
    expect(await events(low)).toMatchObject([crossing]);
    expect(await types(lower)).toEqual([]);
    expect(await enrichOne(who, 20)).toBe(20);
    expect(await types(low)).toEqual(['credits.low']);
    expect(await events(lower)).toMatchObject([{ type: 'credits.low', data: { threshold: 50 } }]);
    // Above it and below it again is another crossing.
    await fixture.grant(who, 100, 'more');
    expect(await enrichOne(who, 60)).toBe(60);
    expect(await events(low)).toMatchObject([crossing, crossing]);
    expect(await enrichOne(who, 200)).toBe(70);
    expect(await types(low)).toEqual(['credits.low', 'credits.low', 'credits.empty']);
    expect(await types(lower)).toEqual(['credits.low', 'credits.low', 'credits.empty']);
    const empty = { type: 'credits.empty', data: { balance: 0, reserved: 0 } };
    expect((await events(low)).at(-1)).toEqual(empty);
  });

  test('that lists spend concurrently send one event as well', async () => {
    const who = await fixture.account(110);
    const low = await fixture.hook(who, { events: ['credits.low'] });
    const names = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8'];
    for (let n = 0; n < 3; n++) await fixture.upload(who, list(...names), options);
    // Chunks that end at once may each leave the next list to the other, until the sweep.
    const run = () => fixture.runUntilIdle(6).then(() => fixture.sweep());
    const spend = () => run().then(() => fixture.wallet(who));
    await expect.poll(spend).toMatchObject({ balance: 86 });
    expect(await events(low)).toMatchObject([{ type: 'credits.low', data: { threshold: 100 } }]);
  });

  test('are watched as long as an enabled webhook has a threshold', async () => {
    const watched = async () => {
      const [wallet] = await fixture.sql<{ watchedBelow: number | null }[]>`
        select watched_below from wallets where account_id = ${caller.accountId}`;
      return wallet?.watchedBelow;
    };
    const change = (one: Hook, row: object) => changeWebhook(fixture.context, one, one.id, row);
    expect(await watched()).toBe(100);
    const second = await fixture.hook(caller, { creditsLowThreshold: 500 });
    expect(await watched()).toBe(500);
    await change(second, { events: ['credits.empty'] });
    expect(await watched()).toBe(100);
    await change(hook, { creditsLowThreshold: 70 });
    expect(await watched()).toBe(70);
    await change(hook, { enabled: false });
    expect(await watched()).toBe(1);
    await removeWebhook(fixture.sql, second, second.id);
    expect(await watched()).toBeNull();
    await fixture.hook(caller, { live: false });
    expect(await watched()).toBeNull();
  });
});

describe('an event', () => {
  test('goes to each enabled webhook that takes its type, under one id', async () => {
    const same = await fixture.hook(caller, { events: ['batch.completed'] });
    const others = [
      await fixture.hook(caller, { events: ['batch.failed'] }),
      await fixture.hook(caller, { enabled: false }),
      await fixture.hook(caller, { live: false }),
      await fixture.hook(await fixture.account(1)),
    ];
    await fixture.enrich(caller, list('p1'), options);
    const [first] = await fixture.deliveries(hook);
    const [second] = await fixture.deliveries(same);
    expect(second?.eventId).toBe(first?.eventId);
    expect(second?.payload).toEqual(first?.payload);
    for (const other of others) expect(await types(other)).toEqual([]);
  });

  test('of a test key goes to webhooks of test keys', async () => {
    const tester = await fixture.keyOf(caller.accountId, 'test');
    const testHook = await fixture.hook(caller, { live: false });
    await fixture.enrich(tester, 'email\nmatched@test.example\n', options);
    expect(await types()).toEqual([]);
    const [delivery] = await fixture.deliveries(testHook);
    expect(delivery?.payload).toMatchObject({ type: 'batch.completed', live: false });
  });

  test('commits or rolls back with its change, also when the process is killed', async () => {
    const id = await fixture.upload(caller, list('p1'), { ...options, hold: 'true' });
    await fixture.runUntilIdle();
    await fixture.sql`update batches set state = 'queued' where id = ${id}`;
    const stateOf = async () => (await fixture.batch(caller, id)).state;
    const killed = inTransaction(fixture.context.sql, async (tx) => {
      await tx`update batches set state = 'paused', reason = 'user' where id = ${id}`;
      const [seen] = await tx`
        select count(*)::int as events from webhook_deliveries where webhook_id = ${hook.id}`;
      expect(seen).toEqual({ events: 1 });
      const [me] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
      await fixture.sql`select pg_terminate_backend(${me?.pid ?? 0})`;
      await tx`select 1`;
    });
    await expect(killed).rejects.toThrow();
    expect([await stateOf(), await types()]).toEqual(['queued', []]);
    await fixture.sql`update batches set state = 'cancelling' where id = ${id}`;
    expect(await types()).toEqual([]);
    await fixture.sql`update batches set state = 'cancelled', finished_at = now() where id = ${id}`;
    expect([await stateOf(), await types()]).toEqual(['cancelled', ['batch.cancelled']]);
    // The process that made the change may die now: any worker finds the event.
    await fixture.deliver();
    expect(await fixture.deliveries(hook)).toMatchObject([{ state: 'delivered' }]);
  });

  test('waits for no webhook that is being deleted, and does not fail with it', async () => {
    const id = await fixture.upload(caller, list('p1'), options);
    await inTransaction(fixture.sql, async (tx) => {
      await deleteWebhook(tx, hook.id);
      await fixture.runUntilIdle();
      expect((await fixture.batch(caller, id)).state).toBe('completed');
    });
    expect(await types()).toEqual([]);
  });

  test('writes no row for an account without webhooks', async () => {
    const plain = await fixture.account(3);
    await fixture.enrich(plain, list('p1', 'p2', 'p3'), options);
    expect(await fixture.wallet(plain)).toEqual({ balance: 0, reserved: 0 });
    const [found] = await fixture.sql`
      select count(*)::int as rows from webhook_deliveries d join webhooks w on w.id = d.webhook_id
      where w.account_id = ${plain.accountId}`;
    expect(found).toEqual({ rows: 0 });
  });
});

test('these tests saw all event types, and no others', async () => {
  const seen = await fixture.sql<{ type: string }[]>`select distinct type from webhook_deliveries`;
  expect(seen.map(({ type }) => type).sort()).toEqual([...eventTypes].sort());
});

/** The names of all members, recursively. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return null;
  const members = Object.entries(value).map(([name, member]) => [name, shapeOf(member)]);
  return Object.fromEntries(members);
}

test('the documentation names every type, and its examples have the shape of real messages', async () => {
  const text = await readFile(path.join(packageRoot, 'docs', 'webhooks.md'), 'utf8');
  for (const type of eventTypes) expect(text).toContain(`\`${type}\``);
  const examples = [...text.matchAll(/```json\n(.+?)```/gs)].map(
    ([, json = '']) => JSON.parse(json) as { type: string },
  );
  expect(examples).toHaveLength(4);
  for (const example of examples) {
    const [sent] = await fixture.sql<{ payload: unknown }[]>`
      select payload from webhook_deliveries where type = ${example.type} limit 1`;
    expect(shapeOf(example)).toEqual(shapeOf(sent?.payload));
  }
});

test('no message contains personal data, and none is large', async () => {
  const bodies = await fixture.sql<{ body: string }[]>`
    select payload::text as body from webhook_deliveries`;
  expect(bodies.length).toBeGreaterThan(20);
  for (const { body } of bodies) {
    expect(body).not.toContain(CANARY);
    expect(body).not.toMatch(/@|list\.example|home\.example|\b1001\b/);
    expect(Buffer.byteLength(body)).toBeLessThan(1_000);
  }
  expect(await audit(fixture.sql)).toMatchObject({ ok: true });
});
