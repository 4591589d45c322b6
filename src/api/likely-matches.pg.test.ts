/** Likely matches: rows and calls without an identifier, by name and company or place. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { takeUnpaidDisclosures } from '../core/limits/limits.ts';
import { suppress } from '../core/suppression/suppress.ts';

let pipeline: Pipeline;
let caller: Caller;

const companies = [
  { id: 10, name: 'Nordlicht Optik GmbH', domain: 'nordlicht.example', countryId: 1 },
  { id: 11, name: 'Südwind Logistics Ltd', aliases: ['Southwind'], countryId: 2 },
  { id: 12, name: 'Bergkristall AG', countryId: 1 },
  { id: 13, name: 'Bergkristall Ltd', countryId: 2 },
];
const given = ['Anna', 'Bernd', 'Clara', 'Dieter', 'Emma', 'Franz', 'Greta', 'Hugo'];
const family = ['Weber', 'Lorenz', 'Krause', 'Vogt', 'Seidel', 'Brandt', 'Kuhn', 'Haas'];
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
const persons = [
  {
    id: 1,
    name: 'Robert',
    surname: 'Zwirner',
    email: 'robert@home.example',
    position: 'Sales Director',
    companyId: 10,
    countryId: 1,
    summary: 'Long',
  },
  { id: 2, name: 'Robert', surname: 'Zwirner', companyId: 11, countryId: 2, position: 'Buyer' },
  { id: 3, name: 'Ilka', surname: 'Quast', companyId: 10, countryId: 1, position: 'Buyer' },
  { id: 4, name: 'Ilka', surname: 'Quast', companyId: 10, countryId: 1, position: 'Engineer' },
  {
    id: 5,
    name: 'Olga',
    surname: 'Opitz',
    companyId: 10,
    countryId: 1,
    email: 'out@home.example',
  },
  { id: 6, name: 'Petra', surname: 'Ohm', companyId: 10, countryId: 1 },
  {
    id: 7,
    name: 'Petra',
    surname: 'Ohm',
    companyId: 10,
    countryId: 1,
    email: 'petra@home.example',
  },
  ...others,
];

beforeAll(async () => {
  pipeline = await openPipeline();
  const countries = [
    { id: 1, name: 'Germany', iso2: 'DE' },
    { id: 2, name: 'United Kingdom', iso2: 'GB' },
  ];
  await importGraph(pipeline.sql, { countries, companies, persons });
  expect(await suppress(pipeline.sql, 'out@home.example')).toEqual({ persons: 1 });
  expect(await suppress(pipeline.sql, 'petra@home.example')).toEqual({ persons: 1 });
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

const likely = { operation: 'people.enrich', fields: 'id', match: 'likely' };

/** The JSON lines of a list. */
async function run(csv: string, options: Record<string, string>) {
  const id = await pipeline.enrich(caller, csv, options);
  const response = await pipeline.call(caller, `/v1/batches/${id}/results?format=jsonl`);
  const text = await response.text();
  const rows = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return { id, rows };
}

const call = (query: string, path = 'people/enrich') =>
  pipeline.call(caller, `/v1/${path}?${query}`);

