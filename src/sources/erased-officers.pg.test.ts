/** Erasures of officers: what registers say of their offices stays without name and birth, also later. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { erasuresOf } from '../../tests/support/erasures.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppressPeople } from '../core/suppression/suppress.ts';
import { importText, withoutBuild } from './import-files.test-suite.ts';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const { erase, idOf, served, said } = erasuresOf(() => pipeline);

describe('an officer of a register', () => {
  const number = '923609016';
  const other = '974760673';

  function importUnits(asOf: string) {
    const units = [number, other].map((one) => ({ organisasjonsnummer: one, navn: `UNIT ${one}` }));
    const text = JSON.stringify(units);
    return importText(pipeline.sql, { name: 'enheter.json', source: 'brreg', asOf, text });
  }

  /** Ada is of this office in these companies, and Bob of the first one. */
  function importRoles(
    asOf: string,
    office: string,
    companies: readonly string[],
    options: Parameters<typeof importText>[2] = {},
  ) {
    const role = (kode: string, beskrivelse: string, fornavn: string) => ({
      type: { kode, beskrivelse },
      person: { navn: { fornavn, etternavn: 'Larkovna' }, fodselsdato: '1971-02-03' },
    });
    const bob = { organisasjonsnummer: number, roller: [role('MEDL', 'Styremedlem', 'Bob')] };
    const ada = companies.map((organisasjonsnummer) => {
      return { organisasjonsnummer, roller: [role('LEDE', office, 'Ada')] };
    });
    const text = JSON.stringify(
      [bob, ...ada].map(({ organisasjonsnummer, roller }) => {
        return { organisasjonsnummer, rollegrupper: [{ type: { kode: 'STYR' }, roller }] };
      }),
    );
    const given = { name: 'roller.json', source: 'brreg', asOf, text };
    return importText(pipeline.sql, given, { allowsGone: true, ...options });
  }

  const directors = () => pipeline.sql<{ name: string | null; role: string }[]>`
    select case when name not like 'suppressed:%' then name end as name, role from officers
    order by 1 nulls first, 2`;

  beforeEach(async () => {
    await importUnits('2026-01-01');
    await importRoles('2026-01-01', 'Styrets leder', [number]);
  });

  it('leaves no name and no birth, whatever the register says later', async () => {
    await erase({ id: await idOf('Ada') });
    expect(await said()).not.toMatch(/ada/i);
    const same = await importRoles('2026-01-02', 'Styrets leder', [number]);
    expect(same).toMatchObject({ new: 0, changed: 0, same: 2, gone: 0 });
    await importRoles('2026-01-03', 'Leder', [number, other]);
    expect(await said()).not.toMatch(/ada/i);
    expect(await directors()).toEqual([
      { name: null, role: 'Leder' },
      { name: null, role: 'Leder' },
      { name: 'Bob Larkovna', role: 'Styremedlem' },
    ]);
  });

  it('has no name in a company that is built after the erasure', async () => {
    await withoutBuild(pipeline.sql, () =>
      importRoles('2026-01-02', 'Styrets leder', [number, other]),
    );
    await erase({ id: await idOf('Ada') });
    await importUnits('2026-01-03');
    expect(await said()).not.toMatch(/ada/i);
    expect(await directors()).toMatchObject([
      { name: null },
      { name: null },
      { name: 'Bob Larkovna' },
    ]);
  });

  it('who is erased while a file with a new office is imported leaves no name', async () => {
    const id = await idOf('Ada');
    await importRoles('2026-01-02', 'Styrets leder', [number, other], {
      onWritten: () => erase({ id }),
    });
    expect(await said()).not.toMatch(/ada/i);
    expect(await directors()).toMatchObject([
      { name: null },
      { name: null },
      { name: 'Bob Larkovna' },
    ]);
  });

  it('whose import was undone before leaves no name in the key of an office', async () => {
    const id = await idOf('Ada');
    const [last] = await pipeline.sql<{ id: number }[]>`select max(id) as id from imports`;
    await undoImport(pipeline.sql, must(last, 'import').id);
    await erase({ id });
    expect(await said()).not.toMatch(/ada larkovna/i);
    await importRoles('2026-01-02', 'Styrets leder', [number]);
    expect(await said()).not.toMatch(/ada larkovna/i);
  });

  it('who was erased is an officer no more when the register says so', async () => {
    await erase({ id: await idOf('Ada') });
    await importRoles('2026-01-02', 'Styrets leder', []);
    expect(await directors()).toEqual([{ name: 'Bob Larkovna', role: 'Styremedlem' }]);
  });

  it('who opted out is an officer no more when the register says so', async () => {
    await suppressPeople(pipeline.sql, [await idOf('Ada')], []);
    expect(await directors()).toMatchObject([{ name: null }, { name: 'Bob Larkovna' }]);
    await importRoles('2026-01-02', 'Styrets leder', []);
    expect(await directors()).toEqual([{ name: 'Bob Larkovna', role: 'Styremedlem' }]);
  });
});

