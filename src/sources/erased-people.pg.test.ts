/** Erasures of people of sources: neither what the sources said of them is left, nor a way back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppress, suppressPeople } from '../core/suppression/suppress.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';
import type { PersonAsked } from '../jobs/erasure/find-person.ts';
import { csvOf, importText, withoutBuild } from './import-files.test-suite.ts';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

const cells = ['First Name', 'Last Name', 'Organization Name', 'Labels'];
const addresses = ['E-mail 1 - Value', 'Phone 1 - Label', 'Phone 1 - Value'];

/** A file without ids: a contact is known by its address. */
function importContacts(
  asOf: string,
  ...contacts: [name: string, email: string, phone?: string][]
) {
  const text = csvOf(
    [...cells, ...addresses],
    contacts.map(([name, email, phone = '']) => {
      return {
        'First Name': name,
        'Last Name': 'Lark',
        'E-mail 1 - Value': email,
        'Phone 1 - Value': phone,
      };
    }),
  );
  return importText(pipeline.sql, { name: 'contacts.csv', source: 'google-contacts', asOf, text });
}

/** A card with an id. */
function importCard(asOf: string, name: string, property: string, uid = property) {
  const text = `BEGIN:VCARD\nVERSION:3.0\nUID:${uid}\nN:Lark;${name};;;\n${property}\nEND:VCARD\n`;
  return importText(pipeline.sql, { name: 'a.vcf', source: 'vcard', asOf, text });
}

async function erase(asked: PersonAsked) {
  expect(await erasePerson(pipeline.context, asked)).toMatchObject({ left: [] });
}

async function idOf(name: string): Promise<number> {
  const [row] = await pipeline.sql<{ id: number }[]>`select id from persons where name = ${name}`;
  return must(row, name).id;
}

/** The given names of the people whom the graph serves. */
async function served(): Promise<string[]> {
  const rows = await pipeline.sql<{ name: string }[]>`
    select name from persons p
    where not exists (select from suppressed_persons s where s.person_id = p.id) order by name`;
  return rows.map(({ name }) => name);
}

/** All that is stored of records of sources. */
async function said(): Promise<string> {
  const rows = await pipeline.sql<{ text: string }[]>`
    select r::text as text from source_records r union all select v::text from source_record_versions v
    union all select k::text from source_keys k union all select o::text from officers o`;
  return rows.map(({ text }) => text).join('\n');
}

const email = 'ada@home.example';
const phone = '+442079460002';

describe('a person who left the graph', () => {
  it.each([
    ['e-mail', { identifier: email }],
    ['phone', { identifier: phone }],
    ['id', null],
  ])(
    'and is erased by %s is not served when another source has an identifier',
    async (_by, asked) => {
      const { import_id: imported } = await importContacts('2026-01-01', ['Ada', email, phone]);
      const id = await idOf('Ada');
      await undoImport(pipeline.sql, must(imported, 'import'));
      await erase(asked ?? { id });
      await importCard('2026-01-02', 'Ada', `EMAIL:${email}`);
      await importCard('2026-01-02', 'Ada', `TEL:${phone}`);
      expect(await served()).toEqual([]);
    },
  );

  it('and is erased by e-mail is not served when another source has the profile', async () => {
    const link = 'https://www.linkedin.com/in/ada-lark-home';
    const text = csvOf(
      ['First Name', 'Last Name', 'URL', 'Email Address', 'Company', 'Position', 'Connected On'],
      [{ 'First Name': 'Ada', 'Last Name': 'Lark', URL: link, 'Email Address': email }],
    );
    const given = { name: 'Connections.csv', source: 'linkedin', asOf: '2026-01-01', text };
    const { import_id: imported } = await importText(pipeline.sql, given);
    await undoImport(pipeline.sql, must(imported, 'import'));
    await erase({ identifier: email });
    await importCard('2026-01-02', 'Ada', `URL:${link}`);
    expect(await served()).toEqual([]);
  });

  it('after an opt-out stays unnamed as an officer, by name and birth', async () => {
    const text = `BEGIN:VCARD\nVERSION:3.0\nUID:ada\nN:Lark;Ada;;;\nEMAIL:${email}\nBDAY:1970-02-03\nEND:VCARD\n`;
    const card = { name: 'a.vcf', source: 'vcard', asOf: '2026-01-01', text };
    const { import_id: imported } = await importText(pipeline.sql, card);
    await suppress(pipeline.sql, email);
    const company = { id: 1, name: 'Acme Ltd', registryNumber: '00000011', registryCountry: 'GB' };
    const officer = { companyId: 1, name: 'LARK, Ada', role: 'director', birthYear: 1970 };
    await importGraph(pipeline.sql, { companies: [company], officers: [officer] });
    await undoImport(pipeline.sql, must(imported, 'import'));
    expect(await said()).not.toMatch(/lark/i);
  });

  it('and is erased spares who has an address of theirs now', async () => {
    const { import_id: imported } = await importContacts('2026-01-01', ['Ada', email, phone]);
    const id = await idOf('Ada');
    await undoImport(pipeline.sql, must(imported, 'import'));
    await importCard('2026-01-02', 'Bob', `EMAIL:${email}`);
    await erase({ id });
    expect(await served()).toEqual(['Bob']);
    await importCard('2026-01-03', 'Bob', `EMAIL:${email}`);
    expect(await served()).toEqual(['Bob']);
  });
});