describe('a list of names', () => {
  const names = [
    'Name,Company,Country',
    '"ZWIRNER, Robert",Nordlicht Optik,DE',
    'Ilka Quast,Nordlicht Optik GmbH,DE',
    'Robert Zwirner,Bergkristall Ltd,GB',
    'test test,Nordlicht Optik,DE',
    'Sales Manager,Nordlicht Optik,DE',
    '😀,Nordlicht Optik,DE',
    'Olga Opitz,Nordlicht Optik,DE',
    '',
  ].join('\n');

  test('matches the person, and no other of that name; each match is charged once', async () => {
    const { id, rows } = await run(names, likely);
    const statuses = rows.map(({ match }) => match.status);
    expect(statuses).toEqual([
      'matched',
      'ambiguous',
      'no_match',
      'invalid',
      'invalid',
      'invalid',
      'no_match',
    ]);
    expect(rows[0]).toMatchObject({
      person: { id: 1 },
      match: { by: 'name_company', credits: 1, candidates: [], agrees: 'yes' },
    });
    expect(rows[0].match.probability).toBeGreaterThanOrEqual(0.95);
    expect(rows[0].match.evidence).toMatch(
      /surname equal; given name equal.*company equal but for its legal form/,
    );
    expect(rows[3].match.reason).toBe('not_a_name');
    expect(rows[4].match.reason).toBe('name_is_a_title');
    expect(
      (await pipeline.charges(caller)).map(({ reference, amount }) => [reference, amount]),
    ).toEqual([[expect.stringContaining(id), -1]]);
    expect(await pipeline.batch(caller, id)).toMatchObject({
      match: 'likely',
      min_probability: 0.95,
      credits: { charged: 1 },
    });
  });

  test('tells the people who fit equally well, and charges nothing for them', async () => {
    const { rows } = await run('Name,Company\nIlka Quast,Nordlicht Optik GmbH\n', likely);
    expect(rows[0].match).toMatchObject({ status: 'ambiguous', reason: 'several_fit', credits: 0 });
    expect(rows[0].match.candidates.map(({ id }: { id: number }) => id)).toEqual([3, 4]);
  });

  // Otherwise two who share a name could be read by guesses, without a credit: what differs is true.
  test('names a record in three rows that several fit, and in as many more as were paid for', async () => {
    const guess = 'Ilka Quast,,Germany\n';
    const told = async (csv: string, options = {}) => {
      const { id, rows } = await run(csv, { ...likely, ...options });
      const batch = await pipeline.batch(caller, id);
      expect(batch.rows.ambiguous).toBe(
        rows.filter(({ match }) => match.status === 'ambiguous').length,
      );
      return rows.map(({ match: { by, reason, candidates } }) => ({ by, reason, candidates }));
    };
    const several = {
      by: 'name_company',
      reason: 'several_fit',
      candidates: [{ id: 3 }, { id: 4 }],
    };
    const miss = { by: 'name_company', reason: 'not_found', candidates: [] };
    const list = `Name,Company,Country\n${guess.repeat(5)}`;
    for (const options of [{}, { min_probability: '1' }]) {
      expect(await told(list, options)).toMatchObject([several, several, several, miss, miss]);
    }
    expect(await told(`${list}Robert Zwirner,Nordlicht Optik,\n`)).toMatchObject([
      ...[several, several, several, several, miss],
      expect.anything(),
    ]);
    // An identifier that found nothing is named in every miss alike.
    const mails = `Name,Company,Country,Email\n${guess.replace('\n', ',none@home.example\n').repeat(5)}`;
    expect((await told(mails)).slice(3)).toEqual(
      Array(2).fill({ ...miss, by: 'email name_company' }),
    );
    const alone = await told(`Name,Company\n${'Ilka Quast,\n'.repeat(5)}`);
    expect(alone).toMatchObject(Array(5).fill({ candidates: [{ id: 3 }, { id: 4 }] }));
  });

  // Three guesses in each of a thousand lists, or parts of one, are as good as three thousand in one.
  test('names as many unpaid rows of all lists of an account in a minute as calls', async () => {
    const other = await pipeline.unmeteredAccount(100);
    const { limiter } = pipeline.context;
    expect(await takeUnpaidDisclosures(limiter, other.accountId, 50)).toBe(50);
    expect(await takeUnpaidDisclosures(limiter, other.accountId, 600)).toBeLessThan(20);
    await pipeline.sql`
      update rate_buckets set full_at = now() + interval '1 hour'
      where owner = ${other.accountId} and name = 'unpaid disclosures'`;
    const guesses = 'Name,Company,Country\nIlka Quast,,Germany\nIlka Quast,,Germany\n';
    const statuses = async (csv: string) => {
      const id = await pipeline.enrich(other, csv, likely);
      const text = await (
        await pipeline.call(other, `/v1/batches/${id}/results?format=jsonl`)
      ).text();
      const rows = text.trimEnd().split('\n');
      return rows.map((row) => JSON.parse(row).match.status);
    };
    expect(await statuses(guesses)).toEqual(['no_match', 'no_match']);
    const paid = `${guesses}Robert Zwirner,Nordlicht Optik,\n`;
    expect(await statuses(paid)).toEqual(['ambiguous', 'no_match', 'matched']);
    await pipeline.sql`delete from rate_buckets where owner = ${other.accountId}`;
    expect(await statuses(guesses)).toEqual(['ambiguous', 'ambiguous']);
  });

  test('is refused without match=likely, because it has no identifier', async () => {
    const upload = pipeline.upload(caller, names, { operation: 'people.enrich' });
    await expect(upload).rejects.toThrow(/unmapped/);
  });

  test('has no match below the probability that it needs, like an unknown person', async () => {
    const csv = 'Name,Company\nRobert Zwirner,Nordlicht Optik\n';
    const { rows } = await run(csv, { ...likely, min_probability: '1' });
    expect(rows[0].match).toMatchObject({
      status: 'no_match',
      reason: 'not_found',
      candidates: [],
    });
  });

  test('is quoted by the same matches, and held without a charge', async () => {
    const before = await pipeline.wallet(caller);
    const many = given.flatMap((name) =>
      family.map((surname) => `${name} ${surname},Bergkristall AG`),
    );
    const csv = `Name,Company\n${many.join('\n')}\n`;
    const id = await pipeline.upload(caller, csv, { ...likely, hold: 'true' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      mapping: { person_name: [{ column: 1 }], company_name: [{ column: 2 }] },
    });
    await pipeline.call(caller, `/v1/batches/${id}/quote`, { method: 'POST' });
    await pipeline.runUntilIdle();
    const { quote } = await pipeline.batch(caller, id);
    expect(quote).toMatchObject({ state: 'done', rows: { matched: many.length } });
    expect(await pipeline.wallet(caller)).toEqual(before);
  });
});

