/** Companies that are found by their name, in rows that state a country. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';
import { emptyCompany } from '../../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const company = (id: number, name: string, place: object, domain: string | null = null) => {
    return { ...emptyCompany, id, name, domain, domains: null, aliases: null, ...place };
  };
  const country = (id: number, name: string) => ({ countryId: id, countries: { id, name } });
  const companies = [
    company(1, 'Delta Corp Limited', country(4, 'India'), 'delta.example'),
    company(2, 'Gamma Ltd', country(5, 'United Kingdom')),
    company(3, 'Gamma GmbH', country(6, 'Germany')),
    company(4, 'Gamma Inc', {}),
    company(5, 'Omega', {}),
    company(6, 'Sigma GmbH & Co. KG', country(6, 'Germany')),
    company(7, 'Bergkristall AG', { registryNumber: 'HRB 1234', registryCountry: 'DE' }),
    company(8, 'Kappa Inc', { locality: 'San Francisco, CA' }),
    company(9, 'Rho Harbour Ltd', { registryNumber: '12345678', registryCountry: 'GB' }),
  ];
  await importGraph(pipeline.sql, { companies } as never);
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

const operation = 'companies.enrich';

async function outcomesOf(list: string, more: Record<string, string> = {}): Promise<string[]> {
  const id = await pipeline.enrich(caller, list, { operation, fields: 'id', ...more });
  const { text } = await pipeline.results(caller, id);
  return text.trimEnd().split('\n').slice(1);
}

describe('a name in a row with a country', () => {
  test('is never that of a company elsewhere, and prefers the one of the country', async () => {
    const rows = await outcomesOf(
      'Company,Country\nDelta Corp,US\nDelta Corp,India\nDelta Corp,\nGamma,UK\nGamma,Deutschland\nGamma,France\nGamma,\nOmega,US\nSigma,DE\n',
    );
    expect(rows).toEqual([
      'Delta Corp,US,no_match,name,not_found,,0,,',
      'Delta Corp,India,matched,name,,false,1,yes,1',
      'Delta Corp,,matched,name,,false,1,unknown,1',
      'Gamma,UK,matched,name,,false,1,yes,2',
      'Gamma,Deutschland,matched,name,,false,1,yes,3',
      'Gamma,France,matched,name,,false,1,unknown,4',
      'Gamma,,ambiguous,name,shared_by_3_records,,0,,',
      'Omega,US,matched,name,,false,1,unknown,5',
      'Sigma,DE,matched,name,,false,1,yes,6',
    ]);
  });

  test('finds a company of California, which is not in Canada', async () => {
    const rows = await outcomesOf('Company,Country\nKappa,US\n');
    expect(rows).toEqual(['Kappa,US,matched,name,,false,1,unknown,8']);
  });

  test('leaves a company that another identifier finds', async () => {
    const rows = await outcomesOf('Company,Website,Country\nDelta Corp,delta.example,US\n');
    expect(rows).toEqual(['Delta Corp,delta.example,US,matched,domain,,false,1,yes,1']);
  });

  test('is read alike in a single call', async () => {
    const call = (query: string) => pipeline.call(caller, `/v1/companies/enrich?${query}`);
    const elsewhere = await call('name=Delta+Corp&country=US');
    await expectProblem(elsewhere, { status: 404, code: 'no_match' });
    expect((await call('name=Delta+Corp&country=IN')).status).toBe(200);
    expect(await (await call('name=Gamma&country=GB')).json()).toMatchObject({ data: { id: 2 } });
    await expectProblem(await call('name=Gamma'), { status: 409, code: 'ambiguous_match' });
  });
});

test('the country of a list is that of its rows without one, as in a call', async () => {
  const list =
    'Company,Country\nDelta Corp,\nDelta Corp,n/a\nDelta Corp,India\nDelta Corp,Narnia\nGamma,\n';
  const none = 'name,not_found,,0,,';
  const missed = ['Delta Corp,,no_match', 'Delta Corp,n/a,no_match'].map((row) => `${row},${none}`);
  const found = ['Delta Corp,India,matched,name,,false,1,yes,1'];
  const unread = 'Delta Corp,Narnia,matched,name,,false,1,unknown,1';
  const home = 'Gamma,,matched,name,,false,1,yes,2';
  expect(await outcomesOf(list, { country: 'GB' })).toEqual([...missed, ...found, unread, home]);
  const alone = 'Company\nDelta Corp\nGamma\n';
  expect(await outcomesOf(alone, { country: 'GB' })).toEqual([
    `Delta Corp,no_match,${none}`,
    'Gamma,matched,name,,false,1,yes,2',
  ]);
});

describe('a number of one of many registers is not that of a company with another name', () => {
  const list =
    'Firm,Number,Country\nBergkristall,HRB 1234,DE\nNordlicht Optik GmbH,HRB 1234,DE\n,HRB 1234,DE\n';

  test('which is looked up too', async () => {
    const rows = await outcomesOf(list.replace('Firm,Number', 'Company,Registry number'));
    expect(rows).toEqual([
      'Bergkristall,HRB 1234,DE,matched,registry_number,,false,1,yes,7',
      'Nordlicht Optik GmbH,HRB 1234,DE,no_match,registry_number name,not_found,,0,,',
      ',HRB 1234,DE,matched,registry_number,,false,1,unknown,7',
    ]);
  });

  test('which is only compared', async () => {
    const columns = { registry_number: ['Number'], country: ['Country'], company_name: ['Firm'] };
    const rows = await outcomesOf(list, { mapping: JSON.stringify(columns) });
    expect(rows).toEqual([
      'Bergkristall,HRB 1234,DE,matched,registry_number,,false,1,yes,7',
      'Nordlicht Optik GmbH,HRB 1234,DE,no_match,registry_number,not_found,,0,,',
      ',HRB 1234,DE,matched,registry_number,,false,1,unknown,7',
    ]);
  });
});

test('a number that is read as British for want of a country is not that of a company of another form', async () => {
  const rows = await outcomesOf(
    'Company,Registry number\nJansen Bouw B.V.,12345678\nJansen Bouw,12345678\nRho Harbour GmbH,12345678\nMøller Bryg A/S,12345678\nMuebles Sol SA de CV,12345678\nMeubles Sol SA,12345678\nRho Harbour S.A.,12345678\n',
  );
  expect(rows).toEqual([
    'Jansen Bouw B.V.,12345678,no_match,registry_number name,not_found,,0,,',
    'Jansen Bouw,12345678,matched,registry_number,,false,1,no,9',
    'Rho Harbour GmbH,12345678,matched,registry_number,,false,1,yes,9',
    'Møller Bryg A/S,12345678,no_match,registry_number name,not_found,,0,,',
    'Muebles Sol SA de CV,12345678,no_match,registry_number name,not_found,,0,,',
    'Meubles Sol SA,12345678,no_match,registry_number name,not_found,,0,,',
    'Rho Harbour S.A.,12345678,matched,registry_number,,false,1,yes,9',
  ]);
});

test('a column of persons’ names is not looked up as companies', async () => {
  const rows = await outcomesOf('Name,Email\nOmega,x@gmail.com\nOmega,x@delta.example\n');
  expect(rows).toEqual([
    'Omega,x@gmail.com,invalid,,free_mail_domain,,0,',
    'Omega,x@delta.example,matched,domain,,false,1,1',
  ]);
});