it.each([
  ['e-mail', 'EMAIL', 'ada@new.example', email],
  ['phone', 'TEL', '+442079460003', phone],
  ['profile', 'URL', 'https://www.linkedin.com/in/ada-new', 'https://www.linkedin.com/in/ada-old'],
])(
  'a person with another %s than before is not served when another source has the earlier one',
  async (_kind, property, present, earlier) => {
    await importCard('2026-01-01', 'Ada', `${property}:${earlier}`, 'ada');
    await importCard('2026-01-02', 'Ada', `${property}:${present}`, 'ada');
    await erase({ identifier: present });
    await importCard('2026-01-03', 'Ada', `${property}:${earlier}`, 'other');
    expect(await served()).toEqual([]);
  },
);

it('a person with an earlier address of another one is erased without that one', async () => {
  await importCard('2026-01-01', 'Ada', `EMAIL:${email}`, 'ada');
  await importCard('2026-01-02', 'Ada', 'EMAIL:ada@new.example', 'ada');
  await importCard('2026-01-03', 'Bob', `EMAIL:${email}`, 'bob');
  await erase({ identifier: 'ada@new.example' });
  await importCard('2026-01-04', 'Bob', `EMAIL:${email}`, 'bob');
  expect(await served()).toEqual(['Bob']);
});

it('a namesake without an address, at another company, is read as before', async () => {
  const importNames = (asOf: string, ...rows: Record<string, string>[]) => {
    const named = rows.map((row) => ({ 'First Name': 'Ada', 'Last Name': 'Lark', ...row }));
    const text = csvOf([...cells, 'Organization Title', ...addresses], named);
    const given = { name: 'contacts.csv', source: 'google-contacts', asOf, text };
    return importText(pipeline.sql, given);
  };
  const acme = { 'Organization Name': 'Acme' };
  const beta = { 'Organization Name': 'Beta' };
  await importNames('2026-01-01', acme);
  const id = await idOf('Ada');
  await importNames('2026-01-02', acme, beta);
  await erase({ id });
  const report = await importNames('2026-01-03', { ...beta, 'Organization Title': 'Auditor' });
  expect(report).toMatchObject({ changed: 1 });
});

describe('a contact whose address is the key', () => {
  it('leaves no address, and does not come back with the file', async () => {
    await importContacts('2026-01-01', ['Ada', email]);
    await erase({ identifier: email });
    expect(await said()).not.toMatch(/ada/i);
    const again = await importContacts('2026-01-02', ['Ada', email]);
    expect(again).toMatchObject({ new: 0, same: 1 });
    expect(await said()).not.toMatch(/ada/i);
  });

  it('of an address that another one has too does not come back, and the other one stays', async () => {
    const family = 'family@home.example';
    await importContacts('2026-01-01', ['Ada', family]);
    await importContacts('2026-01-02', ['Ada', family], ['Bob', family]);
    await erase({ id: await idOf('Ada') });
    await importContacts('2026-01-03', ['Ada', family], ['Bob', family]);
    expect(await served()).toEqual(['Bob']);
    await importContacts('2026-01-04', ['Ada', family], ['Bob', family], ['Cy', family]);
    expect(await served()).toEqual(['Bob', 'Cy']);
  });

  it('leaves the address to the next one', async () => {
    const office = 'desk@acme.example';
    await importContacts('2026-01-01', ['Ada', office]);
    // Not hidden by the address, which another one has.
    await importCard('2026-01-01', 'Cy', `EMAIL:${office}`);
    await erase({ id: await idOf('Ada') });
    await importContacts('2026-01-03', ['Bob', office]);
    expect(await served()).toEqual(['Bob', 'Cy']);
  });
});

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

it('an officer who was erased does not come back under another number of the register', async () => {
  const company = { entity: 'company', key: 'acme', record: { name: 'Acme Ltd' } } as const;
  const rowOf = (key: string, person: string) => {
    const of = { company: ['key:register/acme'], person };
    return {
      line: 3,
      records: [
        { entity: 'officer', key, record: { name: 'LARK, Ada', role: 'director' }, ...of },
        { entity: 'person', key: person, record: { name: 'Ada', surname: 'Lark' } },
      ],
    } as const;
  };
  const load = (asOf: string, row: SourceRow) => {
    const rows = rowsOf({ line: 2, records: [company] }, row);
    const input = sourceInput({ source: 'register', asOf, rows });
    return importSource(pipeline.sql, input, { rejects: noRejects() });
  };
  await load('2026-01-01', rowOf('1', 'person:1'));
  await erase({ id: await idOf('Ada') });
  await load('2026-01-02', { ...rowOf('2', 'person:2'), ends: [['officer', '1']] });
  await load('2026-01-03', rowOf('3', 'person:2'));
  expect(await served()).toEqual([]);
  expect(await said()).not.toMatch(/lark/i);
});
