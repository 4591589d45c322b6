/** With `MOBILE_IN_RECORDS=false` the number of a person is sold by `people.mobile` alone, through every door. */
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { runDueSchedules } from '../jobs/schedule/run-due.ts';

const MOBILE = '+447700900001';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline({ MOBILE_IN_RECORDS: 'false' });
  caller = await pipeline.unmeteredAccount(1000);
  await importGraph(pipeline.sql, {
    companies: [{ id: 10, name: 'Acme' }],
    persons: [{ id: 1, name: 'Ada', email: 'ada@home.example', mobile: MOBILE, companyId: 10 }],
  });
});
afterAll(() => pipeline.close());

const list = 'Email\nada@home.example\n';

async function getJson(path: string): Promise<unknown> {
  const response = await pipeline.call(caller, path);
  expect(response.status).toBe(200);
  return response.json();
}

async function resultOf(options: Record<string, string>) {
  const id = await pipeline.upload(caller, list, options);
  await pipeline.runUntilIdle();
  return parse((await pipeline.results(caller, id)).text, { columns: true }) as object[];
}

test('records of calls have none, and the call that sells it has it', async () => {
  const ada = { id: 1, name: 'Ada', mobile: null };
  expect(await getJson('/v1/people/enrich?email=ada@home.example')).toMatchObject({ data: ada });
  expect(await getJson('/v1/people/enrich-with-company?email=ada@home.example')).toMatchObject({
    data: { person: ada, company: { name: 'Acme' } },
  });
  expect(await getJson('/v1/people/enrich?phone=%2B447700900001')).toMatchObject({ data: ada });
  expect(await getJson('/v1/people/mobile?email=ada@home.example')).toMatchObject({
    data: { person_id: 1, mobile: MOBILE },
  });
});

test('a search and an export have none', async () => {
  expect(await getJson('/personsearch/?name=Ada')).toMatchObject([{ name: 'Ada', mobile: null }]);
  const id = await pipeline.makeExport(caller, { filter: 'name=Ada' });
  await pipeline.runUntilIdle();
  const [row] = parse((await pipeline.people(caller, id)).text, { columns: true }) as object[];
  expect(row).toMatchObject({ 'person.name': 'Ada', 'person.mobile': '' });
});

test('lists keep the column, empty, but for a list of people.mobile', async () => {
  expect(await resultOf({ operation: 'people.enrich' })).toMatchObject([
    { 'match.status': 'matched', 'person.name': 'Ada', 'person.mobile': '' },
  ]);
  expect(await resultOf({ operation: 'people.enrich-with-company' })).toMatchObject([
    { 'person.mobile': '', 'company.name': 'Acme' },
  ]);
  expect(await resultOf({ operation: 'people.mobile' })).toMatchObject([
    { 'person.mobile': MOBILE },
  ]);
});

describe('asking for the field is refused before anything is charged', () => {
  const post = (path: string, body: object) =>
    pipeline.call(caller, path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  test.each([
    ['fields', () => pipeline.call(caller, '/v1/people/enrich?email=a%40b.example&fields=mobile')],
    [
      'required',
      () => pipeline.call(caller, '/v1/people/enrich?email=a%40b.example&required=mobile'),
    ],
    ['fields', () => pipeline.call(caller, '/personsearch/?name=Ada&fields=id,person.mobile')],
    ['fields', () => post('/v1/exports', { filter: 'name=Ada', fields: ['mobile'] })],
    [
      'fields',
      () => post('/v1/schedules', { cron: '0 3 * * *', filter: 'name=Ada', fields: ['mobile'] }),
    ],
    [
      'fields',
      () =>
        pipeline.call(caller, '/v1/batches?operation=people.enrich&fields=name,mobile', {
          method: 'POST',
          headers: { 'Content-Type': 'text/csv' },
          body: list,
        }),
    ],
  ])('%s, %#', async (field, ask) => {
    const before = await pipeline.wallet(caller);
    const problem = await expectProblem(await ask(), { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field }]);
    expect(problem.detail).toContain('/v1/people/mobile');
    expect(await pipeline.wallet(caller)).toEqual(before);
  });
});

describe('of what was accepted before the setting was changed', () => {
  /** Runs `work` as processes do that have the earlier setting. */
  async function underEarlier<Done>(work: () => Promise<Done>): Promise<Done> {
    const { config } = pipeline.context;
    Object.assign(config, { mobileInRecords: true });
    try {
      return await work();
    } finally {
      Object.assign(config, { mobileInRecords: false });
    }
  }
  const chosen = { operation: 'people.enrich', fields: 'name,mobile' };
  const refused = {
    state: 'failed',
    credits: { charged: 0, reserved: 0 },
    error: { code: 'invalid_parameter', status: 400 },
  };

  test('a list that chose the field ends without a charge for it, and keeps what was delivered', async () => {
    const delivered = await underEarlier(() => pipeline.enrich(caller, list, chosen));
    const id = await underEarlier(() => pipeline.upload(caller, list, chosen));
    const required = await underEarlier(() =>
      pipeline.upload(caller, list, { operation: 'people.enrich', required: 'mobile' }),
    );
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject(refused);
    expect(await pipeline.batch(caller, required)).toMatchObject(refused);
    expect(await pipeline.batch(caller, delivered)).toMatchObject({ credits: { charged: 1 } });
    expect((await pipeline.results(caller, delivered)).text).toContain(MOBILE);
  });

  test('an export that chose it, and one of a schedule, are not charged', async () => {
    const id = await underEarlier(() =>
      pipeline.makeExport(caller, { filter: 'name=Ada', fields: ['mobile'] }),
    );
    await pipeline.runUntilIdle();
    expect(await pipeline.exportOf(caller, id)).toMatchObject(refused);
    const made = await underEarlier(() =>
      pipeline.call(caller, '/v1/schedules', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ cron: '0 3 * * *', filter: 'name=Ada', fields: ['name', 'mobile'] }),
      }),
    );
    const { id: schedule } = (await made.json()) as { id: string };
    const tomorrow = new Date(Date.now() + 25 * 3_600_000);
    expect(await runDueSchedules(pipeline.context, tomorrow)).toEqual([]);
    const runs = await pipeline.call(caller, `/v1/schedules/${schedule}/runs`);
    expect(await runs.json()).toMatchObject({ data: [{ state: 'failed' }] });
  });
});
