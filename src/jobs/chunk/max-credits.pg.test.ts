/** A list at its `max_credits`: the pause, the raise, and the money under both. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { ada, crowd, crowdList, eve, smallGraph } from '../../../tests/support/small-graph.ts';
import { inTransaction } from '../../core/db/client.ts';
import { createKey } from '../../core/keys/keys.ts';
import { must } from '../../core/lib/assert.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from '../batch/batch-view.ts';
import { dispatch } from '../batch/dispatch.ts';

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(20) });
});
afterAll(() => pipeline.close());
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };

/** The file of a run without a limit. */
async function undisturbed(list: string): Promise<string> {
  const rich = await pipeline.account(1_000);
  return (await pipeline.results(rich, await pipeline.enrich(rich, list, options))).text;
}

/** Three of these five people have a mobile number, which costs 8. */
const mobiles = `email
${[ada.email, 'bob@home.example', ada.workEmail, eve.email, 'out@home.example'].join('\n')}
`;

const send = (caller: Caller, id: string, change: object) =>
  pipeline.call(caller, `/v1/batches/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(change),
  });
const cap = async (caller: Caller, id: string, max_credits: number | null) => {
  const response = await send(caller, id, { max_credits });
  expect(response.status).toBe(200);
  return (await response.json()) as BatchView;
};
const act = (caller: Caller, id: string, action: string) =>
  pipeline.call(caller, `/v1/batches/${id}/${action}`, { method: 'POST' });

test('pay the longest prefix and pause the list, and higher ones resume it to the same file', async () => {
  const list = crowdList('mm.mm..mmm');
  const whole = await undisturbed(list);
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, list, { ...options, max_credits: '3' });
  const capped = {
    state: 'paused',
    reason: 'max_credits',
    rows: { total: 10, processed: 4, matched: 3, no_match: 1, not_processed: 0 },
    credits: { charged: 3, reserved: 0, max: 3 },
  };
  expect(await pipeline.batch(caller, id)).toMatchObject(capped);
  const first = await pipeline.results(caller, id);
  expect(first.complete).toBe('false');
  expect(whole.startsWith(first.text)).toBe(true);
  expect(first.text.split('\n')).toHaveLength(6);

  // Credits, time and sweeps do not resume it.
  await pipeline.grant(caller, 100, 'more');
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject(capped);

  expect(await cap(caller, id, 5)).toMatchObject({ state: 'running', reason: null });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    credits: { charged: 5, reserved: 0, max: 5 },
  });
  expect(await cap(caller, id, null)).toMatchObject({ state: 'running', credits: { max: null } });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    rows: { processed: 10, matched: 7, not_processed: 0 },
    credits: { charged: 7 },
  });
  expect(await pipeline.results(caller, id)).toEqual({ text: whole, complete: 'true' });
  expect(await pipeline.wallet(caller)).toEqual({ balance: 193, reserved: 0 });
});

test('that are not enough for one more match keep the list paused', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, mobiles, {
    operation: 'people.mobile',
    max_credits: '20',
  });
  const paused = { state: 'paused', reason: 'max_credits', credits: { charged: 16 } };
  expect(await pipeline.batch(caller, id)).toMatchObject(paused);
  expect(await cap(caller, id, 23)).toMatchObject({ ...paused, credits: { max: 23 } });
  expect(await cap(caller, id, 24)).toMatchObject({ state: 'running', reason: null });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    credits: { charged: 24, reserved: 0, max: 24 },
  });
});

test('below what is charged and reserved are refused with both numbers', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, crowdList('mmmm'), { ...options, max_credits: '3' });
  const problem = await expectProblem(await send(caller, id, { max_credits: 2 }), {
    status: 409,
    code: 'max_credits_too_low',
  });
  expect(problem).toMatchObject({ charged: 3, reserved: 0 });
  expect(problem.detail).toContain('at least 3');
  expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { max: 3 } });
});

test('are raised to resume, and cancelled to end', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, crowdList('mmmm'), { ...options, max_credits: '3' });
  const refused = { status: 409, code: 'invalid_state' };
  const problem = await expectProblem(await act(caller, id, 'resume'), refused);
  expect(problem.detail).toContain('max_credits of 3 are used up');
  expect((await act(caller, id, 'cancel')).status).toBe(202);
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'cancelled',
    rows: { matched: 3, not_processed: 1 },
    credits: { charged: 3 },
  });
  await expectProblem(await send(caller, id, { max_credits: 4 }), refused);
});

test('can be changed alone in every state between the split and the end', async () => {
  const caller = await pipeline.account(100);
  const refused = { status: 409, code: 'invalid_state' };
  const id = await pipeline.upload(caller, crowdList('mm'), { ...options, hold: 'true' });
  await expectProblem(await send(caller, id, { max_credits: 9 }), refused);
  await pipeline.runUntilIdle();
  expect(await cap(caller, id, 9)).toMatchObject({ state: 'ready', credits: { max: 9 } });
  await act(caller, id, 'start');
  expect(await cap(caller, id, 1)).toMatchObject({ state: 'queued', credits: { max: 1 } });
  await act(caller, id, 'pause');
  const other = await send(caller, id, { max_credits: 2, name: 'other' });
  await expectProblem(other, refused);
  // A pause by a person ends by a person.
  expect(await cap(caller, id, 2)).toMatchObject({ state: 'paused', reason: 'user' });
  await act(caller, id, 'resume');
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    credits: { charged: 2, max: 2 },
  });
});

test.each(['.m', '..', '....m', '......m...'])(
  'of zero charge and reveal nothing: all of %s waits',
  async (pattern) => {
    const caller = await pipeline.account(100);
    const id = await pipeline.enrich(caller, crowdList(pattern), { ...options, max_credits: '0' });
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      rows: { processed: 0 },
    });
    expect(await pipeline.charges(caller)).toEqual([]);
  },
);

test('spent to the last credit still complete a list that ends with misses', async () => {
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, crowdList('mm.........'), {
    ...options,
    max_credits: '2',
  });
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    rows: { matched: 2, no_match: 9 },
  });
});

test('tell what a wallet of as many credits tells', async () => {
  for (const pattern of ['m...........m..m', 'mm..m', '.m.m.m', 'm.m']) {
    const list = crowdList(pattern);
    const short = await pipeline.account(1);
    const waits = await pipeline.enrich(short, list, options);
    const caller = await pipeline.account(100);
    const capped = await pipeline.enrich(caller, list, { ...options, max_credits: '1' });
    expect(await pipeline.results(caller, capped)).toEqual(await pipeline.results(short, waits));
    const { rows } = await pipeline.batch(short, waits);
    expect(await pipeline.batch(caller, capped)).toMatchObject({
      state: 'paused',
      reason: 'max_credits',
      rows,
    });
  }
});

test('that exceed the wallet wait for the wallet first', async () => {
  const caller = await pipeline.account(1);
  const id = await pipeline.enrich(caller, crowdList('mmm'), { ...options, max_credits: '2' });
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'insufficient_credits',
    credits: { charged: 1, max: 2 },
  });
  await pipeline.grant(caller, 100, 'top-up');
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    rows: { matched: 2 },
    credits: { charged: 2, max: 2 },
  });
});

test('hold with several workers', async () => {
  const caller = await pipeline.account(100);
  const list = crowdList('mmmmmmmmmmmmmmmmmmmm');
  const id = await pipeline.upload(caller, list, { ...options, max_credits: '7' });
  await pipeline.runUntilIdle(3);
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    rows: { matched: 7, not_processed: 0 },
    credits: { charged: 7 },
  });
});

test('that are raised while a part is written do not pause the list behind it', async () => {
  const caller = await pipeline.account(100);
  const list = crowdList('mmmmmm');
  const whole = await undisturbed(list);
  const id = await pipeline.upload(caller, list, { ...options, max_credits: '3' });
  pipeline.faults.put = async () => {
    delete pipeline.faults.put;
    // The part holds three of four matches: the fourth was refused under the old limit.
    expect(await cap(caller, id, 6)).toMatchObject({
      state: 'running',
      credits: { reserved: 3 },
    });
    const low = await send(caller, id, { max_credits: 2 });
    const tooLow = { status: 409, code: 'max_credits_too_low' };
    expect(await expectProblem(low, tooLow)).toMatchObject({ charged: 0, reserved: 3 });
  };
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'completed',
    credits: { charged: 6, max: 6 },
  });
  expect((await pipeline.results(caller, id)).text).toBe(whole);
});

test('that another chunk had reserved and lost resume the list', async () => {
  const caller = await pipeline.account(100);
  const list = crowdList('mmmmmmmm');
  const id = await pipeline.upload(caller, list, { ...options, max_credits: '4' });
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  const [first] = pipeline.queues.waiting.splice(0);
  let died: () => void = () => {};
  const atWrite = new Promise<void>((resolve) => {
    died = resolve;
  });
  pipeline.faults.put = () => {
    died();
    return new Promise(() => {});
  };
  // The first chunk reserves all four credits, and its process dies.
  void pipeline.queues.run(pipeline.context, must(first, 'a chunk'));
  await atWrite;
  delete pipeline.faults.put;
  await dispatch(pipeline.context);
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    credits: { charged: 0, reserved: 4 },
  });
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(caller, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    rows: { matched: 4 },
    credits: { charged: 4, reserved: 0 },
  });
});

test('raised twice at once, and while chunks commit, are used up and never exceeded', async () => {
  const list = crowdList('m'.repeat(20));
  const whole = await undisturbed(list);
  const caller = await pipeline.account(100);
  const id = await pipeline.enrich(caller, list, { ...options, max_credits: '1' });
  for (const [lower, higher] of [
    [3, 6],
    [9, 7],
    [13, 17],
  ] as const) {
    const raised = [lower, higher].map((max_credits) => send(caller, id, { max_credits }));
    await Promise.all([...raised, pipeline.runUntilIdle(3)]);
    // The first of them was too low when the other's credits were already spent.
    for (const { status } of await Promise.all(raised)) expect([200, 409]).toContain(status);
    await pipeline.runUntilIdle(3);
    const { credits, state, reason } = await pipeline.batch(caller, id);
    expect({ state, reason }).toEqual({ state: 'paused', reason: 'max_credits' });
    expect(credits).toMatchObject({ charged: credits.max, reserved: 0 });
    expect([lower, higher]).toContain(credits.max);
    expect((await pipeline.charges(caller)).reduce((sum, { units }) => sum + units, 0)).toBe(
      credits.charged,
    );
  }
  await cap(caller, id, 20);
  await pipeline.runUntilIdle(3);
  expect((await pipeline.results(caller, id)).text).toBe(whole);
  expect(await pipeline.wallet(caller)).toEqual({ balance: 80, reserved: 0 });
});

test('that are lowered at that moment are not raised again by a key that may spend less', async () => {
  const caller = await pipeline.account(100);
  const { accountId } = caller;
  const id = await pipeline.enrich(caller, crowdList('mmmmmm'), { ...options, max_credits: '3' });
  const { key } = await createKey(pipeline.sql, { accountId, mode: 'live', creditsPerDay: 1 });
  await pipeline.sql`update batches set max_credits = 9 where id = ${id}`;
  const { raising } = await inTransaction(pipeline.sql, async (tx) => {
    await tx`update batches set max_credits = 3 where id = ${id}`;
    const raising = send({ ...caller, key }, id, { max_credits: 9 });
    await pipeline.untilBlocked(1);
    return { raising };
  });
  await expectProblem(await raising, { status: 403, code: 'forbidden' });
  expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 3, max: 3 } });
});
