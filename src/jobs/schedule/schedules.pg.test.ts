import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import {
  minutesAfter,
  NIGHT,
  nightly,
  openScheduleCalls,
} from '../../../tests/support/schedule-calls.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { audit } from '../audit/audit.ts';
import { readServiceState } from '../monitor/monitor.sql.ts';
import { runDueSchedules } from './run-due.ts';
import type { ScheduleView } from './schedule-view.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, { persons: crowd(6) });
});
afterAll(() => pipeline.close());
let caller: Caller;
beforeEach(async () => {
  caller = await pipeline.account(1000);
});
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  // Leaves no schedule for the next test.
  await pipeline.sql`delete from schedules`;
});

const { send, make, show, runsOf } = openScheduleCalls(() => ({ pipeline, caller }));

describe('a slot', () => {
  test('runs once whatever the number of workers, and never before its time', async () => {
    const schedule = await make();
    const { context } = pipeline;
    expect(await runDueSchedules(context, minutesAfter(schedule.next_run_at, -0.01))).toEqual([]);
    const at = minutesAfter(schedule.next_run_at, 0);
    const started = await Promise.all(
      Array.from({ length: 8 }, () => runDueSchedules(context, at)),
    );
    expect(started.flat()).toHaveLength(1);
    // A worker that restarts, or whose clock is behind, finds nothing due.
    expect(await runDueSchedules(context, at)).toEqual([]);
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toEqual([
      expect.objectContaining({
        slot: schedule.next_run_at,
        state: 'completed',
        reason: null,
        export_id: started.flat()[0],
        rows: 6,
        credits: 6,
      }),
    ]);
    expect(await show(schedule)).toMatchObject({
      next_run_at: minutesAfter(schedule.next_run_at, NIGHT).toISOString(),
    });
  });

  test('of each of many schedules runs once when many workers compete', async () => {
    const made = await Promise.all(Array.from({ length: 12 }, () => make()));
    const at = minutesAfter(made[0]?.next_run_at ?? null, 0);
    const started = await Promise.all(
      Array.from({ length: 4 }, () => runDueSchedules(pipeline.context, at)),
    );
    expect(new Set(started.flat()).size).toBe(12);
    expect(started.flat()).toHaveLength(12);
    const [runs] = await pipeline.sql`select count(*)::int as runs from schedule_runs`;
    expect(runs).toEqual({ runs: 12 });
    await pipeline.runUntilIdle();
  });

  test('whose worker died before the wake-up is found by the sweep', async () => {
    const schedule = await make();
    await runDueSchedules(pipeline.context, minutesAfter(schedule.next_run_at, 0));
    pipeline.queues.waiting = [];
    await pipeline.sql`update batches set created_at = created_at - interval '1 hour'`;
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toMatchObject([{ state: 'completed', rows: 6 }]);
  });

  test('that was missed runs once on recovery; later missed slots are not made up for', async () => {
    const schedule = await make();
    const recovery = minutesAfter(schedule.next_run_at, 3 * NIGHT + 90);
    expect(await runDueSchedules(pipeline.context, recovery)).toHaveLength(1);
    expect(await runDueSchedules(pipeline.context, recovery)).toEqual([]);
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toMatchObject([{ slot: schedule.next_run_at }]);
    expect(await show(schedule)).toMatchObject({
      next_run_at: minutesAfter(schedule.next_run_at, 4 * NIGHT).toISOString(),
    });
  });

  test('is skipped and recorded as such while the previous run is still active', async () => {
    const schedule = await make();
    const first = minutesAfter(schedule.next_run_at, 0);
    const second = minutesAfter(schedule.next_run_at, NIGHT);
    const third = minutesAfter(schedule.next_run_at, 2 * NIGHT);
    await runDueSchedules(pipeline.context, first);
    expect(await runDueSchedules(pipeline.context, second)).toEqual([]);
    await pipeline.runUntilIdle();
    expect(await runDueSchedules(pipeline.context, third)).toHaveLength(1);
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toMatchObject([
      { slot: first.toISOString(), state: 'completed' },
      {
        slot: second.toISOString(),
        state: 'skipped',
        reason: 'previous_run_open',
        export_id: null,
        rows: 0,
        credits: 0,
        started_at: null,
      },
      { slot: third.toISOString(), state: 'completed' },
    ]);
  });
});

