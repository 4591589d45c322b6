/** `fields` selects values of records, also inside their objects, in calls, searches, lists and exports alike. */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.unmeteredAccount(1000);
  await importGraph(pipeline.sql, {
    countries: [{ id: 1, name: 'United Kingdom' }],
    regions: [{ id: 2, name: 'Kent', countryId: 1 }],
    cities: [{ id: 3, name: 'Dover, "Port"', countryId: 1, regionId: 2 }],
    industries: [{ id: 4, name: 'Banking' }],
    companies: [{ id: 10, name: 'Acme, Ltd', industryId: 4, cityId: 3 }],
    persons: [
      {
        id: 1,
        name: 'Ada',
        surname: 'Known',
        email: 'ada@home.example',
        companyId: 10,
        cityId: 3,
        industryId: 4,
        pastCompanies: [
          { id: 7, name: 'Old Ltd' },
          { id: 8, name: 'Older' },
        ],
      },
      { id: 2, name: 'Bob', surname: 'Known', email: 'bob@home.example', countryId: 1 },
    ],
  });
});
afterAll(() => pipeline.close());

const fields = [
  'name',
  'company.name',
  'company.id',
  'city',
  'region',
  'country',
  'industry',
  'cities.countries.name',
  'pastCompanies.name',
];
const ada = {
  name: 'Ada',
  'company.name': 'Acme, Ltd',
  'company.id': 10,
  city: 'Dover, "Port"',
  region: 'Kent',
  country: 'United Kingdom',
  industry: 'Banking',
  'cities.countries.name': 'United Kingdom',
  'pastCompanies.name': 'Old Ltd; Older',
};
const bob = {
  name: 'Bob',
  'company.name': null,
  'company.id': null,
  city: null,
  region: null,
  country: 'United Kingdom',
  industry: null,
  'cities.countries.name': null,
  'pastCompanies.name': null,
};

async function getJson(path: string): Promise<unknown> {
  const response = await pipeline.call(caller, path);
  expect(response.status).toBe(200);
  return response.json();
}

/** The cells of a CSV by their headers, as texts. */
function cellsOf(csv: string): Record<string, string>[] {
  return parse(csv, { columns: true });
}

function expectedCells(person: object, prefix = 'person.'): Record<string, string> {
  return Object.fromEntries(
    Object.entries(person).map(([name, value]) => [prefix + name, String(value ?? '')]),
  );
}

test('a call has the chosen values', async () => {
  const query = `email=ada@home.example&fields=${fields.join(',')}`;
  expect(await getJson(`/v1/people/enrich?${query}`)).toMatchObject({ data: ada });
});

test('a field of the company is not that of the person’s employer', async () => {
  const query = 'email=ada@home.example&fields=company.name,person.company.id,company.industry';
  expect(await getJson(`/v1/people/enrich-with-company?${query}`)).toMatchObject({
    data: {
      person: { 'company.id': 10 },
      company: { name: 'Acme, Ltd', industry: 'Banking' },
    },
  });
});

describe('a search', () => {
  test('has the chosen values, on every page', async () => {
    const path = `/personsearch/?surname=Known&limit=1&fields=${fields.join(',')}`;
    const first = await pipeline.call(caller, path, { headers: { 'Idempotency-Key': 'fields' } });
    expect(await first.json()).toEqual([ada]);
    const again = await pipeline.call(caller, path, { headers: { 'Idempotency-Key': 'fields' } });
    expect(await again.json()).toEqual([ada]);
    const next = /^<(.*)>; rel="next"$/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    expect(await getJson(next)).toEqual([bob]);
  });

  test('by an unknown field is refused before anything is charged', async () => {
    const before = (await pipeline.wallet(caller))?.balance;
    const response = await pipeline.call(caller, '/personsearch/?surname=Known&fields=company.nme');
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors[0]?.field).toBe('fields');
    expect((await pipeline.wallet(caller))?.balance).toBe(before);
  });
});

test('a call and a search take at most 200 names of fields', async () => {
  const names = (count: number) => Array.from({ length: count }, () => 'id').join(',');
  for (const path of ['/personsearch/?surname=Known', '/v1/people/enrich?email=ada@home.example']) {
    expect(await getJson(`${path}&fields=${names(200)}`)).toBeDefined();
    const response = await pipeline.call(caller, `${path}&fields=${names(201)}`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([
      { field: 'fields', message: 'must have at most 200 items' },
    ]);
  }
});

test('an export has them as plain cells, and in JSON lines', async () => {
  const id = await pipeline.makeExport(caller, { filter: 'surname=Known', fields });
  await pipeline.runUntilIdle();
  const { text } = await pipeline.people(caller, id);
  expect(cellsOf(text)).toEqual([expectedCells(ada), expectedCells(bob)]);
  const lines = await pipeline.call(caller, `/v1/exports/${id}/results?format=jsonl`);
  expect(
    (await lines.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([ada, bob]);
});

test('an export of nothing but values inside objects has a row for each person', async () => {
  const id = await pipeline.makeExport(caller, {
    filter: 'surname=Known',
    fields: ['company.name'],
  });
  await pipeline.runUntilIdle();
  const { text } = await pipeline.people(caller, id);
  expect(text).toBe('person.company.name\n"Acme, Ltd"\n""\n');
});

test('a list has them as plain cells, and counts them in its report', async () => {
  const csv = 'email\nada@home.example\nbob@home.example\nnobody@home.example\n';
  const query = { operation: 'people.enrich', fields: fields.join(',') };
  const id = await pipeline.enrich(caller, csv, query);
  const response = await pipeline.call(caller, `/v1/batches/${id}/results`);
  const rows = cellsOf(await response.text());
  expect(rows[0]).toMatchObject(expectedCells(ada));
  expect(rows[1]).toMatchObject(expectedCells(bob));
  const report = await getJson(`/v1/batches/${id}/report`);
  expect(report).toMatchObject({ fill_rate: { 'person.company.name': 0.5, 'person.country': 1 } });
  const lines = await pipeline.call(caller, `/v1/batches/${id}/results?format=jsonl`);
  const [first = '{}', , third = '{}'] = (await lines.text()).split('\n');
  expect(JSON.parse(first)).toMatchObject({ person: ada });
  expect(JSON.parse(third)).toMatchObject({ person: null });
});

describe('a list of an operation that is charged for one value', () => {
  test.each([
    ['people.mobile', '`person.mobile`', 'mobile', 'id'],
    ['people.email-verify', '`email.status`', 'status', 'id,address,verified_at'],
    ['companies.logo', '`company.logo_url`', 'logo_url', 'company.name'],
    ['companies.financials', 'one of `financials.*`', 'revenue', 'id,name'],
  ])('%s is refused without it', async (operation, sold, field, others) => {
    const column = operation.startsWith('people') ? 'email' : 'domain';
    const send = (options: string) =>
      pipeline.call(caller, `/v1/batches?operation=${operation}&${options}`, {
        method: 'POST',
        headers: { 'Content-Type': 'text/csv' },
        body: `${column}\nhome.example\n`,
      });
    const refused = { status: 400, code: 'invalid_parameter' };
    const problem = await expectProblem(await send(`fields=${others}`), refused);
    expect(problem.detail).toContain(sold);
    const held = await send(`fields=${others},${field}&hold=true`);
    expect(held.status).toBe(202);
    const { id } = (await held.json()) as { id: string };
    await pipeline.runUntilIdle();
    const patched = await pipeline.call(caller, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ fields: [] }),
    });
    expect(await expectProblem(patched, refused)).toMatchObject({ errors: [{ field: 'fields' }] });
  });
});
