/** A schedule that is run in addition to its slots. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { assertStillValid } from '../../core/sessions/still-valid.ts';
import { wakeExport } from '../export/create-export.ts';
import { runDueSchedules } from './run-due.ts';
import { runScheduleNow } from './run-now.ts';
import type { ScheduleView, viewRun } from './schedule-view.ts';

type RunView = ReturnType<typeof viewRun>;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: crowd(6) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

function post(path: string, body: object = {}, who = caller): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return pipeline.call(who, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function make(more: object): Promise<ScheduleView> {
  const request = { cron: '30 2 * * *', filter: 'id=1001-1999', fields: ['id'], ...more };
  return (await (await post('/v1/schedules', request)).json()) as ScheduleView;
}

const run = ({ id }: ScheduleView, who = caller) => post(`/v1/schedules/${id}/run`, {}, who);

async function runsOf({ id }: ScheduleView): Promise<RunView[]> {
  const page = await pipeline.call(caller, `/v1/schedules/${id}/runs`);
  return ((await page.json()) as { data: RunView[] }).data;
}

test('delivers new people once, besides the slots, which stay', async () => {
  const schedule = await make({ mode: 'new' });
  const started = await run(schedule);
  expect(started.status).toBe(202);
  const { export_id } = (await started.json()) as RunView;
  await pipeline.runUntilIdle();
  expect(await runsOf(schedule)).toMatchObject([{ state: 'completed', export_id, rows: 6 }]);
  const shown = await pipeline.call(caller, `/v1/schedules/${schedule.id}`);
  expect(await shown.json()).toMatchObject({ next_run_at: schedule.next_run_at });
  // Its people are delivered: the slot finds no one else.
  await runDueSchedules(pipeline.context, new Date(schedule.next_run_at ?? ''));
  await pipeline.runUntilIdle();
  expect(await runsOf(schedule)).toMatchObject([
    { slot: schedule.next_run_at, state: 'completed', rows: 0, credits: 0 },
    { export_id, credits: 6 },
  ]);
});

test('runs a disabled schedule, and not while a run is open or for another account', async () => {
  const schedule = await make({ enabled: false });
  const stranger = await pipeline.account(1000);
  await expectProblem(await run(schedule, stranger), { status: 404, code: 'not_found' });
  const both = await Promise.all([run(schedule), run(schedule)]);
  const [first, second] = both[0]?.status === 202 ? both : both.reverse();
  expect(first?.status).toBe(202);
  await expectProblem(second as Response, { status: 409, code: 'invalid_state' });
  await pipeline.runUntilIdle();
  expect(await runsOf(schedule)).toMatchObject([{ state: 'completed', rows: 6 }]);
  expect((await run(schedule)).status).toBe(202);
  await pipeline.runUntilIdle();
});

test('spends no more than the call or the schedule allows', async () => {
  const schedule = await make({ mode: 'new', max_credits: 5 });
  const start = (body: object) => post(`/v1/schedules/${schedule.id}/run`, body);
  expect((await start({ max_credits: 2 })).status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await runsOf(schedule)).toMatchObject([{ state: 'completed', rows: 2, credits: 2 }]);
  expect((await start({ max_credits: 9 })).status).toBe(202);
  await pipeline.runUntilIdle();
  const [latest] = await runsOf(schedule);
  expect(latest).toMatchObject({ state: 'completed', rows: 4, credits: 4 });
  const read = await pipeline.call(caller, `/v1/exports/${latest?.export_id}`);
  expect(await read.json()).toMatchObject({ credits: { max: 5 } });
});

test('begins when a slot comes due: the slot comes after it, and is skipped', async () => {
  const { sql, context } = pipeline;
  await sql`delete from schedules`;
  const schedule = await make({});
  const { accountId, keyId } = caller;
  const takeDue = () => runDueSchedules(context, new Date(schedule.next_run_at ?? ''));
  const run = await inTransaction(sql, async (tx) => {
    // As every call that changes something.
    await assertStillValid(tx, { keyId, sessionSha256: null });
    expect(await takeDue()).toEqual([]);
    const request = { id: schedule.id, maxCredits: null };
    return runScheduleNow(tx, context.config, { accountId, keyId, live: true }, request);
  });
  await wakeExport(context, run.batchId);
  expect(await takeDue()).toEqual([]);
  await pipeline.runUntilIdle();
  expect(await runsOf(schedule)).toMatchObject([
    { slot: schedule.next_run_at, state: 'skipped', reason: 'previous_run_open' },
    { state: 'completed', credits: 6 },
  ]);
});
