/** Schedules of new people, and imports that join the records of people whom they have delivered. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { csvOf, importText } from './import-files.test-suite.ts';

const home = 'ada@home.example';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
});
afterEach(() => pipeline.close());

/** Imports the record of the CRM: with the private address it is surely the person of the card. */
async function importContact(surname: string, email: string, asOf: string): Promise<number> {
  const names = ['Record ID', 'First Name', 'Last Name', 'Email'];
  const row = { 'Record ID': '1', 'First Name': 'Ada', 'Last Name': surname, Email: email };
  const text = csvOf(names, [row]);
  const file = { source: 'hubspot', name: 'contacts.csv', asOf, text } as const;
  return must((await importText(pipeline.sql, file)).import_id, 'import');
}

async function post(path: string, body: object = {}): Promise<{ id: string }> {
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await pipeline.call(by, path, init)).json()) as { id: string };
}

it('a person whose record is joined with that of a delivered one is not delivered again', async () => {
  await importContact('Larch', 'ada@acme.example', '2026-01-01');
  const card = `BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:Lark;Ada;;;\nEMAIL:${home}\nEND:VCARD\n`;
  const file = { source: 'vcard', name: 'a.vcf', asOf: '2026-01-02', text: card } as const;
  await importText(pipeline.sql, file);
  const schedule = await post('/v1/schedules', {
    ...{ cron: '30 2 * * *', filter: 'surname=Lark', fields: ['id'], mode: 'new' },
  });
  const run = async () => {
    await post(`/v1/schedules/${schedule.id}/run`);
    await pipeline.runUntilIdle();
    const page = await pipeline.call(by, `/v1/schedules/${schedule.id}/runs`);
    const { data } = (await page.json()) as { data: { rows: number; credits: number }[] };
    return [data[0]?.rows, data[0]?.credits];
  };
  expect(await run()).toEqual([1, 1]);
  const joined = await importContact('Lark', home, '2026-01-03');
  const people = await pipeline.sql`
    select p.id from graph.persons p join graph.merged_ids m on m.into_id = p.id
    where p.surname = 'Lark'`;
  expect(people).toHaveLength(1);
  expect(await run()).toEqual([0, 0]);
  await undoImport(pipeline.sql, joined);
  expect(await run()).toEqual([0, 0]);
});
