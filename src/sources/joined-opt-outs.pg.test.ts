/** Opt-outs of people whose records an import joins: before it, after it, and in results that were made before it. */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { noRejects, rowsOf, sourceInput } from '../../tests/support/source-input.ts';
import type { JsonRecord } from '../core/graph/import/read-records.ts';
import { importSource } from '../core/graph/sources/import-source.ts';
import type { SourceRow } from '../core/graph/sources/source-record.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { suppress, suppressHashes } from '../core/suppression/suppress.ts';
import { erasePerson } from '../jobs/erasure/erase-person.ts';
import { showPerson } from '../jobs/erasure/show-person.ts';
import { csvOf, importText, withoutBuild } from './import-files.test-suite.ts';

const work = 'ada@acme.example';
const home = 'ada@home.example';
const workPhone = '+442079460001';
const homePhone = '+442079460002';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
  await importContact(work);
  const card = `BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:Lark;Ada;;;\nEMAIL:${home}\nTEL:${homePhone}\nEND:VCARD\n`;
  await importText(pipeline.sql, {
    source: 'vcard',
    name: 'a.vcf',
    asOf: '2026-01-02',
    text: card,
  });
});
afterEach(() => pipeline.close());

/** Imports the record of the CRM: with the private address it is surely the person of the card. */
async function importContact(email: string): Promise<number> {
  const text = csvOf(
    ['Record ID', 'First Name', 'Last Name', 'Email', 'Phone Number', 'Job Title'],
    [
      {
        'Record ID': '1',
        'First Name': 'Ada',
        'Last Name': 'Lark',
        Email: email,
        'Phone Number': workPhone,
        'Job Title': 'Chief',
      },
    ],
  );
  const asOf = email === work ? '2026-01-01' : '2026-01-03';
  const file = { source: 'hubspot', name: 'contacts.csv', asOf, text } as const;
  return must((await importText(pipeline.sql, file)).import_id, 'import');
}

/** Imports one record of a source. */
async function importCy(source: string, asOf: string, values: JsonRecord): Promise<void> {
  const record = { name: 'Cy', surname: 'Finch', ...values };
  await importRow(source, asOf, { line: 2, records: [{ entity: 'person', key: 'cy', record }] });
}

