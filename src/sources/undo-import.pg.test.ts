/** Imports of several sources in any order, undone, and the origin of each value. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import type { Database } from '../core/db/client.ts';
import { deletePersons } from '../core/graph/delete-persons.ts';
import { importValues } from '../core/graph/import/import-harness.test-suite.ts';
import { entityCodes } from '../core/graph/source-entities.ts';
import { listSourceRecords, showSources } from '../core/graph/sources/show-sources.ts';
import { listImports, showImport, undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { companyOf, countRows, csvOf, importText, personOf } from './import-files.test-suite.ts';

const contacts = (...rows: Record<string, string>[]) =>
  csvOf(
    [
      'Record ID',
      'First Name',
      'Last Name',
      'Email',
      'Job Title',
      'LinkedIn URL',
      'Associated Company IDs',
    ],
    rows,
  );
const ada = { 'First Name': 'Ada', 'Last Name': 'Lark', Email: 'ada@acme.example' };
const lei = (name: string, status: string) =>
  csvOf(
    [
      'LEI',
      'Entity.LegalName',
      'Entity.LegalAddress.City',
      'Entity.LegalAddress.Country',
      'Entity.LegalJurisdiction',
      'Entity.RegistrationAuthority.RegistrationAuthorityID',
      'Entity.RegistrationAuthority.RegistrationAuthorityEntityID',
      'Entity.EntityStatus',
      'Registration.RegistrationStatus',
    ],
    [
      {
        LEI: '5493000IBP32UQZ0KL24',
        'Entity.LegalName': name,
        'Entity.LegalAddress.City': 'Oslo',
        'Entity.LegalAddress.Country': 'NO',
        'Entity.LegalJurisdiction': 'NO',
        'Entity.RegistrationAuthority.RegistrationAuthorityID': 'RA000472',
        'Entity.RegistrationAuthority.RegistrationAuthorityEntityID': '923609016',
        'Entity.EntityStatus': status,
        'Registration.RegistrationStatus': 'ISSUED',
      },
    ],
  );
const unit = (rows: readonly string[][]) =>
  csvOf(
    ['organisasjonsnummer', 'navn', 'hjemmeside', 'antallAnsatte', 'forretningsadresse.adresse'],
    rows.map(([organisasjonsnummer = '', navn = '', hjemmeside = '']) => ({
      organisasjonsnummer,
      navn,
      hjemmeside,
    })),
  );

/** Files of several sources that share people and companies; of one source with different days. */
const files = [
  {
    source: 'brreg',
    name: 'a.csv',
    asOf: '2026-01-01',
    text: unit([
      ['923609016', 'ACME ASA', 'acme.example'],
      ['810034882', 'OTHER AS'],
    ]),
  },
  {
    source: 'brreg',
    name: 'b.csv',
    asOf: '2026-02-01',
    text: unit([['923609016', 'ACME NY ASA', 'acme.example']]),
  },
  { source: 'gleif', name: 'c.csv', asOf: '2026-01-15', text: lei('Acme ASA', 'ACTIVE') },
  { source: 'gleif', name: 'd.csv', asOf: '2026-01-20', text: lei('Acme Holding ASA', 'ACTIVE') },
  {
    source: 'hubspot',
    name: 'e.csv',
    asOf: '2026-01-02',
    text: csvOf(
      ['Record ID', 'Company name', 'Company Domain Name'],
      [{ 'Record ID': '7', 'Company name': 'Acme', 'Company Domain Name': 'acme.example' }],
    ),
  },
  {
    source: 'hubspot',
    name: 'f.csv',
    asOf: '2026-01-03',
    text: contacts({
      ...ada,
      'Record ID': '1',
      'LinkedIn URL': 'linkedin.com/in/ada',
      'Associated Company IDs': '7',
    }),
  },
  {
    source: 'hubspot',
    name: 'g.csv',
    asOf: '2026-01-04',
    text: contacts({
      ...ada,
      'Record ID': '1',
      Email: 'ada@other.example',
      'Associated Company IDs': '7',
    }),
  },
  {
    source: 'linkedin',
    name: 'h.csv',
    asOf: '2026-01-05',
    text: 'First Name,Last Name,URL,Email Address,Company,Position,Connected On\nAda,Lark,https://www.linkedin.com/in/ada,ada@acme.example,Acme,Chief,20 Aug 2023\n',
  },
  {
    source: 'vcard',
    name: 'i.vcf',
    asOf: '2026-01-06',
    text: 'BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:Lark;Ada;;;\nEMAIL:ada@other.example\nTEL:+442079460001\nEND:VCARD\n',
  },
] as const;

