import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { ada, crowd, crowdList, eve, smallGraph } from '../../../tests/support/small-graph.ts';
import { audit } from '../audit/audit.ts';

let pipeline: Pipeline;
/** Has more credits than any test needs, for results of undisturbed runs. */
let rich: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '4' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(20) });
  rich = await pipeline.account(100_000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };

/** Three of these five people have a mobile number, which costs 8. */
const mobile = { operation: 'people.mobile' };
const mobiles = `email
${[ada.email, 'bob@home.example', ada.workEmail, eve.email, 'out@home.example'].join('\n')}
`;

async function undisturbed(list: string, opts: Record<string, string> = options): Promise<string> {
  const id = await pipeline.enrich(rich, list, opts);
  const { text, complete } = await pipeline.results(rich, id);
  expect(complete).toBe('true');
  return text;
}

function rowsOf(text: string): number {
  return text.split('\n').length - 2;
}

describe('a wallet that is too small', () => {
  // Ten rows in chunks of four: the fourth match is row 5, the first row of the second chunk.
  const list = crowdList('m.mmm..mmm');

  test('is paid match by match, in however many parts of a chunk', async () => {
    const caller = await pipeline.account(1);
    const id = await pipeline.enrich(caller, list, options);
    // As after some thirty of them: the maximum rows of a part are doubled with each.
    await pipeline.sql`update chunks set part_rows_max = 1500000000 where batch_id = ${id}`;
    await pipeline.grant(caller, 100, `more-${id}`);
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed' });
    expect((await pipeline.results(caller, id)).text).toBe(await undisturbed(list));
  });

  test('pays the longest prefix, pauses the batch, and a grant resumes it to the same file', async () => {
    const whole = await undisturbed(list);
    const caller = await pipeline.account(2);
    const id = await pipeline.enrich(caller, list, options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'insufficient_credits',
      rows: { processed: 3, matched: 2, no_match: 1, not_processed: 0 },
      credits: { charged: 2, reserved: 0 },
    });
    expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
    const first = await pipeline.results(caller, id);
    expect(first.complete).toBe('false');
    expect(whole.startsWith(first.text)).toBe(true);
    expect(rowsOf(first.text)).toBe(3);

    // Without credits a sweep changes nothing.
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'paused' });

    await pipeline.grant(caller, 2, 'top-up-1');
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      reason: 'insufficient_credits',
      credits: { charged: 4, reserved: 0 },
    });

    await pipeline.grant(caller, 100, 'top-up-2');
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      reason: null,
      rows: { total: 10, processed: 10, matched: 7, no_match: 3 },
      credits: { charged: 7, reserved: 0 },
    });
    expect(await pipeline.results(caller, id)).toEqual({ text: whole, complete: 'true' });
    expect(await pipeline.wallet(caller)).toEqual({ balance: 97, reserved: 0 });

    const charges = await pipeline.charges(caller);
    expect(new Set(charges.map((line) => line.reference)).size).toBe(charges.length);
    expect(charges.reduce((sum, line) => sum + line.units, 0)).toBe(7);
    expect(charges.reduce((sum, line) => sum + line.amount, 0)).toBe(-7);
    expect(charges[0]?.reference).toBe(`batch:${id}:1:0`);
  });

  test.each(['m...', '..m.', '....', '....m', '....m....'])(
    'of zero reveals nothing about a list: all of %s waits',
    async (pattern) => {
      const caller = await pipeline.account(0);
      const id = await pipeline.enrich(caller, crowdList(pattern), options);
      expect(await pipeline.batch(caller, id)).toMatchObject({
        state: 'paused',
        reason: 'insufficient_credits',
        rows: { processed: 0 },
        credits: { charged: 0, reserved: 0 },
      });
      await pipeline.grant(caller, 1, 'one');
      await pipeline.sweep();
      await pipeline.runUntilIdle();
      const found = pattern.includes('m') ? 1 : 0;
      expect(await pipeline.batch(caller, id)).toMatchObject({
        state: 'completed',
        rows: { matched: found, no_match: pattern.length - found },
        credits: { charged: found },
      });
    },
  );

  test('of zero still completes a list without usable rows', async () => {
    const caller = await pipeline.account(0);
    const id = await pipeline.enrich(caller, 'email\nnone\nnothing\n', options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      rows: { invalid: 2 },
    });
  });

  test('spent to the last credit still completes a list that ends with misses', async () => {
    const caller = await pipeline.account(2);
    const id = await pipeline.enrich(caller, crowdList('mm.........'), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      rows: { matched: 2, no_match: 9 },
    });
  });

  test('keeps a remainder below the price of a match', async () => {
    const caller = await pipeline.account(20);
    const id = await pipeline.enrich(caller, mobiles, mobile);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'paused',
      rows: { processed: 4, matched: 2, no_match: 2 },
      credits: { charged: 16, reserved: 0 },
    });
    expect(await pipeline.wallet(caller)).toEqual({ balance: 4, reserved: 0 });
    // Less than the price of a row resumes nothing.
    await pipeline.grant(caller, 3, 'nearly');
    await pipeline.sweep();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'paused' });
    await pipeline.grant(caller, 1, 'there');
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      credits: { charged: 24 },
    });
  });

  test('yields the file of an undisturbed run, however credits are added', async () => {
    const pattern = fc.string({
      unit: fc.constantFrom('m', '.'),
      minLength: 1,
      maxLength: 14,
    });
    const feed = fc.record({
      pattern,
      credits: fc.nat({ max: 5 }),
      grants: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 4 }),
      chunkRows: fc.integer({ min: 1, max: 6 }),
      workers: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(feed, async ({ pattern, credits, grants, chunkRows, workers }) => {
        const list = crowdList(pattern);
        const whole = await undisturbed(list);
        const caller = await pipeline.account(credits);
        const { queues } = pipeline;
        const config = { ...pipeline.context.config, chunkRows };
        const context = { ...pipeline.context, config };
        const id = await pipeline.upload(caller, list, options);
        await queues.runUntilIdle(context, workers);
        for (const [index, amount] of [...grants, 100].entries()) {
          const { text } = await pipeline.results(caller, id);
          expect(whole.startsWith(text)).toBe(true);
          await pipeline.grant(caller, amount, `grant-${index}`);
          await pipeline.passAnHour();
          await pipeline.sweep();
          await queues.runUntilIdle(context, workers);
        }
        expect((await pipeline.results(caller, id)).text).toBe(whole);
        const matched = [...pattern].filter((letter) => letter === 'm').length;
        const granted = grants.reduce((sum, amount) => sum + amount, credits + 100);
        expect(await pipeline.wallet(caller)).toEqual({ balance: granted - matched, reserved: 0 });
        expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
      }),
      { numRuns: 12 },
    );
  });
});

