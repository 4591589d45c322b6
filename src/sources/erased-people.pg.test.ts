/** Erasures of people of sources: neither what the sources said of them is left, nor a way back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { erasuresOf } from '../../tests/support/erasures.ts';
import { importGraph } from '../../tests/support/graph.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppress } from '../core/suppression/suppress.ts';
import { csvOf, importText } from './import-files.test-suite.ts';

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

const { erase, idOf, served, said } = erasuresOf(() => pipeline);

const email = 'ada@home.example';
const phone = '+442079460002';

describe('a person who left the graph', () => {
  it.each([
    ['email', { identifier: email }],
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

  it('and is erased by email is not served when another source has the profile', async () => {
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
  ['email', 'EMAIL', 'ada@new.example', email],
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

  it('stays hidden after an opt-out under another name, which may be a new one, and not where a source has ids', async () => {
    const office = 'desk@acme.example';
    await importContacts('2026-01-01', ['Ada', office, phone]);
    await suppress(pipeline.sql, phone);
    await importContacts('2026-01-02', ['Bob', office]);
    expect(await served()).toEqual([]);
    await importCard('2026-01-02', 'Bob', 'EMAIL:bob@acme.example', 'bob');
    expect(await served()).toEqual(['Bob']);
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

it.each([
  ['is stored', false],
  ['has left the graph', true],
])(
  'a person who %s, whose key only looks like an address, is erased without that address',
  async (_how, hasLeft) => {
    const desk = 'desk@acme.example';
    await importCard('2026-01-01', 'Ada', `EMAIL:${email}`, `${desk} 17`);
    if (hasLeft) {
      const rows = rowsOf({ line: 2, ended: ['person', `${desk} 17`] });
      const input = sourceInput({ source: 'vcard', asOf: '2026-01-02', rows });
      await importSource(pipeline.sql, input, { rejects: noRejects() });
      expect(await served()).toEqual([]);
    }
    await erase({ identifier: email });
    await importCard('2026-01-02', 'Bob', `EMAIL:${desk}`);
    expect(await served()).toEqual(['Bob']);
  },
);
