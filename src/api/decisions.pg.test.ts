/** Decisions about ambiguous rows: charged once, whatever is sent twice or at once, and merged into the list. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { changeOwnedDays } from '../core/credits/owned.ts';
import { suppress } from '../core/suppression/suppress.ts';
import { audit } from '../jobs/audit/audit.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';
import type { AmbiguousRow } from '../jobs/list/ambiguous-rows.ts';

let pipeline: Pipeline;
let caller: Caller;

const companies = [
  { id: 10, name: 'Nordlicht Optik GmbH', countryId: 1 },
  { id: 12, name: 'Bergkristall AG', countryId: 1 },
];
/** Two people each, of one name at one company. */
const twins = ['Quast', 'Zwirner', 'Opitz', 'Ohm'].flatMap((surname, index) =>
  [0, 1].map((twin) => ({
    id: 100 + index * 2 + twin,
    name: 'Ilka',
    surname,
    companyId: 10,
    countryId: 1,
    position: twin === 0 ? 'Engineer' : 'Keeper of the seal',
    email: `${surname.toLowerCase()}${twin}@home.example`,
  })),
);
const given = ['Anna', 'Bernd', 'Clara', 'Dieter', 'Emma', 'Franz'];
const family = ['Weber', 'Lorenz', 'Krause', 'Vogt'];
const others = given.flatMap((name, first) =>
  family.map((surname, last) => ({
    id: 1000 + first * family.length + last,
    name,
    surname,
    position: 'Engineer',
    companyId: 12,
    countryId: 1,
  })),
);

beforeAll(async () => {
  pipeline = await openPipeline({ CHUNK_ROWS: '8' });
  const countries = [{ id: 1, name: 'Germany', iso2: 'DE' }];
  await importGraph(pipeline.sql, { countries, companies, persons: [...twins, ...others] });
});
beforeEach(async () => {
  caller = await pipeline.unmeteredAccount(100);
});
afterEach(async () => {
  expect(await audit(pipeline.sql)).toMatchObject({ ok: true });
});
afterAll(() => pipeline.close());

const likely = { operation: 'people.enrich', fields: 'id', match: 'likely' };
/** Rows 1, 2, 4 and 6 are ambiguous; rows 3, 5, 7 and 8 match. */
const names = [
  'Name,Company,Email',
  'Ilka Quast,Nordlicht Optik,',
  'Ilka Zwirner,Nordlicht Optik,',
  'Anna Weber,Bergkristall AG,',
  'Ilka Opitz,Nordlicht Optik,',
  'Bernd Weber,Bergkristall AG,',
  'Ilka Ohm,Nordlicht Optik,',
  'Clara Weber,Bergkristall AG,',
  'Dieter Weber,Bergkristall AG,',
  '',
].join('\n');

const list = (options: Record<string, string> = {}) =>
  pipeline.enrich(caller, names, { ...likely, ...options });

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  pipeline.call(caller, `/v1/batches/${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const decide = (id: string, decisions: object[], more: object = {}) =>
  post(`${id}/decisions`, { decisions, ...more });

/** Decides rows and runs them. */
async function decided(id: string, decisions: object[]): Promise<BatchView> {
  const response = await decide(id, decisions);
  const body = await response.text();
  expect(response.status, body).toBe(202);
  const made = JSON.parse(body) as BatchView;
  await pipeline.runUntilIdle();
  return pipeline.batch(caller, made.id);
}

async function ambiguous(id: string, query = ''): Promise<AmbiguousRow[]> {
  const response = await pipeline.call(caller, `/v1/batches/${id}/ambiguous${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: AmbiguousRow[] }).data;
}

interface Line {
  row: number;
  match: { status: string; by: string; reason: string | null; credits: number };
  person: { id: number } | null;
}

