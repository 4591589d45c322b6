/** Companies are looked up by name or domain, and tell no more than their name and size. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, {
    companies: [
      { id: 1, name: 'Acme Widgets Ltd', domain: 'acme.example' },
      { id: 2, name: 'Acme Wheels GmbH', domain: 'wheels.example' },
      { id: 3, name: 'Acme Owner', domain: 'owner.example' },
    ],
    persons: Array.from({ length: 46 }, (_, at) => {
      const companyId = at < 12 ? 1 : at < 43 ? 2 : 3;
      return { id: 100 + at, email: `p${at}@list.example`, companyId };
    }),
  });
  caller = await pipeline.unmeteredAccount(1);
});
afterAll(() => pipeline.close());

async function lookUp(query: Record<string, string>) {
  const path = `/v1/lookups/companies?${new URLSearchParams(query)}`;
  const response = await pipeline.call(caller, path);
  expect(response.status).toBe(200);
  return ((await response.json()) as { data: Record<string, unknown>[] }).data;
}

const widgets = {
  ...{ type: 'company', id: 1, name: 'Acme Widgets Ltd', count: 10 },
  filter: 'companyId=[1]',
};
const wheels = {
  ...{ type: 'company', id: 2, name: 'Acme Wheels GmbH', count: 30 },
  filter: 'companyId=[2]',
};

test('the beginning of a name finds companies of ten people and more, the largest first', async () => {
  expect(await lookUp({ q: 'ACM' })).toEqual([wheels, widgets]);
  expect(await lookUp({ q: 'acme', limit: '1' })).toEqual([wheels]);
  expect(await lookUp({ q: 'acme wid' })).toEqual([widgets]);
});

test('a whole name, with or without its legal form, or a domain finds a company of any size', async () => {
  expect(await lookUp({ q: 'Acme Widgets' })).toEqual([widgets]);
  expect(await lookUp({ q: 'https://www.acme.example/about' })).toEqual([widgets]);
  for (const q of ['acme owner', 'owner.example']) {
    expect(await lookUp({ q })).toMatchObject([{ id: 3, name: 'Acme Owner', count: 0 }]);
  }
  expect(await lookUp({ q: 'acme own' })).toEqual([]);
  expect(await lookUp({ q: 'acme.exampl' })).toEqual([]);
});

test('ids have their names from ten people on, and unknown texts and ids find nothing', async () => {
  // Ids can be counted through, and a smaller company may be named for its owner.
  expect(await lookUp({ ids: '2,1,3,99' })).toEqual([widgets, wheels]);
  for (const q of ['', '%', 'nothing like it']) expect(await lookUp({ q })).toEqual([]);
});
