/** Deliveries of schedules, lists and searches before an import joins the records of their people. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { crowd } from '../../tests/support/small-graph.ts';
import { grantCredits } from '../core/credits/credits.ts';
import { undoImport } from '../core/graph/sources/undo-import.ts';
import { must } from '../core/lib/assert.ts';
import { csvOf, importText, withoutBuild } from './import-files.test-suite.ts';

const home = 'ada@home.example';
const homePhone = '+442079460002';

let pipeline: Pipeline;
let by: Caller;
beforeEach(async () => {
  pipeline = await openPipeline();
  by = await pipeline.account(1000);
  await importContact('Larch', 'ada@acme.example', '2026-01-01');
  await importCard('Lark', '2026-01-02');
});
afterEach(() => pipeline.close());

async function importCard(surname: string, asOf: string): Promise<void> {
  const text = `BEGIN:VCARD\nVERSION:4.0\nUID:x\nN:${surname};Ada;;;\nEMAIL:${home}\nEND:VCARD\n`;
  await importText(pipeline.sql, { source: 'vcard', name: 'a.vcf', asOf, text });
}

/** Imports the record of the CRM: with the private address it is surely the person of the card. */
async function importContact(surname: string, email: string, asOf: string): Promise<number> {
  const phone = email === home ? homePhone : '';
  const name = { 'First Name': 'Ada', 'Last Name': surname };
  const row = { 'Record ID': '1', ...name, Email: email, 'Phone Number': phone };
  const text = csvOf(Object.keys(row), [row]);
  const file = { source: 'hubspot', name: 'contacts.csv', asOf, text } as const;
  return must((await importText(pipeline.sql, file)).import_id, 'import');
}

async function post(path: string, body: object = {}): Promise<{ id: string }> {
  const headers = { 'Content-Type': 'application/json' };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  return (await (await pipeline.call(by, path, init)).json()) as { id: string };
}

/** Makes a schedule of new people; returns a function that runs it and returns the rows and credits of the run. */
async function scheduleNew(surname: string) {
  const schedule = await post('/v1/schedules', {
    ...{ cron: '30 2 * * *', filter: `surname=${surname}`, fields: ['id'], mode: 'new' },
  });
  return async () => {
    await post(`/v1/schedules/${schedule.id}/run`);
    await pipeline.runUntilIdle();
    const page = await pipeline.call(by, `/v1/schedules/${schedule.id}/runs`);
    const { data } = (await page.json()) as { data: { rows: number; credits: number }[] };
    return [data[0]?.rows, data[0]?.credits];
  };
}

it('a person whose record is joined with that of a delivered one is not delivered again', async () => {
  const run = await scheduleNew('Lark');
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

it('nor while the people of a large import, which joins them, are not built yet', async () => {
  const run = await scheduleNew('Larch');
  expect(await run()).toEqual([1, 1]);
  await importCard('Larch', '2026-01-03');
  await withoutBuild(pipeline.sql, () => importContact('Larch', home, '2026-01-04'));
  expect(await run()).toEqual([0, 0]);
});

it('nor when it is joined while the run waits for credits', async () => {
  by = await pipeline.account(1);
  const { accountId } = by;
  const schedule = await post('/v1/schedules', {
    ...{ cron: '30 2 * * *', filter: 'surname=Lark', fields: ['id'], mode: 'new' },
  });
  const run = async () => {
    await post(`/v1/schedules/${schedule.id}/run`);
    await pipeline.runUntilIdle();
    const [made] = await pipeline.sql<{ id: string }[]>`
      select id from batches where schedule_id = ${schedule.id} order by created_at desc limit 1`;
    return must(made, 'an export').id;
  };
  await run();
  // Another person, as far as is known.
  await importContact('Lark', 'ada@acme.example', '2026-01-03');
  const waiting = await run();
  const read = async () => {
    const response = await pipeline.call(by, `/v1/exports/${waiting}`);
    return (await response.json()) as object;
  };
  expect(await read()).toMatchObject({ state: 'paused', reason: 'insufficient_credits' });
  await importContact('Lark', home, '2026-01-04');
  await grantCredits(pipeline.sql, { accountId, amount: 5, reference: 'more' });
  await post(`/v1/exports/${waiting}/resume`);
  await pipeline.runUntilIdle();
  expect(await read()).toMatchObject({ state: 'completed', credits: { charged: 0 } });
});

it('a row of a list with dedupe whose record was joined with that of an earlier row is a duplicate of it', async () => {
  const options = { operation: 'people.enrich', fields: 'id', dedupe: 'true' };
  const text = `email,phone\n${home},\n,${homePhone}\n`;
  const list = await pipeline.enrich(by, text, options);
  expect(await pipeline.batch(by, list)).toMatchObject({ rows: { matched: 1, no_match: 1 } });
  await importContact('Lark', home, '2026-01-03');
  const rerun = await post(`/v1/batches/${list}/rerun`, { outcomes: ['no_match'] });
  await pipeline.runUntilIdle();
  expect(await pipeline.batch(by, rerun.id)).toMatchObject({
    rows: { duplicate: 1 },
    credits: { charged: 0 },
  });
  expect((await pipeline.results(by, rerun.id)).text).toContain('same_record_as_row_1');
});

it('nor is one charged twice in a list with dedupe, and in its quote, while a large import that joins them is not built', async () => {
  // The quote of a list is exact when ten of its rows match.
  await importGraph(pipeline.sql, { persons: crowd(9) });
  const others = crowd(9).map(({ email }) => email);
  await withoutBuild(pipeline.sql, () => importContact('Lark', home, '2026-01-03'));
  const options = { operation: 'people.enrich', fields: 'id', dedupe: 'true', hold: 'true' };
  const rows = { matched: 10, duplicate: 1 };
  const both = [home, 'ada@acme.example'];
  for (const chunkRows of [5, 20]) {
    for (const [first, second] of [both, both.toReversed()]) {
      const text = ['email', first, ...others, second, ''].join('\n');
      const list = await pipeline.upload(by, text, options);
      const config = { ...pipeline.context.config, chunkRows };
      const run = () => pipeline.queues.runUntilIdle({ ...pipeline.context, config });
      await run();
      await post(`/v1/batches/${list}/quote`);
      await run();
      expect(await pipeline.batch(by, list)).toMatchObject({ quote: { rows, credits: 10 } });
      await post(`/v1/batches/${list}/start`);
      await run();
      expect(await pipeline.batch(by, list)).toMatchObject({ rows, credits: { charged: 10 } });
      expect((await pipeline.results(by, list)).text).toContain('same_record_as_row_1');
    }
  }
});

it('the replay of a search has the record that the one of its person was joined with, in the place of that', async () => {
  await importGraph(pipeline.sql, { persons: [{ id: 7, name: 'Bo', surname: 'Finch' }] });
  const search = () =>
    pipeline.call(by, '/v1/personsearch?surname=[Lark|Finch]&sort=-surname&fields=surname,phone', {
      headers: { 'Idempotency-Key': 'k' },
    });
  const before = [
    { surname: 'Lark', phone: '' },
    { surname: 'Finch', phone: '' },
  ];
  expect(await (await search()).json()).toEqual(before);
  expect(await (await search()).json()).toEqual(before);
  await importContact('Lark', home, '2026-01-03');
  const after = await search();
  expect(after.headers.get('x-credits-charged')).toBe('0');
  expect(await after.json()).toEqual([{ surname: 'Lark', phone: homePhone }, before[1]]);
});