describe('a test key', () => {
  test('reads the test graph and never touches the wallet', async () => {
    const live = await pipeline.account(0);
    const caller = await pipeline.keyOf(live.accountId, 'test');
    await importGraph(pipeline.context.testSql, { persons: [{ id: 5, email: 'p1@list.example' }] });
    const id = await pipeline.enrich(caller, crowdList('mm'), options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      live: false,
      rows: { matched: 1, no_match: 1 },
      credits: { charged: 0, reserved: 0 },
    });
    expect((await pipeline.results(caller, id)).text).toContain('matched,email,,false,0,5');
    expect(await pipeline.charges(caller)).toEqual([]);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 0, reserved: 0 });
  });
});

describe('a crash', () => {
  test('after the reservation releases the credits, and the next attempt charges once', async () => {
    const list = crowdList('mm.m');
    const whole = await undisturbed(list);
    const caller = await pipeline.account(10);
    const id = await pipeline.upload(caller, list, options);
    let reservedAtCrash = -1;
    pipeline.faults.put = async () => {
      reservedAtCrash = (await pipeline.wallet(caller))?.reserved ?? -1;
      throw new Error('no space left on device');
    };
    await pipeline.runUntilIdle();
    delete pipeline.faults.put;
    expect(reservedAtCrash).toBe(3);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });

    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect((await pipeline.results(caller, id)).text).toBe(whole);
    expect(await pipeline.charges(caller)).toEqual([
      { reference: `batch:${id}:1:0`, amount: -3, units: 3 },
    ]);
  });

  test('of the process leaves a lease that the sweep reclaims, with its reservation', async () => {
    const list = crowdList('mm.m');
    const whole = await undisturbed(list);
    const caller = await pipeline.account(10);
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    const [woken] = pipeline.queues.waiting;
    if (woken === undefined) throw new Error('no chunk waits');
    // The process dies in the middle of the write: nothing after it ever runs.
    let died: () => void = () => {};
    const atWrite = new Promise<void>((resolve) => {
      died = resolve;
    });
    pipeline.faults.put = () => {
      died();
      return new Promise(() => {});
    };
    void pipeline.queues.run(pipeline.context, woken);
    await atWrite;
    delete pipeline.faults.put;
    expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 3 });

    await pipeline.passAnHour();
    await pipeline.sweep();
    expect(await pipeline.wallet(caller)).toEqual({ balance: 10, reserved: 0 });
    await pipeline.runUntilIdle();
    expect((await pipeline.results(caller, id)).text).toBe(whole);
    expect(await pipeline.charges(caller)).toHaveLength(1);
    expect(await pipeline.wallet(caller)).toEqual({ balance: 7, reserved: 0 });
  });
});