type File = (typeof files)[number];

/** The graph without ids and times: each person with the name of their company. */
async function graphOf(sql: Database): Promise<unknown> {
  const people = await sql`
    select p.name, surname, work_email, p.email, p.professional_network, position, p.phone, c.name as company, (
      select array_agg(value || ' ' || kind order by value, kind) from person_identifiers where person_id = p.id) as found
    from persons p left join companies c on c.id = p.company_id order by 1, 2, 3, 4, 5, 6`;
  const companies = await sql`
    select name, registry_number, domain, domains, aliases, status, website, locality, (
      select array_agg(value || ' ' || kind order by value, kind) from company_identifiers where company_id = c.id) as found
    from companies c order by 1, 2, 3`;
  return { people: [...people], companies: [...companies] };
}

const databases: TestDatabase[] = [];
let database: TestDatabase;
async function fresh(): Promise<TestDatabase> {
  const made = await createTestDatabase();
  databases.push(made);
  return made;
}
beforeEach(async () => {
  database = await fresh();
});
afterEach(() => Promise.all(databases.splice(0).map((one) => one.drop())));

async function load(sql: Database, list: readonly File[]): Promise<number[]> {
  const ids: number[] = [];
  for (const file of list) {
    const report = await importText(sql, file, { allowsGone: true });
    ids.push(must(report.import_id, 'import'));
  }
  return ids;
}

