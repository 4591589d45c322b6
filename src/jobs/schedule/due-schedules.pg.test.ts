/** Many due schedules and schedules that cannot run do not delay those of other accounts. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { rowsRead } from '../../../tests/support/rows-read.ts';
import {
  minutesAfter,
  NIGHT,
  nightly,
  openScheduleCalls,
} from '../../../tests/support/schedule-calls.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { setOwnedDays } from '../../core/credits/owned.sql.ts';
import { inTransaction } from '../../core/db/client.ts';
import { assertStillValid } from '../../core/sessions/still-valid.ts';
import { findBatch } from '../batch/batches.sql.ts';
import { makeWebhook } from '../webhook/webhooks.test-suite.ts';
import { returnToSlots, runDueSchedules } from './run-due.ts';
import type { ScheduleView } from './schedule-view.ts';
import { deleteSchedule, hasOpenRun, takeDueSchedule } from './schedules.sql.ts';
import { requireOwnSchedule } from './schedules.ts';

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
  // Leaves no schedule for the next test.
  await pipeline.sql`delete from schedules`;
});

const { send, make, show, runsOf } = openScheduleCalls(() => ({ pipeline, caller }));

test('whether an export has not ended is read from the open exports, and from no past run', async () => {
  const { id } = await make();
  const { accountId } = caller;
  const read = await inTransaction(pipeline.sql, async (tx) => {
    expect(await hasOpenRun(tx, { id, accountId })).toBe(false);
    const [runs] = await tx<{ scans: number }[]>`
      select (seq_scan + idx_scan)::int as scans from pg_stat_xact_user_tables where relname = 'schedule_runs'`;
    return runs;
  });
  expect(read).toEqual({ scans: 0 });
});

test('the next schedule of an account is found without those of others, though thousands are due with it', async () => {
  const { sql } = pipeline;
  const { id } = await make();
  const other = await pipeline.account(1);
  const theirs = await make({}, other);
  const columns = sql`account_id, key_id, live, name, cron, time_zone, filter, format, mode, enabled, next_run_at`;
  await sql`
    insert into schedules (id, ${columns})
    select gen_random_uuid(), ${columns} from schedules, generate_series(1, 3000) where id = ${theirs.id}`;
  await sql`update schedules set next_run_at = now() + interval '1 hour'`;
  await sql`analyze schedules`;
  // The planner expects that none is due.
  await sql`update schedules set next_run_at = now() - interval '1 minute'`;
  const read = await rowsRead(sql, ['schedules'], async (tx) => {
    expect(await takeDueSchedule(tx, caller.accountId, new Date(), [])).toMatchObject({ id });
  });
  expect(read).toBeLessThan(10);
});

describe('a slot', () => {
  test('that cannot be taken does not delay the others', async () => {
    const broken = await make();
    const fine = await make();
    await pipeline.sql`update schedules set cron = 'x' where id = ${broken.id}`;
    const started = await runDueSchedules(pipeline.context, minutesAfter(fine.next_run_at, 0));
    expect(started).toHaveLength(1);
    await pipeline.runUntilIdle();
    expect(await runsOf(fine)).toMatchObject([{ state: 'completed' }]);
    expect(await runsOf(broken)).toMatchObject([{ state: 'failed', reason: 'internal_error' }]);
    // Its times cannot be read, so it has no next slot.
    expect(await show(broken)).toMatchObject({ enabled: false, next_run_at: null });
  });

  test('that fails for any reason is followed by the next one', async () => {
    const schedule = await make();
    const { sql, context } = pipeline;
    // Our code throws nothing for a validated export; the database can be made to.
    await sql`
      create function refuse_exports() returns trigger language plpgsql as $$
      begin raise exception 'poison'; end $$`;
    await sql`
      create trigger refuse_exports before insert on batches
      for each row when (new.kind = 'export') execute function refuse_exports()`;
    try {
      const failing = await runDueSchedules(context, minutesAfter(schedule.next_run_at, 0));
      expect(failing).toEqual([]);
    } finally {
      await sql`drop function refuse_exports cascade`;
    }
    const [id = ''] = await runDueSchedules(context, minutesAfter(schedule.next_run_at, NIGHT));
    // An export that fails is an end like any other.
    await sql`
      update batches set state = 'failed', error = '{"code": "search_timeout"}', finished_at = now()
      where id = ${id}`;
    await runDueSchedules(context, minutesAfter(schedule.next_run_at, 2 * NIGHT));
    await pipeline.runUntilIdle();
    expect(await runsOf(schedule)).toMatchObject([
      { state: 'failed', reason: 'internal_error', export_id: null },
      { state: 'failed', export_id: id },
      { state: 'completed', rows: 6 },
    ]);
  });

  test('is skipped when the account has made as many lists and exports today as it may', async () => {
    const schedule = await make();
    const { sql, context } = pipeline;
    const { accountId } = caller;
    const { webhook } = await makeWebhook(
      context,
      { accountId, live: true },
      {
        url: 'https://8.8.8.8/',
        events: ['schedule.skipped'],
        creditsLowThreshold: 1,
        enabled: true,
      },
    );
    // Kept for so long, the files allow the least that an account may make in a day.
    const config = { ...context.config, filesKeepDays: 10_000 };
    await sql`
      insert into day_counts (owner, day, requests) values (${accountId}, utc_today(), 999)`;
    for (const nights of [0, NIGHT]) {
      await runDueSchedules({ ...context, config }, minutesAfter(schedule.next_run_at, nights));
      await pipeline.runUntilIdle();
    }
    expect(await runsOf(schedule)).toMatchObject([
      { state: 'completed' },
      { state: 'skipped', reason: 'rate_limited' },
    ]);
    expect(await show(schedule)).toMatchObject({ enabled: true });
    const sent = await sql`select payload from webhook_deliveries where webhook_id = ${webhook.id}`;
    expect(sent).toMatchObject([{ payload: { data: { reason: 'rate_limited' } } }]);
  });

  test('starts after one of each other account, however many one account has due', async () => {
    const { sql, context, queues } = pipeline;
    for (let made = 0; made < 20; made++) await make({ name: 'theirs' });
    const mine = await pipeline.account(1000);
    const last = await make({ name: 'mine' }, mine);
    // The others have been due longer.
    await sql`
      update schedules set next_run_at = next_run_at - interval '1 minute'
      where account_id = ${caller.accountId}`;
    queues.waiting = [];
    const started = await runDueSchedules(context, minutesAfter(last.next_run_at, 0));
    expect(started).toHaveLength(21);
    const [export_] = await sql<{ id: string }[]>`
      select id from batches where schedule_id = ${last.id}`;
    expect(started.indexOf(export_?.id ?? '')).toBeLessThanOrEqual(1);
    await pipeline.runUntilIdle();
  });
});

test('a slot that comes due while a call changes its schedule is taken after the change, and keeps no other waiting', async () => {
  const { sql, context } = pipeline;
  const { id, next_run_at } = await make();
  const { accountId, keyId } = caller;
  const other = await pipeline.account(1000);
  await make({}, other);
  const takeDue = () => runDueSchedules(context, minutesAfter(next_run_at, 0));
  await inTransaction(sql, async (tx) => {
    // As every call that changes something: it locks the account, and then the schedule.
    await assertStillValid(tx, { keyId, sessionSha256: null });
    const [made = ''] = (await Promise.race([takeDue(), pipeline.untilBlocked(1)])) ?? [];
    expect(await findBatch(sql, made)).toMatchObject({ accountId: other.accountId });
    await requireOwnSchedule(tx, { accountId, live: true }, id, true);
  });
  const [made = ''] = await takeDue();
  expect(await findBatch(sql, made)).toMatchObject({ scheduleId: id });
});

describe('the schedules of an account', () => {
  test('are a hundred at most, also when created concurrently', async () => {
    const { sql } = pipeline;
    await make();
    await sql`
      insert into schedules (id, account_id, key_id, live, name, cron, time_zone, filter, format, mode, enabled)
      select gen_random_uuid(), account_id, key_id, live, name, cron, time_zone, filter, format, mode, false
      from schedules, generate_series(1, 96) where account_id = ${caller.accountId}`;
    // A test key counts towards the same hundred.
    const tester = await pipeline.keyOf(caller.accountId, 'test');
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(n % 2 ? caller : tester, 'POST', '', nightly)),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      const problem = await expectProblem(answer, { status: 409, code: 'too_many_schedules' });
      expect(problem.schedules_max).toBe(100);
    }
    const [count] = await sql`
      select count(*)::int as made from schedules where account_id = ${caller.accountId}`;
    expect(count).toEqual({ made: 100 });
    expect((await send(await pipeline.account(1), 'POST', '', nightly)).status).toBe(201);
  });
});

test('an export of new people whose schedule is deleted before they are found delivers no one again', async () => {
  const made = await make({ mode: 'new' });
  await runDueSchedules(pipeline.context, minutesAfter(made.next_run_at, 0));
  await pipeline.runUntilIdle();
  expect(await pipeline.wallet(caller)).toMatchObject({ balance: 994 });
  const next = await runDueSchedules(pipeline.context, minutesAfter(made.next_run_at, NIGHT));
  await send(caller, 'DELETE', `/${made.id}`);
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(caller, next[0] ?? '')).toMatchObject({
    state: 'failed',
    error: { code: 'cancelled' },
  });
  expect(await pipeline.wallet(caller)).toEqual({ balance: 994, reserved: 0 });
});

test.each([0, 30])(
  'with owned_days %i, a part that waits for the deletion of its schedule keeps no call of the account waiting',
  async (ownedDays) => {
    const { sql, context } = pipeline;
    await setOwnedDays(sql, caller.accountId, ownedDays);
    const made = await make({ mode: 'new' });
    const [id = ''] = await runDueSchedules(context, minutesAfter(made.next_run_at, 0));
    await pipeline.queues.runNext(context, 'write-ids');
    let running: Promise<void> = Promise.resolve();
    await inTransaction(sql, async (tx) => {
      await deleteSchedule(tx, made.id);
      running = pipeline.runUntilIdle();
      await pipeline.untilBlocked(1);
      const calling = pipeline.call(caller, '/v1/people/enrich?email=p1@list.example');
      const answered = calling.then(({ status }) => status);
      expect(await Promise.race([answered, pipeline.untilBlocked(2)])).toBe(200);
    });
    await running;
    expect(await pipeline.exportOf(caller, id)).toMatchObject({ rows: { matched: 6 } });
  },
);

test('no slot is taken while the clocks differ by a day, and each as soon as they agree', async () => {
  const schedule = await make();
  await pipeline.sql`update schedules set next_run_at = now() where id = ${schedule.id}`;
  vi.useFakeTimers({ now: Date.now() - 24 * 3_600_000, toFake: ['Date'] });
  const running = runDueSchedules(pipeline.context);
  await expect(running).rejects.toMatchObject({ code: 'clock_wrong' });
  vi.useRealTimers();
  expect(await runsOf(schedule)).toEqual([]);
  expect(await runDueSchedules(pipeline.context)).toHaveLength(1);
});

test('a schedule that ran before the clock was set back runs in its next slot, and in none twice', async () => {
  const monthly = { cron: '0 0 1 * *' };
  const [ran, made, other] = [await make(monthly), await make(monthly), await make(monthly)];
  const { context, sql } = pipeline;
  const slot = minutesAfter(ran.next_run_at, 0);
  const ids = (schedules: ScheduleView[]) => schedules.map(({ id }) => id);
  // Taken while the clock was a year ahead, as the first slot that was missed.
  await sql`update schedules set next_run_at = null, enabled = false where id <> ${ran.id}`;
  expect(await runDueSchedules(context, minutesAfter(ran.next_run_at, 365 * NIGHT))).toHaveLength(
    1,
  );
  await pipeline.runUntilIdle();
  await sql`
    update schedule_runs set created_at = created_at + interval '1 year' where schedule_id = ${ran.id}`;
  await sql`
    update schedules set enabled = true, next_run_at = ${slot}::timestamptz + interval '1 year',
      created_at = created_at + case when id = ${made.id} then interval '1 year' else interval '0' end
    where id = any(${ids([made, other])}::uuid[])`;
  const later = (await show(other)).next_run_at;
  for (let round = 0; round < 2; round++) await returnToSlots(context);
  expect((await show(ran)).next_run_at).toBe(ran.next_run_at);
  expect((await show(made)).next_run_at).toBe(ran.next_run_at);
  expect((await show(other)).next_run_at).toBe(later);
  await sql`delete from schedules where id = any(${ids([made, other])}::uuid[])`;
  expect(await runDueSchedules(context, slot)).toEqual([]);
  const second = minutesAfter((await show(ran)).next_run_at, 0);
  expect(await runDueSchedules(context, second)).toHaveLength(1);
  expect((await runsOf(ran)).map((run) => run.slot)).toEqual(
    [slot, second].map((at) => at.toISOString()),
  );
});
