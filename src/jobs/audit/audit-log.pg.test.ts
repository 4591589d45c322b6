/** The audit of a log names the actions on lists that a database which went back in time forgot, and no other. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { auditLog } from './audit-log.ts';

const LIST = 'Email\np1@list.example\np2@list.example\n';

let pipeline: Pipeline;
let caller: Caller;

beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '1' });
  await importGraph(pipeline.sql, { persons: crowd(3) });
  caller = await pipeline.unmeteredAccount(1_000);
});
afterAll(() => pipeline.close());

type Action = 'start' | 'pause' | 'resume' | 'cancel' | 'delete';

async function act(id: string, action: Action): Promise<void> {
  const [method, route] = requestOf(action);
  const answer = await pipeline.call(caller, route.replace(':id', id), { method });
  expect(answer.status, await answer.text()).toBeLessThan(300);
}

function requestOf(action: Action): [method: string, route: string] {
  if (action === 'delete') return ['DELETE', '/v1/batches/:id'];
  return ['POST', `/v1/batches/:id/${action}`];
}

/** The line of an action's answer, that many seconds after the backup. */
function lineOf(id: string, action: Action, seconds: number, status = 202): string {
  const [method, route] = requestOf(action);
  const time = new Date(Date.UTC(2026, 10, 22, 12, 0, seconds)).toISOString();
  const request = { requestId: `r${seconds}`, method, route, status };
  return JSON.stringify({ time, msg: 'request', ...request, account: caller.accountId, batch: id });
}

async function* each(lines: string[]): AsyncGenerator<string> {
  yield* lines;
}

const forgotten = async (...lines: string[]) =>
  (await auditLog(pipeline.sql, each(lines))).actions.map(({ action, batch_id, state, reason }) => [
    action,
    batch_id,
    state,
    reason,
  ]);

/** A held list. */
async function hold(): Promise<string> {
  const options = { operation: 'people.enrich', hold: 'true' };
  const id = await pipeline.enrich(caller, LIST, options);
  expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'ready' });
  return id;
}

/** A list that was started and waits for a worker. */
async function startHeld(): Promise<string> {
  const id = await hold();
  await act(id, 'start');
  return id;
}

test('names a start and a cancellation since the backup, with what the database has instead', async () => {
  const held = await hold();
  const running = await startHeld();
  const lines = [lineOf(held, 'start', 1), lineOf(running, 'cancel', 2)];
  expect(await forgotten(...lines)).toEqual([
    ['start', held, 'ready', null],
    ['cancel', running, 'queued', null],
  ]);
  // Repeated on the restored service, they are no longer named.
  await act(held, 'start');
  await act(running, 'cancel');
  expect(await forgotten(...lines)).toEqual([]);
});

test('names a pause, a resumption and a deletion since the backup', async () => {
  const deleted = await pipeline.enrich(caller, LIST, { operation: 'people.enrich' });
  const resumed = await startHeld();
  await act(resumed, 'pause');
  const paused = await startHeld();
  const lines = [
    lineOf(paused, 'pause', 1),
    lineOf(resumed, 'resume', 2),
    lineOf(deleted, 'delete', 3, 204),
  ];
  expect(await forgotten(...lines)).toEqual([
    ['pause', paused, 'queued', null],
    ['resume', resumed, 'paused', 'user'],
    ['delete', deleted, 'completed', null],
  ]);
  await act(resumed, 'resume');
  await act(deleted, 'delete');
  await pipeline.runUntilIdle();
  // What has ended needs no pause.
  expect(await forgotten(...lines)).toEqual([]);
});

test('asks of each list only its last action, in whatever order the logs are', async () => {
  const id = await startHeld();
  await act(id, 'pause');
  const lines = [lineOf(id, 'resume', 2), lineOf(id, 'pause', 3), lineOf(id, 'start', 1)];
  expect(await forgotten(...lines)).toEqual([]);
  // The response of a pause is repeated for its Idempotency-Key, later than the cancellation.
  await act(id, 'resume');
  expect(await forgotten(lineOf(id, 'pause', 5), lineOf(id, 'cancel', 4), ...lines)).toEqual([
    ['cancel', id, 'queued', null],
  ]);
  // A refused action promised nothing.
  expect(await forgotten(lineOf(id, 'cancel', 6, 409))).toEqual([]);
});

test('tells exports, also those of schedules, from lists', async () => {
  const routes = ['/v1/batches', '/v1/batches/:id/rerun', '/v1/exports', '/v1/schedules/:id/run'];
  const ids = routes.map((_, index) => `00000000-0000-7000-8000-00000000000${index}`);
  const lines = routes.map((route, index) => {
    const request = { requestId: `n${index}`, method: 'POST', route, status: 202 };
    const time = new Date(0).toISOString();
    return JSON.stringify({
      time,
      msg: 'request',
      ...request,
      account: caller.accountId,
      batch: ids[index],
    });
  });
  const { lists } = await auditLog(pipeline.sql, each(lines));
  expect(lists.map(({ batch_id, kind }) => [batch_id, kind]).sort()).toEqual(
    ['list', 'list', 'export', 'export'].map((kind, index) => [ids[index], kind]),
  );
});

test('names the changes that it cannot compare, once for each account, call and thing', async () => {
  const line = (time: string, method: string, route: string, more: object = {}) =>
    JSON.stringify({ time, msg: 'request', status: 200, method, route, account: 'a', ...more });
  const { logged, changes } = await auditLog(
    pipeline.sql,
    each([
      line('12:00', 'PATCH', '/v1/schedules/:id'),
      line('12:05', 'PATCH', '/v1/schedules/:id', { enabled: false }),
      line('12:01', 'PATCH', '/v1/schedules/:id', { enabled: true }),
      line('12:09', 'PATCH', '/v1/schedules/:id', { account: 'b' }),
      line('12:02', 'DELETE', '/v1/do-not-contact', { status: 204 }),
      line('12:03', 'PATCH', '/v1/batches/:id', { batch: caller.accountId }),
      line('12:04', 'POST', '/admin/imports/:id/undo'),
      line('12:07', 'DELETE', '/v1/keys/:id', { object: 'k1' }),
      line('12:08', 'DELETE', '/v1/keys/:id', { object: 'k2' }),
      // Refused, without effect, or a list of its own.
      line('12:06', 'PATCH', '/v1/schedules/:id', { status: 404 }),
      line('12:06', 'POST', '/v1/webhooks/:id/test'),
      line('12:06', 'POST', '/v1/schedules/:id/run'),
      line('12:06', 'GET', '/v1/keys'),
      line('12:06', 'POST', '/v1/batches'),
    ]),
  );
  expect(logged).toBe(14);
  expect(
    changes.map(({ account_id, method, route, id, times, last_at, enabled }) => [
      last_at,
      `${method} ${route}`,
      account_id,
      id,
      times,
      ...(enabled === null ? [] : [enabled]),
    ]),
  ).toEqual([
    ['12:09', 'PATCH /v1/schedules/:id', 'b', null, 1],
    ['12:08', 'DELETE /v1/keys/:id', 'a', 'k2', 1],
    ['12:07', 'DELETE /v1/keys/:id', 'a', 'k1', 1],
    ['12:05', 'PATCH /v1/schedules/:id', 'a', null, 3, false],
    ['12:04', 'POST /admin/imports/:id/undo', 'a', null, 1],
    ['12:03', 'PATCH /v1/batches/:id', 'a', caller.accountId, 1],
    ['12:02', 'DELETE /v1/do-not-contact', 'a', null, 1],
  ]);
});
