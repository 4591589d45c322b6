import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { crowd, smallGraph } from '../../../tests/support/small-graph.ts';
import { suppress } from '../../core/suppression/suppress.ts';
import { audit } from '../audit/audit.ts';
import { dispatch } from '../batch/dispatch.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '2' });
  await importGraph(pipeline.sql, smallGraph);
  await importGraph(pipeline.sql, { persons: crowd(8) });
  await suppress(pipeline.sql, 'out@home.example');
  caller = await pipeline.account(1000);
});
afterAll(() => pipeline.close());

const options = { operation: 'people.enrich', fields: 'id' };
const matchNames = 'match.status,match.by,match.reason,match.conflict,match.credits';

/** A realistic list and its expected result, byte for byte. */
const ragged: [input: string, added: string][] = [
  ['"Lovely, Ada",ada@acme.example,,,"one\r\ntwo"', ',,matched,email,,false,1,1'],
  ['\r\nshort,bob@home.example', ',,,,,matched,email,,false,1,2'],
  [
    'none,nobody@home.example,nobody-here,,x',
    ',,no_match,professional_network email,not_found,,0,',
  ],
  [
    'two,bob@home.example,https://example.com/in/ada-lovely,,"say ""hi"""',
    ',,matched,professional_network,,true,1,1',
  ],
  ['\r\n\r\nout,out@home.example,,,', ',,no_match,email,not_found,,0,'],
  [',,,,', ',,invalid,,no_identifier,,0,'],
  ['bad,not an address,,,', ',,invalid,,not_an_email,,0,'],
  ['board,,,+441632960099,', ',,ambiguous,phone,shared_by_2_records,,0,'],
  ['wide,eve@home.example,,,a,b', ',matched,email,,false,1,4'],
  ['spaced, ADA@Home.example ,,,', ',,matched,email,,false,1,1'],
];
const header = 'Ref,Work Email,Profile URL,Phone,Note';
const input = `\uFEFF${header}\r\n${ragged.map(([text]) => text).join('\r\n')}`;
const output = `${header},,${matchNames},person.id\r\n${ragged.map((row) => `${row.join('')}\r\n`).join('')}`;

describe('a list comes back row for row', () => {
  test.each([1, 3])('with its text unchanged and in order, %d workers', async (workers) => {
    const id = await pipeline.upload(caller, input, options);
    await pipeline.runUntilIdle(workers);
    expect(await pipeline.results(caller, id)).toEqual({ text: output, complete: 'true' });
  });

  test('and its counts add up, and it costs the price of its matches', async () => {
    const before = await pipeline.wallet(caller);
    const id = await pipeline.enrich(caller, input, options);
    const view = await pipeline.batch(caller, id);
    expect(view).toMatchObject({
      state: 'completed',
      reason: null,
      error: null,
      rows: {
        total: 10,
        processed: 10,
        matched: 5,
        no_match: 2,
        ambiguous: 1,
        invalid: 2,
        suppressed: 0,
        duplicate: 0,
        error: 0,
        not_processed: 0,
      },
      credits: { charged: 5, reserved: 0, max: null },
    });
    const after = await pipeline.wallet(caller);
    expect(after).toEqual({ balance: (before?.balance ?? 0) - 5, reserved: 0 });
    expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
  });

  test('whatever the size of a chunk', async () => {
    for (const chunkRows of [1, 3, 4, 10, 5000]) {
      const { context, queues } = pipeline;
      const id = await pipeline.upload(caller, input, options);
      await queues.runUntilIdle({ ...context, config: { ...context.config, chunkRows } });
      expect((await pipeline.results(caller, id)).text).toBe(output);
    }
  });

  test('with semicolons, line feeds and no line break after the last row', async () => {
    const list = 'email;note\np1@list.example;"a;b"\n\nnobody@list.example;c';
    const id = await pipeline.enrich(caller, list, options);
    expect((await pipeline.results(caller, id)).text).toBe(
      [
        `email;note;${matchNames.replaceAll(',', ';')};person.id`,
        'p1@list.example;"a;b";matched;email;;false;1;1001',
        '',
        'nobody@list.example;c;no_match;email;not_found;;0;',
        '',
      ].join('\n'),
    );
  });

  test('and a column of the list with the name of an added one keeps its name', async () => {
    const list = 'email,match.status,person.id\np1@list.example,mine,7\n';
    const id = await pipeline.enrich(caller, list, options);
    const [names, row] = (await pipeline.results(caller, id)).text.split('\n');
    expect(names).toBe(
      `email,match.status,person.id,${matchNames.replace('status', 'status_2')},person.id_2`,
    );
    expect(row).toBe('p1@list.example,mine,7,matched,email,,false,1,1001');
  });

  test('and a quote that is never closed is one invalid row that swallows no other', async () => {
    const list = 'email,note\n"p1@list.example,open\np2@list.example,x\np3@list.example,y\n';
    const id = await pipeline.enrich(caller, list, options);
    const lines = (await pipeline.results(caller, id)).text.split('\n');
    expect(lines.slice(1)).toEqual([
      '"""p1@list.example,open",,invalid,,open_quote,,0,',
      'p2@list.example,x,matched,email,,false,1,1002',
      'p3@list.example,y,matched,email,,false,1,1003',
      '',
    ]);
  });

  // The sample of an upload that shows whether it has rows is 64 KiB.
  test('and a list of a header and blank lines completes at once with that header', async () => {
    const id = await pipeline.enrich(caller, `email,note\n${'\n'.repeat(70_000)}`, options);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      state: 'completed',
      rows: { total: 0, processed: 0 },
    });
    expect(await pipeline.results(caller, id)).toEqual({
      text: `email,note,${matchNames},person.id\n`,
      complete: 'true',
    });
  });
});

test('while a batch runs, its result is the finished prefix, whichever chunk ends first', async () => {
  const rows = Array.from({ length: 8 }, (_, i) => `p${i + 1}@list.example`);
  const id = await pipeline.upload(caller, `email\n${rows.join('\n')}\n`, options);
  await pipeline.queues.runNext(pipeline.context, 'split-batch');
  // Once it runs, all of its chunks may be in flight.
  await pipeline.sql`update batches set state = 'running', started_at = now() where id = ${id}`;
  await dispatch(pipeline.context);
  const finished = async () => {
    const { text, complete } = await pipeline.results(caller, id);
    return { rows: text.split('\n').length - 2, complete };
  };
  expect(await finished()).toEqual({ rows: 0, complete: 'false' });
  const prefixes: number[] = [];
  // The chunks end in the order 3, 1, 4, 2.
  for (const number of [3, 1, 4, 2]) {
    const woken = pipeline.queues.waiting.find(({ id: job }) => job.startsWith(`${id}-${number}-`));
    if (woken === undefined) throw new Error(`chunk ${number} is not waiting`);
    await pipeline.queues.run(pipeline.context, woken);
    prefixes.push((await finished()).rows);
  }
  expect(prefixes).toEqual([0, 2, 2, 8]);
  expect(await finished()).toEqual({ rows: 8, complete: 'true' });
});
