/** People whom an account owns stay owned when an import joins their records with others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { enrichCalls } from '../core/calls/enrich-calls.ts';
import { changeOwnedDays, findOwned } from '../core/credits/owned.ts';
import { finishImport } from '../core/graph/sources/import-source.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { audit } from '../jobs/audit/audit.ts';
import { csvOf, importText, withoutBuild } from './import-files.test-suite.ts';

const home = 'eve@home.example';

let pipeline: Pipeline;
let by: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(100);
  await changeOwnedDays(pipeline.sql, by.accountId, 30);
});
afterAll(() => pipeline.close());

async function importContact(asOf: string, email: string): Promise<void> {
  const row = { 'Record ID': '1', 'First Name': 'Eve', 'Last Name': 'Stone', Email: email };
  const text = csvOf(Object.keys(row), [row]);
  await importText(pipeline.sql, { source: 'hubspot', name: 'contacts.csv', asOf, text });
}

async function call(): Promise<{ id: number; credits: string | null }> {
  const answer = await pipeline.call(by, `/v1/people/enrich?email=${home}`);
  const { data } = (await answer.json()) as { data: { id: number } };
  return { id: data.id, credits: answer.headers.get('x-credits-charged') };
}

it('by calls, lists, searches and exports', async () => {
  await importContact('2026-01-01', 'eve@acme.example');
  const text = `BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:Stone;Eve;;;\nEMAIL:${home}\nEND:VCARD\n`;
  await importText(pipeline.sql, { source: 'vcard', name: 'a.vcf', asOf: '2026-01-02', text });
  const before = await call();
  expect(before.credits).toBe('1');
  await importContact('2026-01-03', home);
  const after = await call();
  expect(after.credits).toBe('0');
  expect(after.id).not.toBe(before.id);
  const list = await pipeline.enrich(by, `email\n${home}\n`, { operation: 'people.enrich' });
  expect(await pipeline.batch(by, list)).toMatchObject({ owned: 1, credits: { charged: 0 } });
  const filter = 'surname=Stone';
  const page = await pipeline.call(by, `/v1/personsearch?${filter}&limit=1`);
  expect(page.headers.get('x-credits-charged')).toBe('0');
  const people = await pipeline.makeExport(by, { filter });
  await pipeline.runUntilIdle();
  expect(await pipeline.exportOf(by, people)).toMatchObject({ owned: 1, credits: { charged: 0 } });
  const others = await pipeline.call(by, `/v1/personsearch?${filter}&not.owned=1&limit=1`);
  expect(await others.json()).toEqual([]);
  expect((await audit(pipeline.sql)).ok).toBe(true);
});

it('also while the people of a large import are not built yet', async () => {
  const [work, private_] = ['fay@acme.example', 'fay@home.example'];
  const importFay = (asOf: string, email: string) => {
    const row = { 'Record ID': '2', 'First Name': 'Fay', 'Last Name': 'Reed', Email: email };
    const text = csvOf(Object.keys(row), [row]);
    return importText(pipeline.sql, { source: 'hubspot', name: 'contacts.csv', asOf, text });
  };
  await importFay('2026-01-04', work);
  const card = `BEGIN:VCARD\nVERSION:4.0\nUID:y\nN:Reed;Fay;;;\nEMAIL:${private_}\nEND:VCARD\n`;
  const file = { source: 'vcard', name: 'b.vcf', asOf: '2026-01-05', text: card } as const;
  await importText(pipeline.sql, file, { allowsGone: true });
  const creditsFor = async (email: string) => {
    const answer = await pipeline.call(by, `/v1/people/enrich?email=${email}`);
    return [answer.status, answer.headers.get('x-credits-charged')];
  };
  expect(await creditsFor(work)).toEqual([200, '1']);
  await withoutBuild(pipeline.sql, () => importFay('2026-01-06', private_));
  expect(await creditsFor(private_)).toEqual([200, '0']);
  const people = await pipeline.call(by, '/v1/personsearch?surname=Reed&not.owned=1&limit=1');
  expect(await people.json()).toEqual([]);
});

it('and while they are not parted yet after an undo', async () => {
  const [work, private_] = ['gil@acme.example', 'gil@home.example'];
  const importGil = async (asOf: string, email: string) => {
    const row = { 'Record ID': '3', 'First Name': 'Gil', 'Last Name': 'Marsh', Email: email };
    const text = csvOf(Object.keys(row), [row]);
    const file = { source: 'hubspot', name: 'contacts.csv', asOf, text } as const;
    return must((await importText(pipeline.sql, file)).import_id, 'import');
  };
  await importGil('2026-01-07', work);
  const card = `BEGIN:VCARD\nVERSION:4.0\nUID:z\nN:Marsh;Gil;;;\nEMAIL:${private_}\nEND:VCARD\n`;
  const file = { source: 'vcard', name: 'c.vcf', asOf: '2026-01-08', text: card } as const;
  await importText(pipeline.sql, file, { allowsGone: true });
  const answered = async () => {
    const answer = await pipeline.call(by, `/v1/people/enrich?email=${private_}`);
    const { data } = (await answer.json()) as { data: { id: number } };
    return { id: data.id, credits: answer.headers.get('x-credits-charged') };
  };
  const parted = await answered();
  expect(parted.credits).toBe('1');
  const joining = await importGil('2026-01-09', private_);
  const joined = await answered();
  expect(joined.credits).toBe('0');
  expect(joined.id).not.toBe(parted.id);
  await withoutBuild(pipeline.sql, () => undoImport(pipeline.sql, joining));
  expect(await answered()).toEqual(joined);
  await finishImport(pipeline.sql, () => {});
  expect(await answered()).toEqual({ ...parted, credits: '0' });
  expect(await pipeline.sql`select from merged_ids where id = ${parted.id}`).toHaveLength(0);
});

describe('by a record that is joined with others', () => {
  const emails = (name: string) =>
    ['a', 'b', 'c'].map((one) => `${name}.${one}@home.example`) as [string, string, string];

  /** Imports contacts of these keys and emails, who have one name. */
  async function importContacts(asOf: string, surname: string, rows: Record<string, string>) {
    const given = Object.entries(rows).map(([key, email]) => {
      return { 'Record ID': key, 'First Name': 'Hal', 'Last Name': surname, Email: email };
    });
    const text = csvOf(['Record ID', 'First Name', 'Last Name', 'Email'], given);
    const file = { source: 'hubspot', name: 'contacts.csv', asOf, text } as const;
    const { import_id: id } = await importText(pipeline.sql, file, { allowsGone: true });
    return must(id, 'import');
  }

  async function importCard(asOf: string, surname: string, email: string): Promise<void> {
    const text = `BEGIN:VCARD\nVERSION:4.0\nUID:${surname}\nN:${surname};Hal;;;\nEMAIL:${email}\nEND:VCARD\n`;
    const file = { source: 'vcard', name: 'e.vcf', asOf, text } as const;
    await importText(pipeline.sql, file, { allowsGone: true });
  }

  async function pay(email: string): Promise<{ id: number; credits: string | null }> {
    const answer = await pipeline.call(by, `/v1/people/enrich?email=${email}`);
    const { data } = (await answer.json()) as { data: { id: number } };
    return { id: data.id, credits: answer.headers.get('x-credits-charged') };
  }

  it('and later with others again: whom the account paid for, and no one else', async () => {
    const [first, second, third] = emails('brook');
    await importContacts('2026-01-20', 'Brook', { x: first });
    await importCard('2026-01-21', 'Brook', second);
    await importContacts('2026-01-22', 'Brook', { x: first, y: third });
    expect((await pay(second)).credits).toBe('1');
    await importContacts('2026-01-23', 'Brook', { x: second, y: third });
    await importContacts('2026-01-24', 'Brook', { x: first, y: second });
    expect((await pay(second)).credits).toBe('0');
    expect((await pay(first)).credits).toBe('1');
  });

  it('also when imports are undone of which one parts it, and the next one joins it with a third, before they are built', async () => {
    const { sql } = pipeline;
    const [first, second, third] = emails('marl');
    await importContacts('2026-01-25', 'Marl', { v: first });
    await importCard('2026-01-26', 'Marl', second);
    await importContacts('2026-01-27', 'Marl', { v: first, w: second });
    const parting = await importContacts('2026-01-28', 'Marl', { v: first, w: third });
    const paid = await pay(second);
    expect(paid.credits).toBe('1');
    await importContacts('2026-01-29', 'Marl', { v: second, w: third });
    await withoutBuild(sql, () => undoImport(sql, parting, { withLater: true }));
    const [joined] = await sql<{ id: number }[]>`
      select id from merged_ids where into_id = ${paid.id}`;
    const charge = { accountId: by.accountId, operation: 'people.enrich' as const };
    const id = must(joined, 'the third').id;
    expect(await findOwned(sql, charge, [id])).toEqual(new Set([id]));
    const list = await pipeline.enrich(by, `email\n${third}\n`, { operation: 'people.enrich' });
    expect(await pipeline.batch(by, list)).toMatchObject({ owned: 1, credits: { charged: 0 } });
    await finishImport(sql, () => {});
  });
});

