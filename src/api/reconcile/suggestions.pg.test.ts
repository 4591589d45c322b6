/** Suggestions and previews of the reconciliation service, as OpenRefine asks for them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { changeOwnedDays } from '../../core/credits/owned.ts';
import { createKey } from '../../core/keys/keys.ts';

let pipeline: Pipeline;
let key: string;

const companies = [
  { id: 10, name: 'Nordlicht Optik GmbH' },
  { id: 12, name: 'Bergkristall AG' },
  { id: 13, name: 'Bergkristall Ltd' },
];
const persons = [
  { id: 1, name: 'Robert', surname: 'Zwirner', companyId: 10 },
  ...Array.from({ length: 10 }, (_, n) => {
    return { id: 1000 + n, name: `Given${n}`, surname: `Family${n}`, companyId: 12 };
  }),
];

beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { companies, persons });
  const { accountId } = await pipeline.account(0);
  await changeOwnedDays(pipeline.sql, accountId, 30);
  const limits = { requestsPerMinute: 1_000, requestsPerDay: 1_000 };
  const made = { accountId, mode: 'live', scopes: ['reconcile'], ...limits } as const;
  ({ key } = await createKey(pipeline.sql, { ...made, scopes: ['reconcile'] }));
});
afterAll(() => pipeline.close());

const get = (path: string) => pipeline.call(null, `/v1/reconcile/${key}${path}`);

test('suggestions name companies as a lookup does, properties and types', async () => {
  const result = async (path: string) =>
    ((await (await get(path)).json()) as { result: { id: string }[] }).result.map(({ id }) => id);
  // Ten people or more: a smaller one is found by its whole name.
  expect(await result('/suggest/entity?prefix=berg')).toEqual(['company-12']);
  expect(await result('/suggest/entity?prefix=nordlicht+optik+gmbh')).toEqual(['company-10']);
  expect(await result('/suggest/entity?prefix=company-12')).toEqual(['company-12']);
  expect(await result('/suggest/entity?prefix=company-13')).toEqual([]);
  expect(await result('/suggest/entity?prefix=robert')).toEqual([]);
  expect(await result('/suggest/property?prefix=co&type=company')).toEqual([
    'country',
    'company_name',
  ]);
  expect(await result('/suggest/property?prefix=title&type=company')).toEqual(['position']);
  expect(await result('/suggest/type?prefix=Pers')).toEqual(['person']);
});

test('the box that searches for columns to add finds fields, under the ids that an extension takes', async () => {
  // As recorded from OpenRefine 3.6.2: without a type.
  const found = async (prefix: string) => {
    const rest = 'spell=always&exact=false&scoring=schema&prefixed=true';
    const response = await get(`/suggest/property?prefix=${prefix}&${rest}`);
    return ((await response.json()) as { result: { id: string }[] }).result.map(({ id }) => id);
  };
  expect(await found('local')).toEqual(['locality']);
  // The job title is the field of that content; `title` is the form of address.
  expect(await found('job+t')).toEqual(['position']);
  expect(await found('titl')).toEqual(['position', 'title']);
});

test.each([
  ['entity', 'berg', 'company-12'],
  ['property', 'cou', 'country'],
  ['type', 'com', 'company'],
])(
  'suggestions of the kind %s are made with all that OpenRefine sends',
  async (kind, prefix, id) => {
    // As recorded from OpenRefine 3.6.2.
    const rest = 'spell=always&exact=false&scoring=schema&prefixed=true&type=company';
    const response = await get(`/suggest/${kind}?prefix=${prefix}&${rest}`);
    expect(await response.json()).toMatchObject({ result: [{ id }] });
  },
);

test('suggestions are told in some words while the pointer is on them', async () => {
  const told = async (id: string) =>
    ((await (await get(`/flyout?id=${id}`)).json()) as { id: string; html: string }).html;
  expect(await told('company-12')).toContain('<b>Bergkristall AG</b>');
  expect(await told('person-1')).not.toMatch(/Robert|Zwirner/);
  expect(await told('country')).toContain('<b>Country</b>');
  expect(await told('title')).toContain('Form of address');
  expect(await told('company')).toContain('<b>Company</b>');
  const problem = await expectProblem(await get('/flyout?id=%3Cscript%3E'), {
    status: 400,
    code: 'invalid_parameter',
  });
  expect(problem.detail).toMatch(/^id: must be an id of this service/);
});

test('previews are pages that load nothing, and tell nothing of a person', async () => {
  const response = await get('/preview?id=company-12');
  expect(response.headers.get('content-security-policy')).toMatch(
    /default-src 'none'.*frame-ancestors \*/,
  );
  expect(await response.text()).toContain('Bergkristall AG');
  // Of a company of one person, which may be named for them.
  expect(await (await get('/preview?id=company-10')).text()).not.toContain('Nordlicht');
  const person = await (await get('/preview?id=person-1')).text();
  expect(person).not.toMatch(/Robert|Zwirner/);
  expect(await (await get('/preview?id=person-999')).text()).toBe(
    person.replaceAll(' 1.', ' 999.'),
  );
});
