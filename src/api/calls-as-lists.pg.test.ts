/** A call by name with an identifier decides as a row of a list that has both. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { emptyCompany, emptyPerson } from '../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const company = (id: number, name: string, more: object) => {
    return { ...emptyCompany, id, name, domain: null, domains: null, aliases: null, ...more };
  };
  const person = (id: number, name: string, surname: string, email: string) => {
    return { ...emptyPerson, id, name, surname, email };
  };
  const companies = [
    company(7, 'Bergkristall AG', { registryNumber: 'HRB 1234', registryCountry: 'DE' }),
    company(8, 'Meridian Parent', { domain: 'parent.example' }),
    company(9, 'Rho Harbour Ltd', { registryNumber: '12345678', registryCountry: 'GB' }),
  ];
  const persons = [
    person(1, 'Ada', 'Lovely', 'info@lark.example'),
    person(2, 'Cora', 'Quiet', 'noreply@lark.example'),
  ];
  await importGraph(pipeline.sql, { companies, persons } as never);
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

const company = 'companies.enrich';
const person = 'people.enrich';
type Case = [operation: string, cells: Record<string, string>, id: number | null];
const cases: Case[] = [
  [company, { registry_number: 'HRB 1234', country: 'DE', name: 'Bergkristall' }, 7],
  [company, { registry_number: 'HRB 1234', country: 'DE', name: 'Nordlicht Optik GmbH' }, null],
  [company, { registry_number: '12345678', name: 'Jansen Bouw B.V.' }, null],
  [company, { registry_number: '12345678', name: 'Rho Harbour Ltd' }, 9],
  [company, { domain: 'max@parent.example', name: 'Bergkristall AG' }, 7],
  [company, { domain: 'max@parent.example', name: 'Unheard Brand' }, 8],
  [company, { domain: 'max@parent.example', name: 'Meridian' }, 8],
  [company, { domain: 'www.parent.example', name: 'Bergkristall AG' }, 8],
  [person, { email: 'info@lark.example', name: 'Ada Lovely' }, 1],
  [person, { email: 'info@lark.example', name: 'Carol Distant' }, null],
  [person, { email: 'noreply@lark.example', name: 'Cora Quiet' }, 2],
  [person, { email: 'noreply@lark.example', name: 'Carol Distant' }, null],
];
const exact = cases.filter(([operation]) => operation === person);

test.each([
  ...cases.map((one) => ['likely', ...one] as const),
  ...exact.map((one) => ['exact', ...one] as const),
])('match=%s: %s %j', async (match, operation, cells, id) => {
  const [subject = '', action = ''] = operation.split('.');
  const call = await pipeline.call(
    caller,
    `/v1/${subject}/${action}?${new URLSearchParams({ ...cells, match })}`,
  );
  const columns = Object.keys(cells);
  const name = operation === person ? 'person_name' : 'name';
  const mapping = Object.fromEntries(
    columns.map((column, at) => [column === 'name' ? name : column, [at + 1]]),
  );
  const csv = `${columns.join(',')}\n${Object.values(cells).join(',')}\n`;
  const options = { operation, fields: 'id', match, mapping: JSON.stringify(mapping) };
  const list = await pipeline.enrich(caller, csv, options);
  const results = await pipeline.call(caller, `/v1/batches/${list}/results?format=jsonl`);
  const { person: someone, company: some } = JSON.parse(await results.text());
  const body = (await call.json()) as { data?: { id: number } };
  const found = { call: body.data?.id ?? null, list: (someone ?? some)?.id ?? null };
  expect(found).toEqual({ call: id, list: id });
});