describe('a list of what is no name', () => {
  const many = 'Nordlicht '.repeat(200).trim();

  test('of people matches none of them, says why, and is free', async () => {
    const cells = [
      ['Robert Zwirner', 'matched', null],
      ['test test', 'invalid', 'not_a_name'],
      ['R', 'invalid', 'name_too_short'],
      ['😀', 'invalid', 'not_a_name'],
      [many, 'invalid', 'name_too_long'],
      ['Managing Director', 'invalid', 'name_is_a_title'],
      ['CEO', 'invalid', 'name_is_a_title'],
      ['Nordlicht Optik GmbH', 'invalid', 'name_is_a_company'],
      ['Nordlicht Optik', 'no_match', 'not_found'],
    ] as const;
    const lines = cells.map(([name]) => `${name},Nordlicht Optik\n`);
    const { id, rows } = await run(`Name,Company\n${lines.join('')}`, likely);
    expect(rows.map(({ match }) => [match.status, match.reason])).toEqual(
      cells.map(([, status, reason]) => [status, reason]),
    );
    expect((await pipeline.batch(caller, id)).credits.charged).toBe(1);
  });

  test('says what is wrong with an identifier that has no name beside it', async () => {
    const { rows } = await run('Name,Email\n,not-an-email\n,\n', likely);
    const reasons = rows.map(({ match }) => [match.status, match.reason]);
    expect(reasons).toEqual([
      ['invalid', 'not_an_email'],
      ['invalid', 'empty_name'],
    ]);
  });

  test('of companies matches none of them, says why, and is free', async () => {
    const cells = [
      ['Nordlicht Optik', 'matched', null],
      ['test test', 'invalid', 'not_a_name'],
      ['N', 'invalid', 'not_a_name'],
      ['😀', 'invalid', 'not_a_name'],
      [many, 'invalid', 'name_too_long'],
      ['GmbH', 'invalid', 'not_a_name'],
      ['Robert Zwirner', 'no_match', 'not_found'],
      ['Managing Director', 'no_match', 'not_found'],
    ] as const;
    const lines = cells.map(([name]) => `${name},DE\n`);
    const options = { ...likely, operation: 'companies.enrich' };
    const { id, rows } = await run(`Account,Country\n${lines.join('')}`, options);
    expect(rows.map(({ match }) => [match.status, match.reason])).toEqual(
      cells.map(([, status, reason]) => [status, reason]),
    );
    expect((await pipeline.batch(caller, id)).credits.charged).toBe(1);
  });
});

