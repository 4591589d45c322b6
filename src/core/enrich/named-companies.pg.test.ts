/** Companies whose names are equal but for what sources add and omit at will: legal forms, `Group`, `Holdings`. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { rowOf } from '../../../tests/support/rows.ts';
import { emptyCompany } from '../../../tests/support/small-graph.ts';
import type { CompanyReader } from './company-reader.ts';
import { enrichMany } from './enrich-many.ts';
import { postgresGraph } from './graph-reader.ts';
import type { RowInput } from './outcomes.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const company = (id: number, name: string, more: object = {}) => {
    return { ...emptyCompany, id, name, domains: null, aliases: null, ...more };
  };
  const companies = [
    company(1, 'LARK GROUP LIMITED'),
    company(2, 'RAVEN HOLDINGS LIMITED'),
    company(3, 'ROBIN LIMITED'),
    company(4, 'SWIFT GROUP PLC'),
    company(5, 'SWIFT LIMITED'),
    company(6, 'Heron plc', { aliases: ['Heron Holdings'], formerNames: ['HERON LIMITED'] }),
    company(7, 'Finch Company', { domain: 'finch.example' }),
    company(8, 'SELF EMPLOYED LIMITED'),
    company(9, 'PIPIT LIMITED'),
    company(11, 'KITE MOTORS LIMITED', { domain: 'kite.example' }),
    company(12, 'ROOK CARS LTD'),
    company(10, 'COMPANY SISKIN LTD', { aliases: ['Group Wren'] }),
  ];
  await importGraph(pipeline.sql, { companies } as never);
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

test.each([
  ['Lark', 1],
  ['Lark Group', 1],
  ['The Lark Group Ltd.', 1],
  ['Lark Ltd', null],
  ['Lark Holdings Ltd', null],
  ['Raven', 2],
  ['Raven Holding Ltd', 2],
  ['Raven Group PLC', null],
  ['Robin', 3],
  ['Robin Ltd', 3],
  ['Robin LLP', null],
  ['Robin Holdings', null],
  ['Swift', 'ambiguous'],
  ['Swift Group plc', 'ambiguous'],
  ['Swift Ltd', 'ambiguous'],
  ['Swift Holdings Ltd', null],
  ['Heron Ltd', 6],
  ['Heron Holdings', 6],
  ['Heron Group', null],
  ['The Finch Company Ltd', 7],
  ['Self Employed Ltd', 8],
  ['Self-employed', null],
  ['Pipit Company Ltd', 9],
  ['Company Pipit Ltd', null],
  ['The Company Pipit', null],
  ['Siskin Ltd', null],
  ['Company Siskin', 10],
])('%s is the company %s, in a call as in a list', async (name, expected) => {
  const call = await pipeline.call(caller, `/v1/companies/enrich?name=${encodeURIComponent(name)}`);
  const found = typeof expected === 'number' ? { data: { id: expected } } : {};
  expect(await call.json()).toMatchObject(found);
  expect(call.status).toBe(expected === null ? 404 : expected === 'ambiguous' ? 409 : 200);
  const options = { operation: 'companies.enrich', fields: 'id' };
  const list = await pipeline.enrich(caller, `Company\n${name}\n`, options);
  const [, row = ''] = (await pipeline.results(caller, list)).text.split('\n');
  const [, status, , , , credits, , id] = row.split(',');
  const isFound = typeof expected === 'number';
  expect([status, credits, id]).toEqual([
    isFound ? 'matched' : (expected ?? 'no_match'),
    isFound ? '1' : '0',
    isFound ? String(expected) : '',
  ]);
});

test('a company that another identifier finds is not left out for its name', async () => {
  const list = 'Company,Website\nFinch Group Ltd,finch.example\n';
  const options = { operation: 'companies.enrich', fields: 'id' };
  const { text } = await pipeline.results(caller, await pipeline.enrich(caller, list, options));
  expect(text.split('\n')[1]).toMatch(/,matched,domain,,false,1,\w+,7$/);
});

test.each([
  ['Company,Email', 'Kite Motors,jane@kite.example', /,matched,domain,,false,1,\w+,11$/],
  ['Company,Email', 'Rook Cars,jane@kite.example', /,matched,name,,false,1,\w+,12$/],
  ['Company,Email', 'Plover Vans Ltd,jane@kite.example', /,matched,domain,,false,1,no,11$/],
  ['Company,Email', ',jane@kite.example', /,matched,domain,,false,1,\w*,11$/],
  ['Company,Website', 'Rook Cars,kite.example', /,matched,domain,,true,1,no,11$/],
])(
  'the domain of an address is not that of a company when the name is another one’s: %s, %s',
  async (header, row, expected) => {
    const options = { operation: 'companies.enrich', fields: 'id' };
    const list = await pipeline.enrich(caller, `${header}\n${row}\n`, options);
    const { text } = await pipeline.results(caller, list);
    expect(text.split('\n')[1]).toMatch(expected);
  },
);

test('the companies that rows may not mean are read at once, for their names and their domains', async () => {
  const { sql } = pipeline.context;
  const { people, companies } = postgresGraph(sql);
  let reads = 0;
  const read: CompanyReader['read'] = (...asked) => {
    reads++;
    return companies.read(...asked);
  };
  const operation = 'companies.enrich';
  const rows: RowInput[] = [
    rowOf(operation, { name: 'Lark Ltd' }),
    {
      ...rowOf(operation, { domain: 'kite.example', name: 'Rook Cars' }),
      isDomainOfAddress: true,
    },
  ];
  const reader = { people, companies: { ...companies, read } };
  const outcomes = await enrichMany(sql, operation, rows, { reader });
  expect(outcomes.map(({ status, by, id }) => [status, by, id])).toEqual([
    ['no_match', 'name', 0],
    ['matched', 'name', 12],
  ]);
  // The match is read after them.
  expect(reads).toBe(2);
});
