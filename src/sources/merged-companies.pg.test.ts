/** Filters by the id of a company that an import has joined with another one since. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { filesOf, noRejects, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRecord } from '../core/graph/sources/source-record.ts';
import { must } from '../core/lib/assert.ts';
import { suppressPeople } from '../core/suppression/suppress.ts';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

async function load(source: string, asOf: string, ...records: SourceRecord[]): Promise<void> {
  const input = sourceInput({ source, asOf, rows: filesOf(records) });
  await importSource(pipeline.sql, input, { rejects: noRejects() });
}

const acme = (domain: string): SourceRecord => {
  return { entity: 'company', key: 'acme', record: { name: 'Acme Ltd', domain } };
};

async function found(filter: string): Promise<string[]> {
  const response = await pipeline.call(by, `/v1/personsearch?surname=Lark&${filter}`);
  return ((await response.json()) as { name: string }[]).map(({ name }) => name);
}

it('find and leave out its people', async () => {
  const record = { name: 'Ada', surname: 'Lark', email: 'ada@home.example' };
  await load('register', '2026-01-01', acme('acme.example'));
  await load('crm', '2026-01-01', acme('acme-old.example'), {
    ...{ entity: 'person', key: 'ada', record, company: ['key:crm/acme'] },
  });
  const [person] = await pipeline.sql<{ companyId: number }[]>`select company_id from persons`;
  const { companyId } = must(person, 'a person');
  const filters = [`companyId=[${companyId}]`, `company.id=${companyId}`];
  const all = async () => {
    const included = await Promise.all(filters.map(found));
    return [...included, await found(`not.companyId=[${companyId}]`)];
  };
  expect(await all()).toEqual([['Ada'], ['Ada'], []]);
  await load('crm', '2026-01-02', acme('acme.example'));
  const [moved] = await pipeline.sql<{ companyId: number }[]>`select company_id from persons`;
  expect(moved?.companyId).not.toBe(companyId);
  expect(await all()).toEqual([['Ada'], ['Ada'], []]);
});

it('keep the facts that a file of one’s own has of it, also when it is joined with a company of another one', async () => {
  const number = { registryNumber: '01234567', registryCountry: 'GB' };
  const record = { name: 'Acme Ltd', ...number };
  await load('register', '2026-01-01', { entity: 'company', key: 'acme', record });
  const period = { ...number, periodEnd: '2025-12-31', currency: 'GBP', revenue: 7 };
  await importGraph(pipeline.sql, {
    officers: [{ ...number, name: 'LARK, Ada', role: 'director' }],
    financials: [period],
  });
  await importGraph(pipeline.sql, { companies: [{ id: 5, ...record }] });
  const [facts] = await pipeline.sql`
    select (select array_agg(company_id) from officers) as officers,
      (select array_agg(company_id) from financial_periods) as periods,
      (select array_agg(id) from companies) as companies`;
  expect(facts).toEqual({ officers: [5], periods: [5], companies: [5] });
});

it('keep an officer who opted out unnamed when they are joined with a company of another source', async () => {
  const number = { registryNumber: '01234567', registryCountry: 'GB' };
  const record = { name: 'Acme Ltd', ...number };
  const lark = { name: 'LARK, Ada', birthYear: 1970 };
  const crow = { name: 'CROW, Ben', birthYear: 1980 };
  const officer = (key: string, given: object): SourceRecord => {
    const of = ['key:register/acme'];
    return { entity: 'officer', key, record: { ...given, role: 'director' }, company: of };
  };
  const acmeOfRegister: SourceRecord = { entity: 'company', key: 'acme', record };
  await load('register', '2026-01-01', acmeOfRegister, officer('a', lark), officer('b', crow));
  const ada = { id: 1, name: 'Ada', surname: 'Lark', birthYear: 1970 };
  const secretary = { ...number, ...lark, role: 'secretary' };
  await importGraph(pipeline.sql, { persons: [ada], officers: [secretary] });
  await suppressPeople(pipeline.sql, [1], []);
  const named = () => pipeline.sql`
    select name, company_id from officers where name not like 'suppressed:%'`;
  await importGraph(pipeline.sql, { companies: [{ id: 5, ...record }] });
  expect(await named()).toEqual([{ name: 'CROW, Ben', companyId: 5 }]);
  await importGraph(pipeline.sql, { officers: [secretary] });
  await load('register', '2026-01-02', acmeOfRegister, officer('a', lark), officer('b', crow));
  expect(await named()).toEqual([{ name: 'CROW, Ben', companyId: 5 }]);
});
