/** People whom an account owns stay owned when an import joins their records with others. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { changeOwnedDays } from '../core/credits/owned.ts';
import { audit } from '../jobs/audit/audit.ts';
import { csvOf, importText } from './import-files.test-suite.ts';

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