async function importRow(source: string, asOf: string, row: SourceRow): Promise<void> {
  const input = sourceInput({ source, asOf, rows: rowsOf(row) });
  await importSource(pipeline.sql, input, { rejects: noRejects() });
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const statusOf = async (email: string) =>
  (await pipeline.call(by, `/v1/people/enrich?email=${email}`)).status;

/** A call, a list and an export that deliver the person of the card, and what of them can be read later. */
async function deliver() {
  const call = () =>
    pipeline.call(by, `/v1/people/enrich?email=${home}`, { headers: { 'Idempotency-Key': 'k' } });
  expect((await call()).status).toBe(200);
  const list = await pipeline.enrich(by, `email\n${home}\n`, { operation: 'people.enrich' });
  const people = await pipeline.makeExport(by, { filter: `workEmail=${home}`, fields: ['phone'] });
  await pipeline.runUntilIdle();
  return async () => [
    (await call()).status,
    (await pipeline.results(by, list)).text.includes(homePhone),
    (await pipeline.people(by, people)).text,
  ];
}

describe('a person whose record was joined with another one', () => {
  it('is hidden in results that were made before', async () => {
    const read = await deliver();
    await importContact(home);
    expect(await read()).toEqual([200, true, expect.stringContaining(homePhone)]);
    await suppress(pipeline.sql, workPhone);
    expect(await read()).toEqual([404, false, 'person.phone\n']);
    const feed = await pipeline.call(by, '/v1/opt-outs');
    expect(((await feed.json()) as { data: unknown[] }).data).toHaveLength(2);
  });

  it('is erased with what was made before', async () => {
    const read = await deliver();
    await importContact(home);
    const erasure = await erasePerson(pipeline.context, { identifier: workPhone });
    expect(erasure).toMatchObject({ erased: 1, answers_cleared: 1 });
    expect(await read()).toEqual([404, false, 'person.phone\n']);
  });
});

it('is shown and erased by the id that earlier results have', async () => {
  await importContact(home);
  const [merged] = await pipeline.sql<{ id: number; intoId: number }[]>`
    select id, into_id from merged_ids`;
  const { id, intoId } = must(merged, 'a merged person');
  const shown = await showPerson(pipeline.context, { id });
  expect(shown.people).toMatchObject([{ id: intoId, record: { surname: 'Lark' } }]);
  const erasure = await erasePerson(pipeline.context, { id });
  expect(erasure).toMatchObject({ erased: 1, left: [] });
  expect(await statusOf(home)).toBe(404);
});

describe('an opt-out', () => {
  it('holds for the person with whose record that of the opt-out is joined', async () => {
    await suppress(pipeline.sql, homePhone);
    expect(await statusOf(work)).toBe(200);
    await importContact(home);
    expect(await statusOf(home)).toBe(404);
    const found = await pipeline.call(by, '/v1/personsearch?surname=Lark');
    expect(await found.json()).toEqual([]);
  });

  it('holds for the record that an undone import parts again', async () => {
    const joined = await importContact(home);
    await suppress(pipeline.sql, workPhone);
    await undoImport(pipeline.sql, joined);
    expect([await statusOf(home), await statusOf(work)]).toEqual([404, 404]);
  });

  it('of a record of a source holds for the person, although the row has lost its addresses', async () => {
    const home1 = 'cy@home.example';
    await importCy('crm', '2026-01-04', { email: home1 });
    await importCy('partners', '2026-01-05', { email: home1 });
    expect(await statusOf(home1)).toBe(200);
    await importRow('crm', '2026-01-06', { line: 2, optedOut: [], keys: [['person', 'cy']] });
    expect(await statusOf(home1)).toBe(404);
  });

  it('of a record holds for the person of whom only a list of the source had a part', async () => {
    const record = { name: 'Cy', surname: 'Finch', email: 'cy@home.example' };
    const part = { entity: 'person', key: 'list:cy', record, sameAs: ['key:crm/cy'] } as const;
    await importRow('crm', '2026-01-04', { line: 2, records: [part] });
    expect(await statusOf(record.email)).toBe(200);
    await importRow('crm', '2026-01-06', { line: 2, optedOut: [], keys: [['person', 'cy']] });
    expect(await statusOf(record.email)).toBe(404);
  });

  it('holds for records that joined those of the person at once and are parted by a later import', async () => {
    const home1 = 'cy@home.example';
    await importCy('crm', '2026-01-04', { email: home1, workEmail: 'cy@acme.example' });
    await importCy('partners', '2026-01-05', { email: home1 });
    await suppress(pipeline.sql, 'cy@acme.example');
    await importCy('crm', '2026-01-06', { email: 'cy@new.example', workEmail: 'cy@acme.example' });
    expect([await statusOf(home1), await statusOf('cy@new.example')]).toEqual([404, 404]);
  });

  it('holds for records that are parted and joined with several new ones', async () => {
    const email = 'cy@home.example';
    const record = { name: 'Cy', surname: 'Finch' };
    const person = (key: string, values: JsonRecord) =>
      ({ entity: 'person', key, record: { ...record, ...values } }) as const;
    await importCy('crm', '2026-01-04', { email, workEmail: 'cy@acme.example' });
    await importCy('partners', '2026-01-05', { email });
    await suppress(pipeline.sql, 'cy@acme.example');
    await importRow('crm', '2026-01-06', {
      line: 2,
      records: [
        person('cy', { email: 'cy@new.example', workEmail: 'cy@acme.example' }),
        person('cy2', { email }),
        person('cy3', { email }),
      ],
    });
    expect(await statusOf(email)).toBe(404);
  });

  it.each([
    ['in one import', true],
    ['in two imports', false],
  ])(
    'holds for records that are parted and joined with a person who is stored already, %s',
    async (_how, isAtOnce) => {
      const [first, other] = ['cy@home.example', 'cy@other.example'];
      await importCy('crm', '2026-01-04', { email: first, workEmail: 'cy@acme.example' });
      await importCy('partners', '2026-01-05', { email: first });
      await importCy('fairs', '2026-01-05', { email: other });
      await suppress(pipeline.sql, 'cy@acme.example');
      expect([await statusOf(first), await statusOf(other)]).toEqual([404, 200]);
      if (!isAtOnce) await importCy('partners', '2026-01-06', { email: 'cy@third.example' });
      await importCy('partners', '2026-01-07', { email: other });
      expect(await statusOf(other)).toBe(404);
      const feed = await pipeline.call(by, '/v1/opt-outs');
      const { data } = (await feed.json()) as { data: { id: number }[] };
      await importCy('fairs', '2026-01-08', { email: other, phone: homePhone });
      const later = await pipeline.call(by, '/v1/opt-outs');
      expect(await later.json()).toMatchObject({ data });
    },
  );

  it('holds for records that a file of one’s own takes from an import that was never built', async () => {
    const [email, workEmail] = ['cy@home.example', 'cy@acme.example'];
    await importCy('crm', '2026-01-04', { email, workEmail });
    await importCy('partners', '2026-01-05', { email });
    await withoutBuild(pipeline.sql, () =>
      importCy('crm', '2026-01-06', { email: 'cy@new.example', workEmail }),
    );
    await suppress(pipeline.sql, workEmail);
    await importGraph(pipeline.sql, { persons: [{ id: 7, name: 'Cy', surname: 'Finch', email }] });
    expect(await statusOf(email)).toBe(404);
  });

  it.each(['a@acme.example', 'b@acme.example'])(
    'by %s holds for records that one import takes out of two people and joins, also before it is built',
    async (optedOut) => {
      const person = (key: string, email: string, workEmail: string) => {
        const record = { name: 'Cy', surname: 'Finch', email, workEmail };
        return { entity: 'person', key, record } as const;
      };
      const [first, second] = ['a@home.example', 'b@home.example'];
      const two = [
        person('a', first, 'a@acme.example'),
        person('b', second, 'b@acme.example'),
      ] as const;
      await importRow('crm', '2026-01-04', { line: 2, records: two });
      await importCy('partners', '2026-01-05', { email: first });
      await importCy('fairs', '2026-01-05', { email: second });
      const three = [
        person('a', 'a@new.example', 'a@acme.example'),
        person('b', 'b@new.example', 'b@acme.example'),
        person('c', first, second),
      ] as const;
      await withoutBuild(pipeline.sql, () =>
        importRow('crm', '2026-01-06', { line: 2, records: three }),
      );
      await suppress(pipeline.sql, optedOut);
      await importCy('clubs', '2026-01-07', { email: 'cy@club.example' });
      const found = await Promise.all(
        [first, second, 'a@new.example', 'b@new.example', 'cy@club.example'].map(statusOf),
      );
      const isFirst = optedOut === 'a@acme.example';
      expect(found).toEqual([404, 404, isFirst ? 404 : 200, isFirst ? 200 : 404, 200]);
    },
  );

  it('holds for records that a file of one’s own parts', async () => {
    const [email, workEmail] = ['cy@home.example', 'cy@acme.example'];
    const own = { id: 7, name: 'Cy', surname: 'Finch', workEmail };
    await importGraph(pipeline.sql, { persons: [{ ...own, email }] });
    await importCy('partners', '2026-01-05', { email });
    await suppress(pipeline.sql, workEmail);
    await importGraph(pipeline.sql, { persons: [{ ...own, email: 'cy@new.example' }] });
    expect(await statusOf(email)).toBe(404);
  });

  it.each([
    ['before its import', true],
    ['after its import', false],
  ])('by a further address of a source holds, %s', async (_when, isBefore) => {
    const optOut = () => suppress(pipeline.sql, 'bo.further@home.example');
    if (isBefore) await optOut();
    const text =
      'BEGIN:VCARD\nVERSION:4.0\nUID:y\nN:Finch;Bo;;;\nEMAIL:bo@home.example\nEMAIL:bo.further@home.example\nEND:VCARD\n';
    const file = { source: 'vcard', name: 'b.vcf', asOf: '2026-01-04', text } as const;
    await importText(pipeline.sql, file, { allowsGone: true });
    expect(await statusOf('bo@home.example')).toBe(isBefore ? 404 : 200);
    if (!isBefore) expect(await optOut()).toEqual({ persons: 1 });
    expect(await statusOf('bo@home.example')).toBe(404);
  });

  it.each([
    ['phone', () => suppress(pipeline.sql, homePhone)],
    ['hash of the phone', () => suppressHashes(pipeline.sql, [hashOf(homePhone)])],
  ])('by a further %s, which only a less trusted source has, holds', async (_by, optOut) => {
    await importContact(home);
    expect(await statusOf(home)).toBe(200);
    expect(await optOut()).toMatchObject({ persons: 1 });
    expect(await statusOf(home)).toBe(404);
  });

  it('by a phone that only a less trusted source has holds in the import that brings it', async () => {
    await suppress(pipeline.sql, '+442079460003');
    await importContact(home);
    expect(await statusOf(home)).toBe(200);
    const text = `BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:Lark;Ada;;;\nEMAIL:${home}\nTEL:+442079460003\nEND:VCARD\n`;
    await importText(pipeline.sql, { source: 'vcard', name: 'c.vcf', asOf: '2026-01-05', text });
    expect(await statusOf(home)).toBe(404);
  });

  it('of an erased person holds for a phone that only a less trusted source has', async () => {
    await importContact(home);
    const erasure = await erasePerson(pipeline.context, { identifier: homePhone });
    expect(erasure).toMatchObject({ erased: 1, left: [] });
    const text = `BEGIN:VCARD\nVERSION:4.0\nUID:y\nN:Lark;Ada;;;\nEMAIL:ada@new.example\nTEL:${homePhone}\nEND:VCARD\n`;
    const file = { source: 'vcard', name: 'b.vcf', asOf: '2026-01-05', text } as const;
    await importText(pipeline.sql, file, { allowsGone: true });
    expect(await statusOf('ada@new.example')).toBe(404);
  });

  it('by a hash of a further address of a source holds', async () => {
    const text =
      'BEGIN:VCARD\nVERSION:4.0\nUID:y\nN:Finch;Bo;;;\nEMAIL:bo@home.example\nEMAIL:bo.further@home.example\nEND:VCARD\n';
    const file = { source: 'vcard', name: 'b.vcf', asOf: '2026-01-04', text } as const;
    await importText(pipeline.sql, file, { allowsGone: true });
    const hashes = [hashOf('bo.further@home.example')];
    expect(await suppressHashes(pipeline.sql, hashes)).toEqual({ hashes: 1, persons: 1 });
    expect(await statusOf('bo@home.example')).toBe(404);
  });

  it('of an erased person holds for the further addresses of their sources', async () => {
    const card = (uid: string, ...emails: string[]) => ({
      source: 'vcard',
      name: `${uid}.vcf`,
      asOf: `2026-01-0${uid}`,
      text: `BEGIN:VCARD\nVERSION:4.0\nUID:${uid}\nN:Finch;Bo;;;\n${emails.map((email) => `EMAIL:${email}\n`).join('')}END:VCARD\n`,
    });
    const first = card('4', 'bo@home.example', 'bo.further@home.example');
    await importText(pipeline.sql, first, { allowsGone: true });
    const erasure = await erasePerson(pipeline.context, { identifier: 'bo.further@home.example' });
    expect(erasure).toMatchObject({ erased: 1, left: [] });
    const second = card('5', 'bo.further@home.example');
    await importText(pipeline.sql, second, { allowsGone: true });
    expect(await statusOf('bo.further@home.example')).toBe(404);
  });
});
