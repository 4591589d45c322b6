/** Filters by the id of a company that an import has joined with another one since. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { filesOf, noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRecord } from '../core/graph/sources/source-record.ts';
import { splitRecords, undoSplit } from '../core/graph/sources/split.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppressPeople } from '../core/suppression/suppress.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

function load(source: string, asOf: string, ...records: SourceRecord[]) {
  const input = sourceInput({ source, asOf, rows: filesOf(records) });
  return importSource(pipeline.sql, input, { rejects: noRejects() });
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

describe('an officer who opts out of a company', () => {
  const number = { registryNumber: '01234567', registryCountry: 'GB' };
  const company: SourceRecord = {
    entity: 'company',
    key: 'acme',
    record: { name: 'Acme Ltd', ...number },
  };
  const ada = { id: 1, name: 'Ada', surname: 'Lark', birthYear: 1970 };

  function officer(key: string, name: string, birthYear: number): SourceRecord {
    const record = { name, birthYear, role: 'director' };
    return { entity: 'officer', key, record, company: ['key:register/acme'] };
  }
  const lark = officer('a', 'LARK, Ada', 1970);

  /** The stored names of officers; null for a hidden one. */
  async function named() {
    const rows = await pipeline.sql<{ name: string }[]>`select name from officers order by name`;
    return rows.map(({ name }) => (name.startsWith('suppressed:') ? null : name));
  }

  it('that others became a part of stays unnamed when they are parted', async () => {
    await load('register', '2026-01-01', company, lark, officer('b', 'CROW, Ben', 1980));
    await importGraph(pipeline.sql, { persons: [ada] });
    await importGraph(pipeline.sql, { companies: [{ id: 5, name: 'Acme', ...number }] });
    await suppressPeople(pipeline.sql, [1], []);
    await importGraph(pipeline.sql, {
      companies: [{ id: 5, name: 'Acme', registryNumber: '07654321', registryCountry: 'GB' }],
    });
    expect(await named()).toEqual(['CROW, Ben', null]);
  });

  it('has no name in results from before it became a part of another one', async () => {
    await load('register', '2026-01-01', company, lark);
    const list = 'registry_number\n01234567\n';
    const id = await pipeline.enrich(by, list, { operation: 'companies.enrich' });
    const results = async () => (await pipeline.call(by, `/v1/batches/${id}/results`)).text();
    expect(await results()).toMatch('LARK, Ada');
    await importGraph(pipeline.sql, { persons: [ada] });
    await importGraph(pipeline.sql, { companies: [{ id: 5, name: 'Acme', ...number }] });
    await suppressPeople(pipeline.sql, [1], []);
    expect(await results()).not.toMatch('LARK, Ada');
  });

  it('that has the name in two spellings is imported again', async () => {
    const two = [lark, officer('b', 'Lark, Ada', 1970)];
    await load('register', '2026-01-01', company, ...two);
    await importGraph(pipeline.sql, { persons: [ada] });
    await suppressPeople(pipeline.sql, [1], []);
    const renamed = { ...company, record: { ...company.record, name: 'Acme Limited' } };
    await load('register', '2026-01-02', renamed, ...two);
    const own = two.map(({ record }) => ({ ...number, ...record, role: 'secretary' }));
    await importGraph(pipeline.sql, { officers: own });
    expect(await named()).toEqual([null, null]);
    const directors = two.map(({ record }) => ({ name: record.name, role: 'owner' }));
    await importGraph(pipeline.sql, {
      companies: [{ id: 5, name: 'Acme', ...number, directors }],
    });
    expect(await named()).toEqual([null, null, null]);
  });

  it('and is erased stays unnamed when another source has the company again', async () => {
    await load('register', '2026-01-01', company);
    await load('offices', '2026-01-01', { ...lark, company: ['registry:GB-01234567'] });
    await importGraph(pipeline.sql, { persons: [ada] });
    expect(await erasePerson(pipeline.context, { id: 1 })).toMatchObject({ left: [] });
    await load('register', '2026-01-02', { ...company, record: { name: 'Acme Ltd' } });
    await load('other', '2026-01-03', company);
    expect(await named()).toEqual([null]);
    await load('offices', '2026-01-04', { ...lark, company: ['registry:GB-01234567'] });
    expect(await named()).toEqual([null]);
  });

  describe('that was joined before it was ever built', () => {
    const own = (registryNumber: string) =>
      importGraph(pipeline.sql, {
        companies: [{ id: 5, name: 'Acme', registryNumber, registryCountry: 'GB' }],
      });

    beforeEach(async () => {
      await own('01234567');
      const record = { name: 'Ada', surname: 'Lark', birthYear: 1970 };
      await load('crm', '2026-01-01', { entity: 'person', key: 'ada', record });
      await load('register', '2026-01-01', company, lark, officer('b', 'CROW, Ben', 1980));
      const rows = rowsOf({ line: 2, optedOut: [], keys: [['person', 'ada']] });
      const input = sourceInput({ source: 'crm', asOf: '2026-01-02', rows });
      await importSource(pipeline.sql, input, { rejects: noRejects() });
      expect(await named()).toEqual(['CROW, Ben', null]);
    });

    it('stays unnamed when a later file parts it', async () => {
      await own('07654321');
      expect(await named()).toEqual(['CROW, Ben', null]);
    });

    it('stays unnamed when it is split by hand', async () => {
      const [record] = await pipeline.sql<{ number: number }[]>`
        select number from source_records where source = 'register' and entity = 1`;
      await splitRecords(pipeline.sql, 'company', 5, [must(record, 'record').number]);
      expect(await named()).toEqual(['CROW, Ben', null]);
    });
  });

  it.each([
    ['stays', 'register', 'other'],
    ['is taken out', 'other', 'register'],
  ])(
    'that %s of two wrongly joined ones hides no namesake in the other',
    async (_how, hers, innocent) => {
      const born: Record<string, number> = { [hers]: 1970, [innocent]: 1985 };
      await load('other', '2026-01-01', acme('acme-other.example'));
      for (const source of ['register', 'other']) {
        const office = officer('a', 'LARK, Ada', must(born[source], source));
        await load(source, '2026-01-02', acme('acme.example'), {
          ...office,
          record: { ...office.record, role: source },
          company: [`key:${source}/acme`],
        });
      }
      await importGraph(pipeline.sql, { persons: [ada] });
      await suppressPeople(pipeline.sql, [1], []);
      expect(await named()).toEqual([null, null]);
      const [record] = await pipeline.sql<{ number: number; id: number }[]>`
      select number, id from source_records where source = 'other' and entity = 1`;
      const { number: taken, id } = must(record, 'record');
      const { split } = await splitRecords(pipeline.sql, 'company', id, [taken]);
      const roles = () => pipeline.sql`
      select role from officers where name not like 'suppressed:%'`;
      expect(await roles()).toEqual([{ role: innocent }]);
      await undoSplit(pipeline.sql, split);
      expect(await roles()).toEqual([]);
      await splitRecords(pipeline.sql, 'company', id, [taken]);
      expect(await roles()).toEqual([{ role: innocent }]);
    },
  );

  describe('that is parted after the person has left', () => {
    const office = (source: string, birthYear: number): SourceRecord => {
      const { record, ...rest } = officer('a', 'LARK, Ada', birthYear);
      return { ...rest, record: { ...record, role: source }, company: [`key:${source}/acme`] };
    };
    const person = (key: string, birthYear: number): SourceRecord => {
      return { entity: 'person', key, record: { name: 'Ada', surname: 'Lark', birthYear } };
    };
    const optOut = async (key: string) => {
      const [found] = await pipeline.sql<{ id: number }[]>`
        select id from source_records where source = 'crm' and key = ${key}`;
      await suppressPeople(pipeline.sql, [must(found, key).id], []);
    };
    const leave = async (...keys: string[]) => {
      const rows = rowsOf(...keys.map((key) => ({ line: 2, ended: ['person', key] as const })));
      const input = sourceInput({ source: 'crm', asOf: '2026-01-05', rows });
      await importSource(pipeline.sql, input, { rejects: noRejects() });
      const [left] = await pipeline.sql`select count(*)::int as people from persons`;
      expect(left).toEqual({ people: 0 });
    };
    const part = async () => {
      const [record] = await pipeline.sql<{ number: number; id: number }[]>`
        select number, id from source_records where source = 'other' and entity = 1`;
      const { number: taken, id } = must(record, 'record');
      await splitRecords(pipeline.sql, 'company', id, [taken]);
    };
    const join = () => load('other', '2026-01-02', acme('acme.example'));

    beforeEach(async () => {
      await load('register', '2026-01-01', acme('acme.example'));
      await load('other', '2026-01-01', acme('acme-other.example'));
    });

    describe.each([
      ['register', 'other'],
      ['other', 'register'],
    ])('and that %s states first', (first, second) => {
      it.each([
        ['then', false],
        ['later', true],
      ])(
        `stays unnamed in an office that ${second} states, when it was joined %s`,
        async (_when, isLater) => {
          if (!isLater) await join();
          await load('crm', '2026-01-03', person('ada', 1970));
          await load(first, '2026-01-03', office(first, 1970));
          await optOut('ada');
          if (isLater) await join();
          await load(second, '2026-01-04', office(second, 1970));
          await leave('ada');
          await part();
          expect(await named()).toEqual([null, null]);
        },
      );
    });

    it.each([
      ['register', 'other'],
      ['other', 'register'],
    ])(
      'of %s stays unnamed, and a namesake of the other one is named again',
      async (hers, innocent) => {
        await load('crm', '2026-01-03', person('ada', 1970));
        await load(hers, '2026-01-03', office(hers, 1970));
        await load(innocent, '2026-01-03', office(innocent, 1985));
        await optOut('ada');
        await join();
        expect(await named()).toEqual([null, null]);
        await leave('ada');
        await part();
        const roles =
          await pipeline.sql`select role from officers where name not like 'suppressed:%'`;
        expect(roles).toEqual([{ role: innocent }]);
      },
    );

    it('stays unnamed, and so does a namesake who opted out after her', async () => {
      await join();
      await load('crm', '2026-01-03', person('ada', 1970), person('namesake', 1985));
      await load('register', '2026-01-03', office('register', 1970));
      await load('other', '2026-01-03', office('other', 1985));
      await optOut('ada');
      await optOut('namesake');
      await leave('ada', 'namesake');
      await part();
      expect(await named()).toEqual([null, null]);
    });

    it('stays unnamed, and a namesake who did not opt out is named again', async () => {
      await join();
      await load('crm', '2026-01-03', person('ada', 1970));
      await load('register', '2026-01-03', office('register', 1970));
      await load('other', '2026-01-03', office('other', 1985));
      await optOut('ada');
      await leave('ada');
      await part();
      expect(await named()).toEqual(['LARK, Ada', null]);
    });
  });
});

it('keep the facts that a file of one’s own has of it when it leaves a register and returns', async () => {
  const number = { registryNumber: '01234567', registryCountry: 'GB' };
  const company: SourceRecord = {
    entity: 'company',
    key: 'acme',
    record: { name: 'Acme Ltd', ...number },
  };
  const { import_id: imported } = await load('register', '2026-01-01', company);
  await importGraph(pipeline.sql, {
    officers: [{ ...number, name: 'LARK, Ada', role: 'director' }],
    financials: [{ ...number, periodEnd: '2025-12-31', currency: 'GBP', revenue: 7 }],
  });
  await undoImport(pipeline.sql, must(imported, 'import'));
  await load('register', '2026-01-02', company);
  const [facts] = await pipeline.sql`
    select (select count(*)::int from officers o join companies c on c.id = o.company_id) as officers,
      (select count(*)::int from financial_periods f join companies c on c.id = f.company_id) as periods`;
  expect(facts).toEqual({ officers: 1, periods: 1 });
});