describe('imports of sources', () => {
  it('give the same graph in any order', { timeout: 240_000 }, async () => {
    await load(database.sql, files);
    const expected = await graphOf(database.sql);
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...files], { minLength: files.length }),
        async (order) => {
          const { sql } = await fresh();
          await load(sql, order);
          expect(await graphOf(sql)).toEqual(expected);
        },
      ),
      { numRuns: 3 },
    );
  });

  it('are as if they had never been after they are undone, with what builds on them', {
    timeout: 240_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.shuffledSubarray([...files], { minLength: 4, maxLength: 6 }),
        fc.nat(3),
        async (order, index) => {
          const { sql } = await fresh();
          const ids = await load(sql, order);
          const undone = await undoImport(sql, must(ids[index], 'import'), { withLater: true });
          const other = await fresh();
          await load(
            other.sql,
            order.filter((_, place) => !undone.includes(must(ids[place], 'import'))),
          );
          expect(await graphOf(sql)).toEqual(await graphOf(other.sql));
        },
      ),
      { numRuns: 3 },
    );
  });

  it('are not undone while later ones build on them, and only once', async () => {
    const { sql } = database;
    const [first = 0, second = 0] = await load(sql, [files[0], files[1]]);
    await expect(undoImport(sql, first)).rejects.toMatchObject({ code: 'import_built_on' });
    expect(await undoImport(sql, second)).toEqual([second]);
    expect(await countRows(sql, 'companies')).toBe(2);
    await expect(undoImport(sql, second)).rejects.toMatchObject({ code: 'import_undone' });
    await expect(undoImport(sql, 99)).rejects.toMatchObject({ status: 404 });
    expect((await listImports(sql, 5)).map(({ state }) => state)).toEqual(['undone', 'done']);
  });

  it('tell before an undo how many records of others lose their company by it', async () => {
    const { sql } = database;
    const [companies = 0] = await load(sql, [files[4], files[5]]);
    const planned = async () => (await showImport(sql, companies)).undo;
    expect(await planned()).toEqual({ later: [], restored: 0, ended: 1, without_company: 1 });
    // The register knows the company by its domain, by which the contact refers to it, too.
    const [register = 0] = await load(sql, [files[0]]);
    expect(await planned()).toMatchObject({ ended: 1, without_company: 0 });
    await undoImport(sql, companies);
    expect(await graphOf(sql)).toMatchObject({ people: [{ name: 'Ada', company: 'ACME ASA' }] });
    expect((await showImport(sql, register)).undo).toMatchObject({ without_company: 1 });
    await undoImport(sql, register);
    expect(await graphOf(sql)).toMatchObject({ people: [{ name: 'Ada', company: null }] });
  });

  it('assign a contact to a company of an own file that comes after it, by the domain that it has now', async () => {
    const { sql } = database;
    await load(sql, [files[5]]);
    const companyOfAda = async () => (await personOf(sql, 'hubspot', '1'))?.companyId;
    expect(await companyOfAda()).toBe(0);
    const own = { id: 5, name: 'Acme (own)' };
    await importValues(sql, 'companies', [{ ...own, domain: 'acme.example' }]);
    expect(await companyOfAda()).toBe(5);
    await importValues(sql, 'companies', [{ ...own, domain: 'other.example' }]);
    expect(await companyOfAda()).toBe(0);
  });

  it('take a contact away from a company of an own file that comes before it, by the domain that it has no more', async () => {
    const { sql } = database;
    const companyOfAda = async () => (await personOf(sql, 'hubspot', '1'))?.companyId;
    const own = { id: 5, name: 'Acme (own)' };
    await importValues(sql, 'companies', [{ ...own, domain: 'acme.example' }]);
    await load(sql, [files[5]]);
    expect(await companyOfAda()).toBe(5);
    await importValues(sql, 'companies', [{ ...own, domain: 'other.example' }]);
    expect(await companyOfAda()).toBe(0);
  });

  it('build nothing again for an own file that is imported unchanged', async () => {
    const { sql } = database;
    await load(sql, [files[5]]);
    const own = { id: 5, name: 'Acme (own)', domain: 'acme.example' };
    await importValues(sql, 'companies', [own]);
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'queued'; end $$`;
    await sql`create trigger refused before insert on records_to_build for each row execute function refuse()`;
    await importValues(sql, 'companies', [own]);
    await expect(importValues(sql, 'companies', [{ ...own, name: 'Acme' }])).rejects.toThrow(
      'queued',
    );
  });

  it('build the contacts of an own company again when it has changed for them, and otherwise only the company', async () => {
    const { sql } = database;
    await load(sql, [files[5]]);
    const own = { id: 5, name: 'Acme (own)', domain: 'acme.example' };
    const queued = async (company: object) => {
      await sql`delete from queued_before`;
      await importValues(sql, 'companies', [company]);
      const rows = await sql<
        { entity: number }[]
      >`select distinct entity from queued_before order by 1`;
      return rows.map(({ entity }) => entity);
    };
    await importValues(sql, 'companies', [own]);
    await sql`create table queued_before (entity smallint)`;
    await sql`create function note() returns trigger language plpgsql as $$
      begin insert into queued_before values (new.entity); return new; end $$`;
    await sql`create trigger noted before insert on records_to_build for each row execute function note()`;
    const called = { ...own, phone: '+442079460000' };
    expect(await queued(called)).toEqual([entityCodes.company]);
    const inIndustry = { ...called, industry: 'Computer Software' };
    expect(await queued(inIndustry)).toEqual([entityCodes.company, entityCodes.person]);
    expect(await personOf(sql, 'hubspot', '1')).toMatchObject({
      companyId: 5,
      industryId: expect.any(Number),
    });
    expect(await queued({ ...inIndustry, domain: 'other.example' })).toContain(entityCodes.person);
    expect((await personOf(sql, 'hubspot', '1'))?.companyId).toBe(0);
  });

  it('bring a record again under its id after an undo', async () => {
    const { sql } = database;
    const [id = 0] = await load(sql, [files[2]]);
    const before = await companyOf(sql, 'gleif', '5493000IBP32UQZ0KL24');
    await undoImport(sql, id);
    expect(await countRows(sql, 'companies')).toBe(0);
    await load(sql, [files[2]]);
    expect((await companyOf(sql, 'gleif', '5493000IBP32UQZ0KL24'))?.id).toBe(before?.id);
  });

  it('do not bring an erased person again, nor does an undo', async () => {
    const { sql } = database;
    const [, id = 0] = await load(sql, [files[5], files[6]]);
    const person = await personOf(sql, 'hubspot', '1');
    expect(await listSourceRecords(sql, Number(person?.id))).toMatchObject([
      {
        source: 'hubspot',
        key: '1',
        as_of: '2026-01-04',
        record: { workEmail: 'ada@other.example' },
      },
    ]);
    await deletePersons(sql, [Number(person?.id)]);
    await undoImport(sql, id);
    await load(sql, [files[5]]);
    expect(await countRows(sql, 'persons')).toBe(0);
    const [left] =
      await sql`select count(*)::int as rows from source_records where record like '%ada@%'`;
    expect(left).toEqual({ rows: 0 });
  });
});

describe('the origin of values', () => {
  it('is known for each, and the id of a merged company leads to the one that stayed', async () => {
    const { sql } = database;
    await load(sql, [files[4]]);
    const hubspot = await companyOf(sql, 'hubspot', 'company:7');
    await load(sql, [files[2]]);
    const gleif = await companyOf(sql, 'gleif', '5493000IBP32UQZ0KL24');
    expect(gleif?.id).not.toBe(hubspot?.id);
    const [, register = 0] = [0, ...(await load(sql, [files[0]]))];
    const shown = await showSources(sql, 'company', Number(gleif?.id));
    expect(shown.id).toBe(hubspot?.id);
    expect(shown.sources.map(({ source }) => source).sort()).toEqual(['brreg', 'gleif', 'hubspot']);
    expect(shown.record).toMatchObject({
      name: 'ACME ASA',
      registryNumber: '923609016',
      domain: 'acme.example',
    });
    expect(shown.values.name).toEqual([
      { source: 'brreg', key: 'unit:923609016', as_of: '2026-01-01', import_id: register },
    ]);
    expect(shown.values.locality).toMatchObject([{ source: 'gleif' }]);
    await undoImport(sql, register);
    expect((await showSources(sql, 'company', Number(gleif?.id))).id).toBe(gleif?.id);
  });

  it('is the own file for a record with an id of one’s own, which keeps its id when a source joins it', async () => {
    const { sql } = database;
    const own = { id: 5, name: 'Acme (own)', registryNumber: '923609016', registryCountry: 'NO' };
    await importValues(sql, 'companies', [own]);
    expect((await showSources(sql, 'company', 5)).values.name).toMatchObject([
      { source: 'own', key: '5' },
    ]);
    expect(await load(sql, [files[0]])).toHaveLength(1);
    expect(await countRows(sql, 'companies')).toBe(2);
    expect(await showSources(sql, 'company', 5)).toMatchObject({
      record: { id: 5, name: 'Acme (own)', aliases: ['ACME ASA'], domain: 'acme.example' },
    });
  });

  it('stays with both when the own file comes after the source, and again with new values', async () => {
    const { sql } = database;
    await load(sql, [files[0], files[5]]);
    const own = { id: 5, name: 'Acme (own)', registryNumber: '923609016', registryCountry: 'NO' };
    const first = await companyOf(sql, 'brreg', 'unit:923609016');
    await importValues(sql, 'companies', [own]);
    await importValues(sql, 'persons', [
      { id: 9, name: 'Ada', surname: 'Lark', workEmail: 'ada@acme.example', title: 'Dr.' },
    ]);
    expect([await countRows(sql, 'companies'), await countRows(sql, 'persons')]).toEqual([2, 1]);
    expect(await personOf(sql, 'hubspot', '1')).toMatchObject({
      id: 9,
      title: 'Dr.',
      professionalNetwork: 'https://www.linkedin.com/in/ada',
    });
    expect((await showSources(sql, 'company', Number(first?.id))).id).toBe(5);
    await importValues(sql, 'companies', [{ ...own, name: 'Acme (new)' }]);
    expect((await showSources(sql, 'company', 5)).record).toMatchObject({
      name: 'Acme (new)',
      aliases: ['ACME ASA'],
      website: 'acme.example',
    });
  });
});
