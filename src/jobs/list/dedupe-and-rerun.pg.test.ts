/** Dedupe charges once per record; a rerun charges only for rows that did not match. */
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { entityCodes } from '../../core/graph/source-entities.ts';
import { audit } from '../audit/audit.ts';
import type { BatchView } from '../batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '3' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(9) });
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());
afterEach(async () => {
  delete pipeline.faults.put;
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});

const options = { operation: 'people.enrich', fields: 'id' };

async function lines(id: string): Promise<string[]> {
  return (await pipeline.results(caller, id)).text.split('\n').slice(0, -1);
}

async function rerun(id: string, outcomes: string[], headers = {}): Promise<Response> {
  return pipeline.call(caller, `/v1/batches/${id}/rerun`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ outcomes }),
  });
}

describe('dedupe', () => {
  // Rows 1 and 5 are one record with two addresses; 2, 3 and 9 are another.
  const emails = [
    'ada@home.example',
    'p1@list.example',
    'P1@list.example ',
    'nobody@list.example',
    'ada@acme.example',
    'nobody@list.example',
    'p2@list.example',
    'no address',
    'p1@list.example',
    'p2@list.example',
  ];
  const list = `email\n${emails.join('\n')}\n`;
  const expected = [
    'matched,email,,false,1,1',
    'matched,email,,false,1,1001',
    'duplicate,email,same_record_as_row_2,false,0,1001',
    'no_match,email,not_found,,0,',
    'duplicate,email,same_record_as_row_1,false,0,1',
    'no_match,email,not_found,,0,',
    'matched,email,,false,1,1002',
    'invalid,,not_an_email,,0,',
    'duplicate,email,same_record_as_row_2,false,0,1001',
    'duplicate,email,same_record_as_row_7,false,0,1002',
  ];
  const outcomesOf = async (id: string) =>
    (await lines(id)).slice(1).map((line) => line.slice(line.indexOf(',') + 1));

  test.each([1, 2, 4])('names the first row of a record, with %d workers', async (workers) => {
    for (const chunkRows of [1, 2, 3, 100]) {
      const id = await pipeline.upload(caller, list, { ...options, dedupe: 'true' });
      const { context, queues } = pipeline;
      const config = { ...context.config, chunkRows };
      await queues.runUntilIdle({ ...context, config }, workers);
      expect(await outcomesOf(id)).toEqual(expected);
      expect(await pipeline.batch(caller, id)).toMatchObject({
        rows: { matched: 3, duplicate: 4, no_match: 2, invalid: 1 },
        credits: { charged: 3 },
      });
    }
  });

  test('charges once for records that an import joins between their comparison and the commit', async () => {
    const { sql } = pipeline;
    const joined = [
      { id: 1006, intoId: 1005 },
      { id: 1007, intoId: 1004 },
    ];
    pipeline.faults.put = async (key) => {
      const chunk = Number(/\/parts\/(\d+)-/.exec(key)?.[1]);
      const { id = 0, intoId = 0 } = joined[chunk - 1] ?? {};
      await sql`
        insert into merged_ids (entity, id, into_id, import_id) values (${entityCodes.person}, ${id}, ${intoId}, 0)
        on conflict do nothing`;
    };
    const text = `email\n${[4, 5, 6, 7, 8].map((n) => `p${n}@list.example\n`).join('')}`;
    const id = await pipeline.enrich(caller, text, { ...options, dedupe: 'true' });
    await sql`delete from merged_ids where id = any(${joined.map((one) => one.id)}::bigint[])`;
    expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 3 } });
    const [, , third, fourth] = (await lines(id)).slice(1);
    expect(third).toContain('same_record_as_row_2');
    expect(fourth).toContain('same_record_as_row_1');
  });

  test('survives an empty wallet and a worker that dies', async () => {
    const poor = await pipeline.account(1);
    const id = await pipeline.upload(poor, list, { ...options, dedupe: 'true' });
    for (let grant = 0; grant < 4; grant++) {
      pipeline.faults.put = async () => {
        delete pipeline.faults.put;
        throw new Error('the disk is unavailable');
      };
      await pipeline.runUntilIdle();
      await pipeline.passAnHour();
      await pipeline.sweep();
      await pipeline.runUntilIdle();
      await pipeline.grant(poor, 1, `grant ${grant}`);
      await pipeline.sweep();
    }
    await pipeline.runUntilIdle();
    const { text } = await pipeline.results(poor, id);
    expect(text.split('\n').slice(1, -1)).toEqual(
      emails.map((email, index) => `${email},${expected[index]}`),
    );
  });

  test('holds for reruns too, which name the row of the list that was uploaded', async () => {
    const buyer = await pipeline.account(100);
    const text = ['p3', 'new1', 'new2', 'new3', 'new4'].map((name) => `${name}@list.example\n`);
    const id = await pipeline.enrich(buyer, `email\n${text.join('')}`, {
      ...options,
      dedupe: 'true',
    });
    const again = async (hold = false) => {
      const response = await pipeline.call(buyer, `/v1/batches/${id}/rerun`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ outcomes: ['no_match', 'duplicate'], hold }),
      });
      const made = (await response.json()) as BatchView;
      await pipeline.runUntilIdle();
      return made.id;
    };
    const outcomes = async (list: string) =>
      (await pipeline.results(buyer, list)).text
        .split('\n')
        .slice(1, -1)
        .map((line) =>
          line
            .split(',')
            .filter((_cell, at) => [0, 1, 3, 6].includes(at))
            .join(' '),
        );
    // The list has matched person 1003; a second address becomes known, and those of a person whom it has not.
    const learn = (id: number, ...emails: string[]) =>
      importGraph(pipeline.sql, {
        persons: emails.map((email, at) => ({
          id,
          ...(at === 0 ? { email } : { workEmail: email }),
        })),
      });
    await importGraph(pipeline.sql, {
      persons: [
        { id: 1003, email: 'p3@list.example', workEmail: 'new1@list.example' },
        { id: 601, email: 'new2@list.example', workEmail: 'new4@list.example' },
      ],
    });
    const first = await again();
    expect(await outcomes(first)).toEqual([
      'new1@list.example duplicate same_record_as_row_1 ',
      'new2@list.example matched  601',
      'new3@list.example no_match not_found ',
      'new4@list.example duplicate same_record_as_row_3 601',
    ]);
    await learn(601, 'new2@list.example', 'new3@list.example');
    const held = await again(true);
    await pipeline.call(buyer, `/v1/batches/${held}/quote`, { method: 'POST' });
    await pipeline.runUntilIdle();
    await pipeline.call(buyer, `/v1/batches/${held}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await outcomes(held)).toEqual([
      'new1@list.example duplicate same_record_as_row_1 ',
      'new3@list.example duplicate same_record_as_row_3 ',
      'new4@list.example no_match not_found ',
    ]);
    expect((await pipeline.wallet(buyer))?.balance).toBe(98);
  });

  test('gives the data of the first row to the others, in every format, and counts it once', async () => {
    const buyer = await pipeline.account(100);
    const named = { operation: 'people.enrich', fields: 'id,name', dedupe: 'true' };
    const text =
      'Name,email\nP1,p1@list.example\nP1,p1@list.example\nP2,p2@list.example\nX,p1@list.example\n';
    const id = await pipeline.enrich(buyer, text, named);
    const of = async (format: string) => {
      const response = await pipeline.call(buyer, `/v1/batches/${id}/results?format=${format}`);
      return (await response.text()).trim().split('\n');
    };
    const rows = (await of('jsonl')).map((line) => JSON.parse(line));
    expect(rows.map((row) => [row.match.status, row.match.credits, row.person?.id])).toEqual([
      ['matched', 1, 1001],
      ['duplicate', 0, 1001],
      ['matched', 1, 1002],
      ['duplicate', 0, 1001],
    ]);
    expect(rows[1].person).toEqual(rows[0].person);
    const safe = await of('csv-safe');
    expect(safe[2]?.split(',').slice(-2)).toEqual(safe[1]?.split(',').slice(-2));
    const report = await pipeline.call(buyer, `/v1/batches/${id}/report`);
    const { fill_rate, agrees } = (await report.json()) as Record<string, Record<string, number>>;
    expect(fill_rate).toMatchObject({ 'person.id': 1 });
    expect(Object.values(agrees ?? {}).reduce((sum, rows) => sum + rows, 0)).toBe(2);
    // A rerun of the duplicates has no data for them, and takes none away.
    const before = await of('csv');
    await pipeline.call(buyer, `/v1/batches/${id}/rerun`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ outcomes: ['duplicate'] }),
    });
    await pipeline.runUntilIdle();
    expect(await of('csv&reruns=true')).toEqual(before);
    expect((await pipeline.wallet(buyer))?.balance).toBe(98);
  });

  test('of a list that began more than a day ago gives no data anew', async () => {
    const poor = await pipeline.account(1);
    const text = 'email\np1@list.example\np2@list.example\np1@list.example\np2@list.example\n';
    const id = await pipeline.enrich(poor, text, { ...options, dedupe: 'true' });
    expect(await pipeline.batch(poor, id)).toMatchObject({ state: 'paused', rows: { matched: 1 } });
    await pipeline.sql`update batches set started_at = started_at - interval '2 days' where id = ${id}`;
    await pipeline.grant(poor, 5, 'after two days');
    await pipeline.sweep();
    await pipeline.runUntilIdle();
    const { text: result } = await pipeline.results(poor, id);
    expect(result.split('\n').slice(3, -1)).toEqual([
      'p1@list.example,duplicate,email,same_record_as_row_1,,0,',
      'p2@list.example,duplicate,email,same_record_as_row_2,,0,',
    ]);
  });

  test('gives the data of its record, whatever the clock of the worker', async () => {
    const text = `email\n${[1, 2, 3, 1].map((n) => `p${n}@list.example\n`).join('')}`;
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * 86_400_000 });
    const id = await pipeline.enrich(caller, text, { ...options, dedupe: 'true' });
    vi.useRealTimers();
    expect((await lines(id))[4]).toBe(
      'p1@list.example,duplicate,email,same_record_as_row_1,false,0,1001',
    );
  });

  test('is off by default', async () => {
    const id = await pipeline.enrich(caller, list, options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      rows: { matched: 7, duplicate: 0 },
      credits: { charged: 7 },
    });
  });
});

test('a list of addresses names the one that was verified', async () => {
  const text = 'Email,Other email\nwrong@acme.example,p1@work.example\n';
  await importGraph(pipeline.sql, {
    persons: [{ id: 9001, workEmail: 'p1@work.example', workEmailStatus: 'valid' }],
  });
  const verify = { operation: 'people.email-verify' };
  const id = await pipeline.enrich(caller, text, verify);
  const response = await pipeline.call(caller, `/v1/batches/${id}/results?format=jsonl`);
  expect(JSON.parse(await response.text())).toMatchObject({
    match: { status: 'matched', by: 'email' },
    person: { id: 9001 },
    email: { address: 'p1@work.example', status: 'valid' },
  });
});

describe('a rerun', () => {
  const rows = [
    '"Lovely, A";p1@list.example;x',
    'Späth;late@list.example;"say ""hi"""',
    'none;;',
    'nobody;nobody@list.example',
    'Later;later@list.example;y;extra',
  ];
  const list = `Who;E-Mail;Note\n${rows.join('\n')}\n`;

  test('processes the rows of the chosen outcomes, with the options of the first run', async () => {
    const id = await pipeline.enrich(caller, list, { ...options, max_credits: '50' });
    expect(await pipeline.batch(caller, id)).toMatchObject({ rows: { matched: 1, no_match: 3 } });
    await importGraph(pipeline.sql, {
      persons: [
        { id: 501, email: 'late@list.example' },
        { id: 502, email: 'later@list.example' },
      ],
    });
    const response = await rerun(id, ['no_match', 'error']);
    expect(response.status).toBe(202);
    const again = (await response.json()) as BatchView;
    expect(response.headers.get('location')).toBe(`/v1/batches/${again.id}`);
    await pipeline.runUntilIdle();
    expect((await lines(again.id)).slice(1)).toEqual([
      'Späth;late@list.example;"say ""hi""";;matched;email;;false;1;501',
      'nobody;nobody@list.example;;;no_match;email;not_found;;0;',
      'Later;later@list.example;y;extra;matched;email;;false;1;502',
    ]);
    expect(await pipeline.batch(caller, again.id)).toMatchObject({
      state: 'completed',
      mapping: { email: [{ column: 2 }] },
      rows: { total: 3, matched: 2, no_match: 1 },
      credits: { charged: 2, max: 50 },
    });
    // The first run is unchanged.
    expect(await pipeline.batch(caller, id)).toMatchObject({ credits: { charged: 1 } });
  });

  test('keeps empty rows, and lists without a header', async () => {
    const bare = 'p1@list.example\n""\nnobody@list.example\n';
    const query = { ...options, header: 'false', mapping: '{"email":1}' };
    const id = await pipeline.enrich(caller, bare, query);
    const again = (await (await rerun(id, ['invalid', 'no_match'])).json()) as BatchView;
    await pipeline.runUntilIdle();
    expect((await lines(again.id)).slice(1)).toEqual([
      '"",invalid,,no_identifier,,0,',
      'nobody@list.example,no_match,email,not_found,,0,',
    ]);
  });

  test('of a cancelled list processes the unprocessed rows', async () => {
    const id = await pipeline.upload(caller, list, options);
    await pipeline.queues.runNext(pipeline.context, 'split-batch');
    await pipeline.call(caller, `/v1/batches/${id}/cancel`, { method: 'POST' });
    await pipeline.runUntilIdle();
    const again = (await (await rerun(id, ['not_processed'])).json()) as BatchView;
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, again.id)).toMatchObject({
      state: 'completed',
      rows: { total: 5, processed: 5, not_processed: 0 },
    });
  });

  test('sent twice with one Idempotency-Key creates one batch', async () => {
    const id = await pipeline.enrich(caller, list, options);
    const headers = { 'Idempotency-Key': 'rerun once' };
    const first = await rerun(id, ['invalid', 'no_match'], headers);
    const second = await rerun(id, ['invalid', 'no_match'], headers);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(await second.json()).toEqual(await first.json());
    const reused = { status: 422, code: 'idempotency_key_reused' };
    await expectProblem(await rerun(id, ['no_match'], headers), reused);
    const made = await pipeline.sql`select id from batches where rerun_of = ${id}`;
    expect(made).toHaveLength(1);
    await pipeline.runUntilIdle();
  });

  test('is refused while the list runs, without such rows, and for matched rows', async () => {
    const id = await pipeline.upload(caller, list, options);
    const invalidState = { status: 409, code: 'invalid_state' };
    await expectProblem(await rerun(id, ['no_match']), invalidState);
    await pipeline.runUntilIdle();
    const before = await pipeline.objects();
    await expectProblem(await rerun(id, ['duplicate']), { status: 422, code: 'no_rows' });
    const invalid = { status: 400, code: 'invalid_parameter' };
    await expectProblem(await rerun(id, ['matched']), invalid);
    await expectProblem(await rerun(id, []), invalid);
    expect(await pipeline.objects()).toEqual(before);
  });
});