it('as one, in one list, page or round of calls, while a large import that joins them is not built yet', async () => {
  const { sql } = pipeline;
  const names = ['Ash', 'Birch', 'Cedar'];
  const emailsOf = (name: string) => [`${name}@acme.example`, `${name}@home.example`] as const;
  const contacts = (email: (name: string) => string) => {
    const rows = names.map((name) => {
      return { 'Record ID': name, 'First Name': 'Ivy', 'Last Name': name, Email: email(name) };
    });
    return csvOf(['Record ID', 'First Name', 'Last Name', 'Email'], rows);
  };
  const importContacts = (asOf: string, email: (name: string) => string) =>
    importText(
      sql,
      { source: 'hubspot', name: 'contacts.csv', asOf, text: contacts(email) },
      { allowsGone: true },
    );
  const card = (name: string) =>
    `BEGIN:VCARD\nVERSION:4.0\nUID:${name}\nN:${name};Ivy;;;\nEMAIL:${emailsOf(name)[1]}\nEND:VCARD\n`;
  await importContacts('2026-01-10', (name) => emailsOf(name)[0]);
  const cards = {
    source: 'vcard',
    name: 'd.vcf',
    asOf: '2026-01-11',
    text: names.map(card).join(''),
  } as const;
  await importText(sql, cards, { allowsGone: true });
  await withoutBuild(sql, () => importContacts('2026-01-12', (name) => emailsOf(name)[1]));
  const balance = async () => (await pipeline.wallet(by))?.balance ?? 0;
  const before = await balance();

  const text = `email\n${emailsOf('Ash').join('\n')}\n`;
  const list = await pipeline.enrich(by, text, { operation: 'people.enrich' });
  expect(await pipeline.batch(by, list)).toMatchObject({
    rows: { matched: 2 },
    owned: 1,
    credits: { charged: 1 },
  });
  const page = await pipeline.call(by, '/v1/personsearch?surname=Birch&limit=5');
  expect(await page.json()).toHaveLength(2);
  expect(page.headers.get('x-credits-charged')).toBe('1');
  const calls = emailsOf('Cedar').map((email) => ({
    ...{
      accountId: by.accountId,
      keyId: by.keyId,
      sessionSha256: null,
      isPlain: false,
      live: true,
    },
    ...{
      operation: 'people.enrich' as const,
      required: null,
      minProbability: null,
      reference: email,
    },
    row: {
      identifiers: [{ kind: 'email' as const, values: [email.toLowerCase()] }],
      invalid: null,
    },
  }));
  const round = await enrichCalls(pipeline.context, calls);
  expect(round.map((one) => (one instanceof Error ? one : one.charged))).toEqual([1, 0]);
  expect(await balance()).toBe(before - 3);
  expect((await audit(sql)).ok).toBe(true);
});
