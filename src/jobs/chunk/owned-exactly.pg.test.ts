/** Credits for the price of a list or an export are enough for all of it, for an account that pays for each person once. */
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { beforeFirstCommit, expectAgreement } from '../../../tests/support/money.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd } from '../../../tests/support/small-graph.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { inTransaction } from '../../core/db/client.ts';
import { dispatch } from '../batch/dispatch.ts';

const PEOPLE = 24;
const everyone = `id=1001-${1000 + PEOPLE}`;

let pipeline: Pipeline;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, { persons: crowd(PEOPLE) });
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.put;
  await expectAgreement(pipeline);
});

async function buyer(credits: number): Promise<Caller> {
  const caller = await pipeline.unmeteredAccount(credits);
  await changeOwnedDays(pipeline.sql, caller.accountId, 30);
  return caller;
}

/** A list of these people of the crowd, from 1. */
const list = (...people: number[]) =>
  `email\n${people.map((p) => `p${p}@list.example\n`).join('')}`;
const options = { operation: 'people.enrich', fields: 'id' };

/** Runs the next chunk, as another worker does. */
async function runAnother(): Promise<void> {
  await dispatch(pipeline.context);
  await pipeline.queues.runNext(pipeline.context, 'run-chunk');
}

/** Runs what waits for a moment. */
async function runLater(): Promise<void> {
  await pipeline.runUntilIdle();
  await pipeline.passAnHour();
  await pipeline.sweep();
  await pipeline.runUntilIdle();
}

/** Rows of two chunks that share people, and what they cost. */
const shared: [string, number[], number][] = [
  ['all', [1, 2, 3, 1, 3, 2], 3],
  ['some', [1, 2, 3, 1, 4, 3], 4],
];

test.each(shared)(
  'a list of which two chunks share %s people ends with its price, when they run at once',
  async (_, people, price) => {
    for (const [credits, limit] of [
      [100, { max_credits: String(price) }],
      [price, {}],
    ] as const) {
      const by = await buyer(credits);
      beforeFirstCommit(pipeline, runAnother);
      const id = await pipeline.upload(by, list(...people), { ...options, ...limit });
      await runLater();
      expect(await pipeline.batch(by, id)).toMatchObject({
        state: 'completed',
        rows: { matched: people.length },
        credits: { charged: price, reserved: 0 },
      });
    }
  },
);

test.each(shared)(
  'and when the second one, with %s people of the first, is priced before that is charged, and paid after it',
  async (_, people, max) => {
    const by = await buyer(100);
    const id = await pipeline.upload(by, list(...people), { ...options, max_credits: String(max) });
    let second: Promise<void> = Promise.resolve();
    let holding: Promise<void> = Promise.resolve();
    beforeFirstCommit(pipeline, async () => {
      await new Promise<void>((isLocked) => {
        holding = inTransaction(pipeline.sql, async (tx) => {
          await tx`select from batches where id = ${id} for update`;
          isLocked();
          // The commit of the first chunk, then the reservation of the second one.
          await pipeline.untilBlocked(1);
          second = runAnother();
          await pipeline.untilBlocked(2);
        });
      });
    });
    await pipeline.runUntilIdle();
    await Promise.all([holding, second]);
    await runLater();
    expect(await pipeline.batch(by, id)).toMatchObject({
      state: 'completed',
      rows: { matched: people.length },
      credits: { charged: max, reserved: 0 },
    });
  },
);

test('a list whose people are not all paid for pauses once, when nothing of it is in flight', async () => {
  const by = await buyer(100);
  beforeFirstCommit(pipeline, runAnother);
  const id = await pipeline.upload(by, list(1, 2, 3, 1, 3, 4), { ...options, max_credits: '3' });
  await runLater();
  expect(await pipeline.batch(by, id)).toMatchObject({
    state: 'paused',
    reason: 'max_credits',
    rows: { matched: 4 },
    credits: { charged: 3, reserved: 0 },
  });
});

const own = (by: Caller, ...people: number[]) => pipeline.enrich(by, list(...people), options);

test.each([
  ['in one part', null],
  ['in parts of one row', 1],
  ['in parts of five rows', 5],
])('an export has everyone before the first person beyond its max_credits, %s', async (_, rows) => {
  const owned = [2, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24];
  for (const [max, matched] of [
    [11, 24],
    [10, 11],
    [1, 2],
    [0, 0],
  ] as const) {
    const by = await buyer(100);
    await own(by, ...owned);
    const id = await pipeline.makeExport(by, {
      filter: everyone,
      fields: ['id'],
      max_credits: max,
    });
    await pipeline.queues.runNext(pipeline.context, 'write-ids');
    const shorten = () => pipeline.sql`
      update chunks set part_rows_max = ${rows} where batch_id = ${id} and state <> 'done'`;
    for (;;) {
      await shorten();
      if (!(await pipeline.queues.runNext(pipeline.context, 'run-chunk'))) break;
    }
    await pipeline.runUntilIdle();
    const { state, credits } = await pipeline.exportOf(by, id);
    expect({ max, state, charged: credits.charged }).toEqual({
      max,
      state: 'completed',
      charged: max,
    });
    const ids = Array.from({ length: matched }, (_, at) => `${1001 + at}\n`).join('');
    expect((await pipeline.people(by, id)).text).toBe(`person.id\n${ids}`);
  }
});

test('an account that begins to pay once while a part waits for the wallet pays once for the people of the part', async () => {
  const by = await pipeline.unmeteredAccount(100);
  let changing: Promise<unknown> = Promise.resolve();
  beforeFirstCommit(pipeline, async () => {
    await new Promise<void>((locked) => {
      changing = inTransaction(pipeline.sql, async (tx) => {
        await changeOwnedDays(tx, by.accountId, 30);
        locked();
        await pipeline.untilBlocked(1);
      });
    });
  });
  const id = await pipeline.enrich(by, list(1, 1, 2), options);
  await changing;
  expect(await pipeline.batch(by, id)).toMatchObject({
    state: 'completed',
    owned: 1,
    credits: { charged: 2, reserved: 0 },
  });
});
