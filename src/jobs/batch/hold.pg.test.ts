/** A held list can be previewed, changed, quoted and started before any charge. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import type { BatchView } from './batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(9) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

const held = { operation: 'people.enrich', fields: 'id', hold: 'true' };

async function send(method: string, path: string, body?: unknown, as = caller): Promise<Response> {
  return pipeline.call(as, `/v1/batches/${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
}

async function act(id: string, action: string, as = caller): Promise<BatchView> {
  const response = await send('POST', `${id}/${action}`, undefined, as);
  expect(response.status).toBe(202);
  return (await response.json()) as BatchView;
}

async function patch(id: string, body: unknown): Promise<BatchView> {
  const response = await send('PATCH', id, body);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  return JSON.parse(text) as BatchView;
}

async function quoteOf(id: string, as = caller) {
  expect((await act(id, 'quote', as)).quote).toMatchObject({ state: 'running' });
  await pipeline.runUntilIdle();
  return (await pipeline.batch(as, id)).quote;
}

const list = 'Contact,Other,Note\np1@list.example,p2@list.example,x\nnobody@list.example,,"y\nz"\n';

describe('hold', () => {
  test('keeps a list in ready, unmatched and uncharged, until it is started', async () => {
    const id = await pipeline.enrich(caller, list, { ...held, mapping: '{"email":"Contact"}' });
    await pipeline.sweep();
    await pipeline.passAnHour();
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'ready',
      rows: { total: 2, processed: 0 },
      started_at: null,
      credits: { charged: 0, reserved: 0 },
    });
    expect((await act(id, 'start')).state).toBe('queued');
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed', quote: null });
    const invalidState = { status: 409, code: 'invalid_state' };
    const again = await expectProblem(await send('POST', `${id}/start`), invalidState);
    expect(again.state).toBe('completed');
  });

  test('shows in a preview how rows are read, before and after a change', async () => {
    const id = await pipeline.enrich(caller, list, { ...held, mapping: '{"email":"Contact"}' });
    const preview = async () => {
      const response = await send('GET', `${id}/preview`);
      return (await response.json()) as { rows: unknown[]; dialect: unknown; mapping: unknown };
    };
    expect(await preview()).toMatchObject({
      dialect: { encoding: 'utf-8', delimiter: ',', newline: '\n', doubts: [] },
      mapping: { email: [{ column: 1, header: 'Contact', reason: 'chosen' }] },
      rows: [
        {
          row: 1,
          line: 2,
          cells: ['p1@list.example', 'p2@list.example', 'x'],
          identifiers: { email: ['p1@list.example'] },
          invalid: null,
        },
        { row: 2, line: 3, cells: ['nobody@list.example', '', 'y\nz'], invalid: null },
      ],
    });
    await patch(id, { mapping: { email: ['Other'] } });
    expect((await preview()).rows).toMatchObject([
      { identifiers: { email: ['p2@list.example'] } },
      { identifiers: {}, invalid: 'no_identifier' },
    ]);
  });

  test('of a list with a guessed dialect names the guesses to check', async () => {
    const guess = Buffer.from('Ann Lovely\nJos\xe9 Sample\n', 'latin1');
    const query = { ...held, operation: 'companies.enrich', mapping: '{"name":1}' };
    const id = await pipeline.enrich(caller, guess, query);
    const { dialect } = await pipeline.batch(caller, id);
    expect(dialect).toMatchObject({ encoding: 'windows-1252', doubts: ['encoding', 'header'] });
  });
});

describe('a change', () => {
  test('of each option is accepted and applied in the run', async () => {
    const people = ['p1@list.example,Bob Brown', 'p1@list.example,x', 'p2@list.example,x'];
    const rows = `A,B\n${people.join('\n')}\np3@list.example,x\n`;
    const id = await pipeline.enrich(caller, rows, { ...held, mapping: '{"email":"A"}' });
    const changed = await patch(id, {
      name: 'Renamed',
      mapping: { email: 1, person_name: 'B' },
      fields: ['id', 'email'],
      default_region: 'France',
      country: 'DE',
      max_credits: 2,
      dedupe: true,
      require_agreement: true,
    });
    expect(changed).toMatchObject({ name: 'Renamed', credits: { max: 2 } });
    const [stored] = await pipeline.sql`
      select default_region, country from batches where id = ${id}`;
    expect(stored).toEqual({ defaultRegion: 'FR', country: 'DE' });
    await act(id, 'start');
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ reason: 'max_credits' });
    const { text } = await pipeline.results(caller, id);
    expect(text.split('\n').map((line) => line.split(',').slice(2).join(','))).toEqual([
      'match.status,match.by,match.reason,match.conflict,match.credits,match.agrees,person.id,person.email',
      'matched,email,,false,1,unknown,1001,p1@list.example',
      'duplicate,email,same_record_as_row_1,false,0,unknown,1001,p1@list.example',
      'matched,email,,false,1,unknown,1002,p2@list.example',
      '',
    ]);
  });

  test('to null removes an option', async () => {
    const id = await pipeline.enrich(caller, list, {
      ...held,
      mapping: '{"email":1}',
      max_credits: '1',
      default_region: 'FR',
      country: 'FR',
    });
    const change = { max_credits: null, fields: null, default_region: null, country: null };
    expect(await patch(id, change)).toMatchObject({ credits: { max: null } });
    const [stored] = await pipeline.sql`
      select fields, default_region, country from batches where id = ${id}`;
    expect(stored).toEqual({ fields: null, defaultRegion: null, country: null });
  });

  test.each([
    [{ mapping: { email: 'Nothing' } }, 'mapping'],
    [{ mapping: { email: 9 } }, 'mapping'],
    [{ mapping: {} }, 'mapping'],
    [{ mapping: 'email' }, 'mapping'],
    [{ fields: ['shoe_size'] }, 'fields'],
    [{ max_credits: -1 }, 'max_credits'],
    [{ country: 'Atlantis' }, 'country'],
    [{ dedupe: 'yes' }, 'dedupe'],
    [{ state: 'completed' }, 'state'],
    [{ credits: { charged: 0 } }, 'credits'],
  ])('that is invalid is refused by field and changes nothing: %j', async (body, field) => {
    const id = await pipeline.enrich(caller, list, { ...held, mapping: '{"email":1}' });
    const before = await pipeline.batch(caller, id);
    const response = await send('PATCH', id, body);
    expect([400, 422]).toContain(response.status);
    const problem = (await response.json()) as { errors: { field: string }[] };
    expect(problem.errors[0]?.field).toBe(field);
    expect(await pipeline.batch(caller, id)).toEqual(before);
  });

  test('is refused in every other state', async () => {
    const id = await pipeline.upload(caller, list, { ...held, mapping: '{"email":1}' });
    const others = [
      'created',
      'validating',
      'queued',
      'running',
      'finalizing',
      'cancelling',
      'cancelled',
    ] as const;
    const invalidState = { status: 409, code: 'invalid_state' };
    await expectProblem(await send('PATCH', id, { dedupe: true }), invalidState);
    await pipeline.runUntilIdle();
    for (const state of others) {
      await pipeline.sql`update batches set state = ${state} where id = ${id}`;
      const problem = await expectProblem(await send('PATCH', id, { dedupe: true }), invalidState);
      expect(problem.state).toBe(state);
      await expectProblem(await send('POST', `${id}/quote`), invalidState);
      await expectProblem(await send('POST', `${id}/start`), invalidState);
    }
  });
});

describe('a quote', () => {
  test('is never below the charge of the following run, whatever its options', async () => {
    const shown = ['p1@list.example', 'p2@list.example', 'nobody@list.example', 'no address'];
    const known = ['ada@home.example', 'ada@acme.example', 'bob@home.example', 'eve@home.example'];
    const row = fc.record({
      email: fc.constantFrom(...shown, ...known),
      name: fc.constantFrom('', 'Ada Lovely', 'Bob Brown'),
    });
    const run = fc.record({
      rows: fc.array(row, { minLength: 1, maxLength: 40, size: 'max' }),
      operation: fc.constantFrom('people.enrich', 'people.mobile', 'people.email-verify'),
      dedupe: fc.boolean(),
      agreement: fc.boolean(),
      max: fc.option(fc.nat({ max: 40 })),
    });
    const seen = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(run, async ({ rows, operation, dedupe, agreement, max }) => {
        const payer = await pipeline.account(1000);
        const lines = rows.map(({ email, name }) => `${email},${name}`);
        const id = await pipeline.enrich(payer, `email,name\n${lines.join('\n')}\n`, {
          operation,
          hold: 'true',
          dedupe: String(dedupe),
          require_agreement: String(agreement),
          mapping: '{"email":1,"person_name":2}',
          ...(max === null ? {} : { max_credits: String(max) }),
        });
        const quote = await quoteOf(id, payer);
        expect(quote).toMatchObject({ state: 'done', affordable: true });
        expect(await pipeline.charges(payer)).toEqual([]);
        await act(id, 'start', payer);
        await pipeline.runUntilIdle();
        const batch = await pipeline.batch(payer, id);
        const { total, processed: _, ...outcomes } = batch.rows;
        const price = operation === 'people.mobile' ? 8 : 1;
        const invalid = rows.filter(({ email }) => email === 'no address').length;
        const told = quote?.credits ?? 0;
        seen.add(quote?.credits_is);
        if (quote?.credits_is === 'at_most' || told === 0) {
          expect(quote?.rows).toEqual({ invalid });
          expect(told).toBe(Math.min(9, (total ?? 0) - invalid) * price);
          expect(outcomes.matched).toBeLessThan(10);
          expect(batch.credits.charged).toBeLessThanOrEqual(told);
        } else if (max === null) {
          expect(quote?.rows).toEqual(outcomes);
          expect(told).toBe(batch.credits.charged);
        } else {
          // A limit cuts the run but not the quote.
          const most = Math.floor(max / price) * price;
          expect(batch.credits.charged).toBe(Math.min(most, told));
        }
        expect((await pipeline.wallet(payer))?.balance).toBe(1000 - batch.credits.charged);
      }),
      { numRuns: 60, seed: 7 },
    );
    // The property is meaningful only if both cases occurred.
    expect(seen).toEqual(new Set(['exact', 'at_most']));
  });

  test('is the same for any limit on credits', async () => {
    const rows = Array.from({ length: 12 }, (_, n) => `p${(n % 9) + 1}@list.example\n`).join('');
    const id = await pipeline.enrich(caller, `email\nnobody@list.example\n${rows}`, held);
    const whole = await quoteOf(id);
    expect(whole).toMatchObject({
      rows: { matched: 12, no_match: 1, not_processed: 0 },
      credits: 12,
      credits_is: 'exact',
    });
    for (const max of [0, 1, 5]) {
      await patch(id, { max_credits: max });
      expect(await quoteOf(id)).toEqual({
        ...whole,
        asked_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      });
    }
  });

  test('is metered as a request of the key, at most five times a minute for each list', async () => {
    const asker = await pipeline.account(5);
    await pipeline.sql`update api_keys set requests_per_minute = 7 where id = ${asker.keyId}`;
    const id = await pipeline.enrich(asker, list, { ...held, mapping: '{"email":1}' });
    const other = await pipeline.enrich(asker, list, { ...held, mapping: '{"email":1}' });
    for (let asked = 0; asked < 5; asked++) await act(id, 'quote', asker);
    const often = await send('POST', `${id}/quote`, undefined, asker);
    const problem = await expectProblem(often, { status: 429, code: 'rate_limited' });
    expect(problem.detail).toContain('quotes of one batch');
    expect(Number(often.headers.get('retry-after'))).toBeGreaterThan(0);
    await act(other, 'quote', asker);
    const beyond = await send('POST', `${other}/quote`, undefined, asker);
    expect(await expectProblem(beyond, { status: 429, code: 'rate_limited' })).toMatchObject({
      limit: 'requests a minute',
    });
  });

  test('above the wallet is marked unaffordable, and one of a test key costs nothing', async () => {
    const poor = await pipeline.account(1);
    const two = 'email\np1@list.example\np2@list.example\n';
    const id = await pipeline.enrich(poor, two, held);
    expect(await quoteOf(id, poor)).toMatchObject({
      rows: { invalid: 0 },
      credits: 2,
      credits_is: 'at_most',
      affordable: false,
    });
    const tester = await pipeline.keyOf(poor.accountId, 'test');
    await importGraph(pipeline.context.testSql, { persons: crowd(1) });
    const free = await pipeline.enrich(tester, two, { ...held, max_credits: '0' });
    expect(await quoteOf(free, tester)).toMatchObject({
      rows: { invalid: 0 },
      credits: 0,
      credits_is: 'exact',
      affordable: true,
    });
  });

  test('overtaken by a change is computed again', async () => {
    const two = 'email,other\np1@list.example,\np2@list.example,x\n';
    const id = await pipeline.enrich(caller, two, { ...held, mapping: '{"email":1}' });
    await act(id, 'quote');
    let changed = false;
    pipeline.faults.get = async () => {
      if (changed) return;
      changed = true;
      expect((await patch(id, { mapping: { email: 2 } })).quote).toBeNull();
      await act(id, 'quote');
    };
    // The worker that holds it notices, and starts again.
    pipeline.queues.mustStop = false;
    await pipeline.runUntilIdle();
    pipeline.queues.mustStop = true;
    delete pipeline.faults.get;
    expect((await pipeline.batch(caller, id)).quote).toMatchObject({
      state: 'done',
      rows: { invalid: 2 },
      credits: 0,
    });
  });

  test('that is no longer needed is dropped', async () => {
    const id = await pipeline.enrich(caller, list, { ...held, mapping: '{"email":1}' });
    await act(id, 'quote');
    expect((await act(id, 'start')).quote).toBeNull();
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({ state: 'completed', quote: null });
  });

  test('whose wake-up is lost is found by the sweep', async () => {
    const id = await pipeline.enrich(caller, list, { ...held, mapping: '{"email":1}' });
    await act(id, 'quote');
    pipeline.queues.waiting = [];
    await pipeline.sql`
      update batches set created_at = created_at - interval '1 hour' where id = ${id}`;
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    expect((await pipeline.batch(caller, id)).quote).toMatchObject({ state: 'done', credits: 2 });
  });
});