describe('an exact identifier', () => {
  test('comes first and is not overruled by the name', async () => {
    const csv = 'Email,Name,Company\nrobert@home.example,Ilka Quast,Bergkristall\n';
    const { rows } = await run(csv, likely);
    expect(rows[0]).toMatchObject({ person: { id: 1 }, match: { by: 'email' } });
    expect(rows[0].match.probability).toBeNull();
  });

  test('that finds nothing leaves the row to its name', async () => {
    const csv = 'Email,Name,Company\nnone@home.example,Robert Zwirner,Southwind\n';
    const { rows } = await run(csv, likely);
    expect(rows[0]).toMatchObject({ person: { id: 2 }, match: { by: 'name_company' } });
  });
});

describe('a call', () => {
  test('with match=likely says the probability and what it rests on', async () => {
    const response = await call('match=likely&name=R.+Zwirner&company=Nordlicht+Optik&fields=id');
    expect(response.status).toBe(200);
    expect(response.headers.get('x-credits-charged')).toBe('1');
    const body = (await response.json()) as { match: { evidence: string } };
    expect(body).toMatchObject({ data: { id: 1 }, match: { by: 'name_company' } });
    expect(body.match.evidence).toMatch(/given name only an initial/);
  });

  test('that writes `N/A` for the company is matched by the rest', async () => {
    const rest = 'name=Robert+Zwirner&title=Sales+Director&country=DE&fields=id';
    for (const company of ['', '&company=N%2FA', '&company=nan']) {
      const response = await call(`match=likely&${rest}${company}`);
      expect(await response.json()).toMatchObject({ data: { id: 1 } });
    }
  });

  test('with first_name and last_name is the same call', async () => {
    const query = 'match=likely&first_name=Robert&last_name=Zwirner&company=Southwind&fields=id';
    expect(await (await call(query)).json()).toMatchObject({ data: { id: 2 } });
  });

  test('that several people fit is ambiguous, with the candidates, and free', async () => {
    const response = await call('match=likely&name=Ilka+Quast&company=Nordlicht+Optik');
    expect(response.headers.get('x-credits-charged')).toBe('0');
    const problem = await expectProblem(response, { status: 409, code: 'ambiguous_match' });
    const probability = expect.any(Number);
    expect(problem.candidates).toEqual([
      { id: 3, probability },
      { id: 4, probability },
    ]);
  });

  test('never finds a person who opted out', async () => {
    const response = await call('match=likely&name=Olga+Opitz&company=Nordlicht+Optik');
    await expectProblem(response, { status: 404, code: 'no_match' });
  });

  test('names no person who opted out among those who fit', async () => {
    const response = await call('match=likely&name=Petra+Ohm&company=Nordlicht+Optik&fields=id');
    expect(await response.json()).toMatchObject({ data: { id: 6 } });
  });

  test('with a name needs match=likely', async () => {
    const response = await call('name=Robert+Zwirner&company=Nordlicht+Optik');
    const problem = await expectProblem(response, { status: 400, code: 'missing_identifier' });
    expect(problem.detail ?? '').toMatch(/match=likely/);
  });

  test.each(['test+test', 'X', '%F0%9F%98%80', 'Acme+Holdings+Ltd', 'CEO'])(
    'for the name %s is invalid',
    async (name) => {
      const response = await call(`match=likely&name=${name}&company=Nordlicht+Optik`);
      await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    },
  );
});

describe('a company', () => {
  const company = (query: string) => call(`match=likely&fields=id&${query}`, 'companies/enrich');

  test('matches by another form of its name and its country', async () => {
    const response = await company('name=Nordlicht+Optik&country=DE');
    expect(await response.json()).toMatchObject({ data: { id: 10 } });
  });

  test('of the same name in another country is not it', async () => {
    const response = await company('name=Bergkristall&country=GB');
    expect(await response.json()).toMatchObject({ data: { id: 13 } });
    await expectProblem(await company('name=Bergkristall&country=FR'), {
      status: 404,
      code: 'no_match',
    });
  });

  test.each(['test+test', 'X', '%F0%9F%98%80', 'Inc.', 'sales%40acme.example'])(
    'of the name %s is invalid',
    async (name) => {
      const problem = await expectProblem(await company(`name=${name}`), {
        status: 400,
        code: 'invalid_parameter',
      });
      expect(problem.detail).toMatch(/^name: /);
    },
  );

  test('that is only named when two have the name is ambiguous', async () => {
    await expectProblem(await company('name=Bergkristall'), {
      status: 409,
      code: 'ambiguous_match',
    });
  });
});