describe('a person with significant control', () => {
  const [one, two] = ['00000011', '00000022'];
  const ada = {
    name: 'Ms Ada Lark',
    name_elements: { title: 'Ms', forename: 'Ada', surname: 'Lark' },
    date_of_birth: { month: 3, year: 1970 },
  };
  const renamed = {
    ...ada,
    name: 'Dr Ada Lark',
    name_elements: { ...ada.name_elements, title: 'Dr' },
  };
  const bob = { name: 'Bob Crow', name_elements: { forename: 'Bob', surname: 'Crow' } };

  /** The register of offices, each of a company. */
  function importControl(
    asOf: string,
    ...offices: [company: string, self: string, data: object][]
  ) {
    const lines = [[one, 'bob', bob] as const, ...offices].map(([company, self, data]) =>
      JSON.stringify({
        company_number: company,
        data: { kind: 'individual-person-with-significant-control', links: { self }, ...data },
      }),
    );
    const given = { name: 'psc.txt', source: 'gb-psc', asOf, text: lines.join('\n') };
    return importText(pipeline.sql, given, { allowsGone: true });
  }

  /** The names of the offices of other people than Bob; null for a hidden one. */
  async function named() {
    const rows = await pipeline.sql<{ name: string }[]>`
      select name from officers where name <> 'Bob Crow' order by name`;
    return rows.map(({ name }) => (name.startsWith('suppressed:') ? null : name));
  }

  beforeEach(async () => {
    const companies = [one, two].map((registryNumber, index) => {
      return { id: index + 1, name: `Company ${index}`, registryNumber, registryCountry: 'GB' };
    });
    await importGraph(pipeline.sql, { companies });
    await importControl('2026-01-01', [one, 'ada', ada]);
  });

  it('who is erased does not come back under another name', async () => {
    await erase({ id: await idOf('Ada') });
    await importControl('2026-01-02', [one, 'ada', renamed], [two, 'more', renamed]);
    await importControl('2026-01-03', [two, 'more', renamed], [two, 'further', renamed]);
    // Both offices of the second company have one role, and no day.
    expect(await named()).toEqual([null]);
    expect(await said()).not.toMatch(/lark/i);
    expect(await served()).toEqual(['Bob']);
  });

  it('who is known stays so when an office of an erased one is theirs', async () => {
    const eve = { name: 'Eve Lark', name_elements: { forename: 'Eve', surname: 'Lark' } };
    const born = { ...eve, date_of_birth: { month: 5, year: 1980 } };
    await importControl('2026-01-02', [one, 'ada', ada], [two, 'eve', born]);
    await erase({ id: await idOf('Ada') });
    await importControl('2026-01-03', [one, 'ada', born], [two, 'eve', born]);
    expect(await named()).toEqual(['Eve Lark', null]);
    expect(await served()).toEqual(['Bob', 'Eve']);
  });

  it('who becomes secret stays so when the import is undone', async () => {
    const secret = { kind: 'super-secure-person-with-significant-control' };
    const { import_id: imported } = await importControl('2026-01-02', [one, 'ada', secret]);
    await undoImport(pipeline.sql, must(imported, 'import'));
    expect(await served()).toEqual(['Bob']);
    expect(await named()).toEqual([null]);
  });

  it('who is erased has no name in an office without the parts of the name', async () => {
    const whole = { ...ada, name_elements: undefined };
    await importControl('2026-01-02', [one, 'ada', ada], [two, 'whole', whole]);
    expect(await named()).toEqual(['Ms Ada Lark', 'Ms Ada Lark']);
    await erase({ id: await idOf('Ada') });
    expect(await said()).not.toMatch(/lark/i);
    await importControl(
      '2026-01-03',
      [one, 'ada', ada],
      [two, 'whole', whole],
      [two, 'new', whole],
    );
    expect(await named()).toEqual([null, null]);
    expect(await said()).not.toMatch(/lark/i);
  });
});

describe('an officer under a number of the register', () => {
  const company = { entity: 'company', key: 'acme', record: { name: 'Acme Ltd' } } as const;
  const rowOf = (key: string, person: string, given = 'Ada') => {
    const of = { company: ['key:register/acme'], person };
    return {
      line: Number(person.slice(-1)) + 2,
      records: [
        { entity: 'officer', key, record: { name: `LARK, ${given}`, role: 'director' }, ...of },
        { entity: 'person', key: person, record: { name: given, surname: 'Lark' } },
      ],
    } as const;
  };
  const load = (asOf: string, ...offices: SourceRow[]) => {
    const rows = rowsOf({ line: 2, records: [company] }, ...offices);
    const input = sourceInput({ source: 'register', asOf, rows });
    return importSource(pipeline.sql, input, { rejects: noRejects() });
  };

  it('who was erased does not come back under another number', async () => {
    await load('2026-01-01', rowOf('1', 'person:1'));
    await erase({ id: await idOf('Ada') });
    await load('2026-01-02', { ...rowOf('2', 'person:2'), ends: [['officer', '1']] });
    await load('2026-01-03', rowOf('3', 'person:2'));
    expect(await served()).toEqual([]);
    expect(await said()).not.toMatch(/lark/i);
  });

  it('which is a day leaves the ended offices of that day to others', async () => {
    const day = '20150401';
    const bob = rowOf(`acme/2/director/${day}`, 'person:2', 'Bob');
    await load('2026-01-01', rowOf(`acme/${day}/director/20160401`, `person:${day}`), bob);
    await load('2026-01-02', { line: 4, ended: ['officer', bob.records[0].key] });
    await erase({ id: await idOf('Ada') });
    await load('2026-01-03', bob);
    expect(
      await pipeline.sql`select name from officers where name not like 'suppressed:%'`,
    ).toEqual([{ name: 'LARK, Bob' }]);
    expect(await served()).toEqual(['Bob']);
  });

  it('who is stored again beside an office of hers that is hidden is erased again', async () => {
    await load('2026-01-01', rowOf('1', 'person:1'));
    await erase({ id: await idOf('Ada') });
    // As by a version that did not look for the keys of hidden offices.
    await pipeline.sql`update source_records set key = 'new ' || key where key like 'erased:%'`;
    await load('2026-01-02', rowOf('1', 'person:1'));
    await pipeline.sql`update source_records set key = substr(key, 5) where key like 'new erased:%'`;
    await erase({ id: await idOf('Ada') });
    await load('2026-01-03', rowOf('1', 'person:1'));
    expect([await served(), await said()]).toEqual([[], expect.not.stringMatching(/lark/i)]);
  });
});
