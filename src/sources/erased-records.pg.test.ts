/** Erasures of people of whom sources have several keys or names, or records that are not in the graph. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { erasuresOf } from '../../tests/support/erasures.ts';
import { openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { runHousekeeping } from '../jobs/housekeeping/run-housekeeping.ts';
import { csvOf, importText, withoutBuild } from './import-files.test-suite.ts';

const email = 'ada@home.example';
const phone = '+442079460002';
const desk = 'desk@acme.example';

let pipeline: Pipeline;
beforeEach(async () => {
  pipeline = await openPipeline();
});
afterEach(() => pipeline.close());

type Row = Record<string, string>;

async function load(source: string, day: number, header: string[], ...rows: Row[]) {
  const text = csvOf([...header, ...Object.keys(rows[0] ?? {})], rows);
  const given = { name: 'file.csv', source, asOf: `2026-01-0${day}`, text };
  return must((await importText(pipeline.sql, given)).import_id, 'import');
}

const named = { 'First Name': 'Ada', 'Last Name': 'Lark' };

/** A file without ids: a contact is known by its address and its name. */
function loadContacts(day: number, address: string, ...people: string[]) {
  const rows = people.map((name) => {
    const [given = '', family = ''] = name.split(' ');
    return { 'First Name': given, 'Last Name': family, 'E-mail 1 - Value': address };
  });
  return load('google-contacts', day, ['Organization Name', 'Labels'], ...rows);
}

/** Another source that has an address. */
function loadCard(day: number, name: string, property: string) {
  const text = `BEGIN:VCARD\nVERSION:3.0\nUID:${name} ${property}\nN:Card;${name};;;\n${property}\nEND:VCARD\n`;
  const given = { name: 'a.vcf', source: 'vcard', asOf: `2026-01-0${day}`, text };
  return importText(pipeline.sql, given);
}

const { erase, idOf } = erasuresOf(() => pipeline);

const eraseNamed = async (name: string) => erase({ id: await idOf(name) });

async function served(): Promise<string[]> {
  const rows = await pipeline.sql<{ name: string }[]>`
    select concat_ws(' ', name, surname) as name from persons p
    where not exists (select from suppressed_persons s where s.person_id = p.id) order by 1`;
  return rows.map(({ name }) => name);
}

/** All that sources say, or said, of people. */
async function said(): Promise<string> {
  const rows = await pipeline.sql<{ text: string }[]>`
    select concat_ws(' ', key, record) as text from source_records
    union all select before_record from source_record_versions union all select value from source_keys`;
  return rows.map(({ text }) => text).join('\n');
}

describe('a contact with an id', () => {
  const contact = { 'Record ID': '17', ...named, Email: email };
  const listed = { 'Record ID - Contact': '17', ...named };

  it('does not come back with a list that has the id, and no address', async () => {
    await load('hubspot', 1, [], contact);
    await eraseNamed('Ada');
    await load('hubspot', 2, [], listed);
    expect([await served(), await said()]).toEqual([[], expect.not.stringMatching(/ada/i)]);
  });

  it('which looks like the key of who was erased leaves no name', async () => {
    const known = { ...contact, 'Record ID': 'erased:17' };
    await load('hubspot', 1, [], known);
    await eraseNamed('Ada');
    await load('hubspot', 2, [], known);
    expect([await served(), await said()]).toEqual([[], expect.not.stringMatching(/ada|:17/i)]);
  });

  it('of which only a list had a part does not come back with the export of contacts', async () => {
    await load('hubspot', 1, [], listed);
    await eraseNamed('Ada');
    await load('hubspot', 2, [], { ...contact, Email: '' });
    expect([await served(), await said()]).toEqual([[], expect.not.stringMatching(/ada/i)]);
  });
});

describe('a contact without an id, at an address that others have too', () => {
  beforeEach(() => loadCard(1, 'Cy', `EMAIL:${desk}`));

  it('is erased like the one who had the address before', async () => {
    await loadContacts(1, desk, 'Ada Lark');
    await eraseNamed('Ada');
    await loadContacts(2, desk, 'Bob Lark');
    await eraseNamed('Bob');
    await loadContacts(3, desk, 'Ada Lark');
    await loadContacts(4, desk, 'Bob Lark');
    await loadContacts(5, desk, 'Ada Lark', 'Bob Lark', 'Di Lark');
    expect(await served()).toEqual(['Cy Card', 'Di Lark']);
  });

  it('and without a name, does not come back', async () => {
    await loadContacts(1, desk, '', 'Bob Lark');
    await eraseNamed('');
    await loadContacts(2, desk, '', 'Bob Lark');
    expect(await served()).toEqual(['Bob Lark', 'Cy Card']);
    expect(await said()).not.toMatch(/"name":""/);
  });

  it('does not come back under a name that it had before', async () => {
    await loadContacts(1, desk, 'Ada Lark');
    await loadContacts(2, desk, 'Ada Stone');
    await eraseNamed('Ada');
    await loadContacts(3, desk, 'Ada Lark');
    expect(await served()).toEqual(['Cy Card']);
  });
});

it('a contact that a file brings again under another spelling is erased again', async () => {
  await loadContacts(1, email, 'Ada Lark');
  await erase({ identifier: email });
  await loadContacts(2, email, 'Adda Lark');
  await erase({ identifier: email });
  expect(await said()).not.toMatch(/adda|ada@/i);
});

describe('a person whose earlier results are gone', () => {
  /** Former identifiers are kept for results. */
  async function keepHouse() {
    await pipeline.sql`update former_identifiers set left_at = left_at - interval '100 days'`;
    await runHousekeeping(pipeline.context);
    expect(await pipeline.sql`select from former_identifiers`).toHaveLength(0);
  }

  const contact = { 'Record ID': '17', ...named, Email: email, 'Phone Number': phone };

  it.each([
    ['email', email],
    ['phone', phone],
  ])('and who opted out is erased by %s', async (_by, identifier) => {
    await load('hubspot', 1, [], contact);
    await load('hubspot', 2, [], { ...contact, 'Unsubscribed from all email': 'yes' });
    await keepHouse();
    await erase({ identifier });
    expect(await said()).not.toMatch(/ada/i);
  });

  it.each([
    ['email', email, { 'E-mail 1 - Value': email }],
    ['phone', phone, { 'Phone 1 - Value': phone }],
  ])('and whose import was undone is erased by the %s', async (_by, identifier, address) => {
    const header = ['Organization Name', 'Labels'];
    const imported = await load('google-contacts', 1, header, { ...named, ...address });
    await undoImport(pipeline.sql, imported);
    await keepHouse();
    await erase({ identifier });
    expect(await said()).not.toMatch(/ada@|\+44/i);
  });

  it('and whose import was undone is erased by the profile', async () => {
    const link = 'https://www.linkedin.com/in/ada-lark-home';
    const header = ['Position', 'Connected On'];
    const imported = await load('linkedin', 1, header, { ...named, URL: link });
    await undoImport(pipeline.sql, imported);
    await keepHouse();
    await erase({ identifier: link });
    expect(await said()).not.toMatch(/ada-lark/i);
  });
});

it.each([
  ['new', false],
  ['changed', true],
])('a phone of a %s record that is not built is opted out', async (_how, isStored) => {
  const contact = { 'Record ID': '17', ...named, Email: email };
  if (isStored) await load('hubspot', 1, [], contact);
  await withoutBuild(pipeline.sql, () =>
    load('hubspot', 2, [], { ...contact, 'Phone Number': phone }),
  );
  await erase({ identifier: email });
  await loadCard(3, 'Ada', `TEL:${phone}`);
  expect(await served()).toEqual([]);
});