async function merged(id: string): Promise<Line[]> {
  const response = await pipeline.call(
    caller,
    `/v1/batches/${id}/results?format=jsonl&reruns=true`,
  );
  return (await response.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const spent = async () => 100 - ((await pipeline.wallet(caller))?.balance ?? 0);

describe('the ambiguous rows of a list', () => {
  test('are listed in pages with what tells their candidates apart, and what groups share', async () => {
    const id = await list();
    const first = await pipeline.call(caller, `/v1/batches/${id}/ambiguous?limit=3`);
    const page = (await first.json()) as { data: AmbiguousRow[]; next_cursor: string };
    expect(page.data.map(({ row }) => row)).toEqual([1, 2, 4]);
    expect(page.data[0]).toEqual({
      row: 1,
      cells: ['Ilka Quast', 'Nordlicht Optik', ''],
      candidates: [100, 101].map((person) => ({
        id: person,
        probability: expect.any(Number),
        evidence: expect.stringMatching(/surname equal.*company equal but for its legal form/),
        traits: {
          // Of the keepers of the seal there are four.
          title: person === 100 ? 'Engineer' : null,
          industry: null,
          country: 'Germany',
        },
      })),
    });
    const rest = await ambiguous(id, `?limit=3&cursor=${page.next_cursor}`);
    expect(rest.map(({ row }) => row)).toEqual([6]);
    expect(await spent()).toBe(4);
  });

  test('with long cells are in short pages, one after the other', async () => {
    const cell = 'x'.repeat(120_000);
    const row = (name: string) => `${name},,"${cell}"\n`;
    const csv = `Name,Company,Note\n${row('Ilka Quast').repeat(11)}${row('Anna Weber').repeat(2)}`;
    const id = await pipeline.enrich(caller, csv, likely);
    const sizes: number[] = [];
    const rows: number[] = [];
    let cursor = '';
    do {
      const response = await pipeline.call(
        caller,
        `/v1/batches/${id}/ambiguous?limit=100${cursor}`,
      );
      const text = await response.text();
      const page = JSON.parse(text) as { data: AmbiguousRow[]; next_cursor: string | null };
      sizes.push(text.length);
      rows.push(...page.data.map((one) => one.row));
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
    } while (cursor !== '' && sizes.length < 10);
    expect(Math.max(...sizes)).toBeLessThan(1_100_000);
    expect(rows).toEqual(Array.from({ length: 11 }, (_, index) => index + 1));
  });

  test('tell nothing but ids where the list paid for fewer matches than are ambiguous', async () => {
    // A name alone is told as ambiguous without a payment.
    const id = await pipeline.enrich(caller, `${names}Ilka Quast,,\n`, likely);
    const rows = await ambiguous(id);
    expect(rows.map(({ row }) => row)).toEqual([1, 2, 4, 6, 9]);
    for (const { candidates } of rows) {
      for (const { evidence, traits } of candidates)
        expect([evidence, traits]).toEqual([null, null]);
    }
  });
});

describe('a decision', () => {
  test('matches the chosen record, is charged once, and is in its place of the merged list', async () => {
    const id = await list();
    const made = await decided(id, [
      { row: 2, id: 103 },
      { row: 4, id: null },
      { row: 1, id: 100 },
    ]);
    expect(made).toMatchObject({
      rerun_of: id,
      state: 'completed',
      rows: { total: 3, matched: 2, no_match: 1 },
      credits: { charged: 2 },
    });
    const rows = await merged(id);
    expect(rows.map(({ match, person }) => [match.status, match.by, person?.id])).toEqual([
      ['matched', 'decision', 100],
      ['matched', 'decision', 103],
      ['matched', 'name_company', 1000],
      ['no_match', 'decision', undefined],
      ['matched', 'name_company', 1004],
      ['ambiguous', 'name_company', undefined],
      ['matched', 'name_company', 1008],
      ['matched', 'name_company', 1012],
    ]);
    expect(rows[3]?.match.reason).toBe('none_fits');
    expect((await ambiguous(id)).map(({ row }) => row)).toEqual([6]);
    expect(await spent()).toBe(6);
  });

  test('can still be taken after a rerun of the ambiguous rows, which paid for none', async () => {
    const csv = `${names}${'Ilka Quast,Nordlicht Optik,\n'.repeat(3)}`;
    const id = await pipeline.enrich(caller, csv, likely);
    const asked = [1, 2, 4, 6, 9, 10, 11];
    expect((await ambiguous(id)).map(({ row }) => row)).toEqual(asked);
    const again = await post(`${id}/rerun`, { outcomes: ['ambiguous'] });
    expect(again.status).toBe(202);
    await pipeline.runUntilIdle();
    const { id: rerun } = (await again.json()) as BatchView;
    // The fourth row of one pair is told as a miss where nothing is paid.
    expect(await pipeline.batch(caller, rerun)).toMatchObject({ rows: { no_match: 1 } });
    expect((await ambiguous(id)).map(({ row }) => row)).toEqual(asked);
    const made = await decided(id, [
      { row: 11, id: 100 },
      { row: 2, id: null },
    ]);
    expect(made).toMatchObject({ rows: { matched: 1, no_match: 1 } });
    expect((await ambiguous(id)).map(({ row }) => row)).toEqual([1, 4, 6, 9, 10]);
  });

  test('that is sent again, one after the other or at once, is charged once', async () => {
    const id = await list();
    const clicks = await Promise.all([1, 2, 3, 4].map(() => decide(id, [{ row: 1, id: 101 }])));
    await pipeline.runUntilIdle();
    expect(clicks.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    const again = await expectProblem(await decide(id, [{ row: 1, id: 100 }]), {
      status: 409,
      code: 'not_decidable',
    });
    expect(again.detail).toContain('row 1 is already matched');
    expect(await spent()).toBe(5);
    const { reference } = (await pipeline.charges(caller)).at(-1) ?? {};
    expect(reference).toContain('batch:');
  });

  test('whose rows were read before another one of them ended is refused', async () => {
    const id = await list();
    // The second request stores its rows, and waits there until the first has run.
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let stored = () => {};
    const isStored = new Promise<void>((resolve) => {
      stored = resolve;
    });
    pipeline.faults.putStream = async () => {
      stored();
      await held;
    };
    const slow = decide(id, [{ row: 1, id: 100 }]);
    await isStored;
    delete pipeline.faults.putStream;
    await decided(id, [{ row: 1, id: 101 }]);
    release();
    const problem = await expectProblem(await slow, { status: 409, code: 'invalid_state' });
    expect(problem.detail).toContain('Send the request again');
    await pipeline.runUntilIdle();
    expect(await spent()).toBe(5);
  });

  test('is free for a person whom the account owns', async () => {
    await changeOwnedDays(pipeline.sql, caller.accountId, 30);
    const found = await pipeline.call(caller, '/v1/people/enrich?email=quast0%40home.example');
    expect(found.status).toBe(200);
    const id = await list();
    const made = await decided(id, [{ row: 1, id: 100 }]);
    expect(made).toMatchObject({ owned: 1, credits: { charged: 0 }, rows: { matched: 1 } });
    expect(await spent()).toBe(5);
  });

  test('pauses at max_credits, and without credits', async () => {
    const alone =
      'Name,Company\nIlka Quast,\nIlka Zwirner,\nAnna Weber,Bergkristall AG\nBernd Weber,Bergkristall AG\n';
    const options = { ...likely, max_credits: '1', dedupe: 'true' };
    const id = await pipeline.enrich(caller, alone, options);
    await post(`${id}/cancel`, {});
    await pipeline.runUntilIdle();
    const made = await decided(id, [
      { row: 1, id: 100 },
      { row: 2, id: 102 },
    ]);
    expect(made).toMatchObject({ state: 'paused', reason: 'max_credits', credits: { charged: 1 } });
  });

  test('may be held, and priced by a quote', async () => {
    const id = await list();
    const response = await decide(id, [{ row: 1, id: 100 }], { hold: true });
    const made = (await response.json()) as BatchView;
    await pipeline.runUntilIdle();
    await post(`${made.id}/quote`, {});
    await pipeline.runUntilIdle();
    const quoted = await pipeline.batch(caller, made.id);
    expect(quoted).toMatchObject({ state: 'ready', quote: { credits: 1 } });
    const moved = await pipeline.call(caller, `/v1/batches/${made.id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ header_row: 0 }),
    });
    // Its first row would be another one, and take the record that the caller chose for the next.
    await expectProblem(moved, { status: 409, code: 'invalid_state' });
    await post(`${made.id}/cancel`, {});
    await pipeline.runUntilIdle();
  });

  test.each([
    [[{ row: 3, id: 1000 }], 409, 'not_decidable', /row 3 is already matched/],
    [[{ row: 99, id: 1 }], 409, 'not_decidable', /the list has no row 99/],
    [[{ row: 1, id: 1000 }], 409, 'not_decidable', /1000 is not a candidate of row 1/],
    [
      [
        { row: 1, id: 100 },
        { row: 1, id: 101 },
      ],
      400,
      'invalid_parameter',
      /row 1 is decided twice/,
    ],
    [[{ row: 0, id: 100 }], 400, 'invalid_parameter', /decisions\.0\.row/],
  ])('of %j is refused: %s %s', async (decisions, status, code, message) => {
    const id = await list();
    const before = await pipeline.objects();
    const problem = await expectProblem(await decide(id, decisions), { status, code });
    expect(problem.detail).toMatch(message);
    expect(await pipeline.objects()).toEqual(before);
  });
});

describe('a file of decisions', () => {
  const upload = (id: string, csv: string) =>
    post(`${id}/decisions`, csv, { 'Content-Type': 'text/csv' });

  test('decides its rows; other columns and lines without an id say nothing', async () => {
    const id = await list();
    const csv = '\ufeffRow;Name;ID\r\n1;Ilka;101\r\n2;Ilka;\r\n4;"Il;ka";NONE\r\n';
    expect((await upload(id, csv)).status).toBe(202);
    await pipeline.runUntilIdle();
    const rows = await merged(id);
    expect(rows.slice(0, 4).map(({ match }) => match.status)).toEqual([
      'matched',
      'ambiguous',
      'matched',
      'no_match',
    ]);
    expect(rows[0]).toMatchObject({ person: { id: 101 } });
  });

  test.each([
    ['row,candidate\n1,100\n', 'invalid_parameter', /id: is missing/],
    ['row,id\none,100\n', 'invalid_parameter', /line 2: must be the number of a row/],
    ['row,id\n1,Ilka\n', 'invalid_parameter', /line 2: must be the id of a candidate/],
    ['row,id\n1,\n', 'invalid_parameter', /no line has an id/],
    ['row,id\n1,"100\n', 'unreadable_csv', /is not CSV/],
  ])('%j is refused', async (csv, code, message) => {
    const id = await list();
    const status = code === 'unreadable_csv' ? 422 : 400;
    const problem = await expectProblem(await upload(id, csv), { status, code });
    expect(problem.detail).toMatch(message);
  });
});

describe('candidates', () => {
  test('lose the candidates who opted out, also in the stored file; the other one can be chosen', async () => {
    const id = await list();
    expect(await suppress(pipeline.sql, 'ohm1@home.example')).toEqual({ persons: 1 });
    const rows = await ambiguous(id);
    expect(rows.at(-1)?.candidates.map(({ id: person }) => person)).toEqual([106]);
    const { text } = await pipeline.results(caller, id);
    expect(text).toContain('106:0.');
    expect(text).not.toContain('107:0.');
    const problem = await expectProblem(await decide(id, [{ row: 6, id: 107 }]), {
      status: 409,
      code: 'not_decidable',
    });
    expect(problem.detail).toContain('107 is not a candidate of row 6');
    await decided(id, [{ row: 6, id: 106 }]);
    expect((await merged(id))[5]).toMatchObject({ person: { id: 106 } });
  });
});