describe('mode=new', () => {
  test('over three nights of a growing graph delivers and charges each person once', async () => {
    const schedule = await make({ mode: 'new', filter: 'id=3001-3999' });
    const grow = (from: number, people: number) =>
      importGraph(pipeline.sql, {
        persons: Array.from({ length: people }, (_, n) => ({
          id: from + n,
          email: `n${from + n}@list.example`,
        })),
      });
    const files: string[] = [];
    for (const [night, [from, people]] of [
      [3001, 5],
      [3100, 6],
      [3050, 1],
    ].entries()) {
      await grow(from ?? 0, people ?? 0);
      const at = minutesAfter(schedule.next_run_at, night * NIGHT);
      const [id = ''] = await runDueSchedules(pipeline.context, at);
      await pipeline.runUntilIdle();
      files.push((await pipeline.people(caller, id)).text);
    }
    expect(files).toEqual([
      'person.id\n3001\n3002\n3003\n3004\n3005\n',
      'person.id\n3100\n3101\n3102\n3103\n3104\n3105\n',
      'person.id\n3050\n',
    ]);
    expect(await runsOf(schedule)).toMatchObject([
      { rows: 5, credits: 5 },
      { rows: 6, credits: 6 },
      { rows: 1, credits: 1 },
    ]);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 1000 - 12, reserved: 0 });
  });

  test('delivers later the people left out by a shortage of credits, a cancel or max_results', async () => {
    const poor = await pipeline.account(3);
    caller = poor;
    const schedule = await make({ mode: 'new', max_results: 5 });
    const night = async (number: number) => {
      const at = minutesAfter(schedule.next_run_at, number * NIGHT);
      const [id = ''] = await runDueSchedules(pipeline.context, at);
      await pipeline.runUntilIdle();
      return id;
    };
    const first = await night(0);
    expect(await pipeline.exportOf(poor, first)).toMatchObject({ state: 'paused' });
    // On the next night it still waits for credits.
    expect(await night(1)).toBe('');
    await pipeline.call(poor, `/v1/exports/${first}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    await pipeline.grant(poor, 100, `more-${poor.accountId}`);
    const second = await night(2);
    expect((await pipeline.people(poor, first)).text).toBe('person.id\n1001\n1002\n1003\n');
    expect((await pipeline.people(poor, second)).text).toBe('person.id\n1004\n1005\n1006\n');
    expect(await pipeline.wallet(poor)).toEqual({ balance: 97, reserved: 0 });
  });

  test('keeps its history per schedule: another schedule delivers the same people', async () => {
    const one = await make({ mode: 'new' });
    const two = await make({ mode: 'new' });
    const started = await runDueSchedules(pipeline.context, minutesAfter(one.next_run_at, 0));
    await pipeline.runUntilIdle();
    expect(started).toHaveLength(2);
    expect(await runsOf(one)).toMatchObject([{ rows: 6 }]);
    expect(await runsOf(two)).toMatchObject([{ rows: 6 }]);
  });

  test('skips people whom mode=all delivered; mode=all itself delivers all again', async () => {
    const schedule = await make();
    for (const night of [0, 1]) {
      await runDueSchedules(pipeline.context, minutesAfter(schedule.next_run_at, night * NIGHT));
      await pipeline.runUntilIdle();
    }
    await send(caller, 'PATCH', `/${schedule.id}`, { mode: 'new' });
    await runDueSchedules(pipeline.context, minutesAfter(schedule.next_run_at, 2 * NIGHT));
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toMatchObject([{ rows: 6 }, { rows: 6 }, { rows: 0 }]);
  });
});

describe('a schedule', () => {
  test('starts nothing with a key that was revoked since the round began, also by a later clock, or is being revoked', async () => {
    const schedule = await make();
    const { sql, context } = pipeline;
    const began = new Date();
    await sql`update schedules set next_run_at = ${began} where id = ${schedule.id}`;
    await sql.begin(async (tx) => {
      await tx`update api_keys set revoked_at = now() + '1 hour' where id = ${caller.keyId}`;
      expect(await runDueSchedules(context, began)).toEqual([]);
    });
    caller = await pipeline.keyOf(caller.accountId, 'live');
    expect(await runDueSchedules(context, began)).toEqual([]);
    expect(await runsOf(schedule)).toMatchObject([{ state: 'failed', reason: 'key_revoked' }]);
  });

  test('is disabled with its key, shows the reason, and runs again with the key that enables it', async () => {
    const schedule = await make();
    const other = await pipeline.keyOf(caller.accountId, 'live');
    await pipeline.sql`update api_keys set revoked_at = now() where id = ${caller.keyId}`;
    caller = other;
    const at = minutesAfter(schedule.next_run_at, 0);
    expect(await runDueSchedules(pipeline.context, at)).toEqual([]);
    expect(await runsOf(schedule)).toMatchObject([{ state: 'failed', reason: 'key_revoked' }]);
    expect(await show(schedule)).toMatchObject({ enabled: false, next_run_at: null });
    await send(other, 'PATCH', `/${schedule.id}`, { enabled: true });
    const again = await show(schedule);
    expect(again).toMatchObject({ enabled: true });
    // The test's clock was ahead when the slot failed; the slot is not taken again.
    expect(await runDueSchedules(pipeline.context, at)).toEqual([]);
    await runDueSchedules(pipeline.context, minutesAfter(again.next_run_at, NIGHT));
    await pipeline.runUntilIdle();
    expect((await runsOf(schedule)).at(-1)).toMatchObject({ state: 'completed', rows: 6 });
  });

  test('does not run while disabled, and does not make up for missed slots when enabled', async () => {
    const schedule = await make({ enabled: false });
    expect(schedule.next_run_at).toBeNull();
    const later = new Date(Date.now() + 10 * NIGHT * 60_000);
    expect(await runDueSchedules(pipeline.context, later)).toEqual([]);
    await send(caller, 'PATCH', `/${schedule.id}`, { enabled: true });
    const { next_run_at } = await show(schedule);
    expect(new Date(next_run_at ?? '').getTime()).toBeGreaterThan(Date.now());
  });

  test('keeps its next slot through other changes, and moves it with its times', async () => {
    const schedule = await make();
    await pipeline.sql`
      update schedules set next_run_at = '2020-01-01T02:30Z' where id = ${schedule.id}`;
    const renamed = await send(caller, 'PATCH', `/${schedule.id}`, { name: 'leads' });
    expect(await renamed.json()).toMatchObject({
      name: 'leads',
      next_run_at: '2020-01-01T02:30:00.000Z',
    });
    const moved = await send(caller, 'PATCH', `/${schedule.id}`, { time_zone: 'Asia/Kolkata' });
    expect(((await moved.json()) as ScheduleView).next_run_at).toMatch(/T21:00:00.000Z$/);
  });

  test('is deleted with its history; its exports stay, and a running one continues', async () => {
    const schedule = await make({ mode: 'new' });
    const at = minutesAfter(schedule.next_run_at, 0);
    const [id = ''] = await runDueSchedules(pipeline.context, at);
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    expect((await send(caller, 'DELETE', `/${schedule.id}`)).status).toBe(204);
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { matched: 6 } });
    const gone = await send(caller, 'GET', `/${schedule.id}`);
    await expectProblem(gone, { status: 404, code: 'not_found' });
    const [left] = await pipeline.sql`
      select count(*)::int as people from schedule_deliveries where schedule_id = ${schedule.id}`;
    expect(left).toEqual({ people: 0 });
  });

  test('is not found by other accounts or by a test key of the account', async () => {
    const schedule = await make();
    const strangers = [await pipeline.account(1), await pipeline.keyOf(caller.accountId, 'test')];
    for (const stranger of strangers) {
      for (const [method, path] of [
        ['GET', ''],
        ['PATCH', ''],
        ['DELETE', ''],
        ['GET', '/runs'],
      ] as const) {
        const body = method === 'PATCH' ? { enabled: false } : undefined;
        const answer = await send(stranger, method, `/${schedule.id}${path}`, body);
        await expectProblem(answer, { status: 404, code: 'not_found' });
      }
      expect(await (await send(stranger, 'GET', '')).json()).toEqual({
        data: [],
        next_cursor: null,
      });
    }
    expect(await show(schedule)).toMatchObject({ enabled: true });
  });

  test('of a test key exports made-up people and charges nothing', async () => {
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    const before = await pipeline.wallet(caller);
    const schedule = await make({ filter: 'id=1-9' }, tester);
    const [id = ''] = await runDueSchedules(
      pipeline.context,
      minutesAfter(schedule.next_run_at, 0),
    );
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(tester, id)).toMatchObject({ live: false, state: 'completed' });
    expect(await pipeline.wallet(caller)).toEqual(before);
  });

  test.each([
    [{ cron: '30 25 * * *' }, 'cron', 'hour `25` at position 4'],
    [{ cron: '* * * * *' }, 'cron', 'every 5 minutes'],
    [{ time_zone: 'Mars/Base' }, 'time_zone', 'Mars/Base'],
    [{ filter: 'nothing=1' }, 'nothing', ''],
    [{ fields: ['nothing'] }, 'fields', 'nothing'],
    [{ mode: 'some' }, 'mode', ''],
    [{ hold: true }, 'hold', 'is not a recognised parameter'],
  ])('with %j is refused, on creation and on change', async (wrong, field, said) => {
    const schedule = await make();
    for (const answer of [
      await send(caller, 'POST', '', { ...nightly, ...wrong }),
      await send(caller, 'PATCH', `/${schedule.id}`, wrong),
    ]) {
      expect(answer.status).toBe(400);
      const problem = JSON.stringify(await answer.json());
      expect(problem).toContain(field);
      expect(problem).toContain(said);
    }
    const { links, created_at, ...same } = await show(schedule);
    expect(schedule).toMatchObject(same);
  });
});

describe('the preview of the times of a schedule', () => {
  const preview = (times: Record<string, string>) =>
    send(caller, 'GET', `/preview?${new URLSearchParams(times)}`);

  test('has five, the first of them its next run', async () => {
    const times = { cron: '0 0 1 1 *', time_zone: 'Asia/Tokyo' };
    const { next_runs: runs } = (await (await preview(times)).json()) as { next_runs: string[] };
    const year = Number(runs[0]?.slice(0, 4));
    expect(runs).toEqual([0, 1, 2, 3, 4].map((more) => `${year + more}-12-31T15:00:00.000Z`));
    expect(await make(times)).toMatchObject({ next_run_at: runs[0] });
  });

  test.each([
    [{ cron: '0 25 * * *' }, 'cron'],
    [{ cron: '0 0 30 2 *' }, 'cron'],
    [{ time_zone: 'UTC' }, 'cron'],
    [{ cron: '0 2 * * *', time_zone: 'Mars/Base' }, 'time_zone'],
    [{ cron: '0 2 * * *', filter: 'id=1' }, 'filter'],
  ])('of %j are refused', async (times, field) => {
    const answer = await preview(times as Record<string, string>);
    const problem = await expectProblem(answer, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe(field);
  });
});

test('a metric shows how long the oldest due schedule has waited', async () => {
  const { sql } = pipeline;
  const schedule = await make();
  await make({ enabled: false });
  expect(await readServiceState(sql)).toMatchObject({ schedulesDue: 0, oldestDueSeconds: 0 });
  await sql`
    update schedules set next_run_at = now() - interval '90 seconds' where id = ${schedule.id}`;
  const state = await readServiceState(sql);
  expect(state?.schedulesDue).toBe(1);
  expect(state?.oldestDueSeconds).toBeGreaterThanOrEqual(90);
  expect(state?.oldestDueSeconds).toBeLessThan(120);
});
