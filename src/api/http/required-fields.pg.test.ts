/** Records without a required field do not match: in calls, lists and exports alike. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { expectProblem } from '../../../tests/support/problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const persons = [
    { id: 1, email: 'whole@home.example', workEmail: 'whole@work.example', summary: 'Long' },
    { id: 2, email: 'bare@home.example', mobile: '+447700900002' },
    { id: 3, email: 'bare@other.example', twitter: 'third', workEmail: 'third@work.example' },
    { id: 4, twitter: 'fourth' },
  ];
  await importGraph(pipeline.sql, { persons });
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

const call = (query: string, path = 'people/enrich') =>
  pipeline.call(caller, `/v1/${path}?${query}`);

/** The outcome of each row, by a list and by one call for each. */
async function inBoth(emails: string[], required: string) {
  const options = { operation: 'people.enrich', fields: 'id', required };
  const id = await pipeline.enrich(caller, `email\n${emails.join('\n')}\n`, options);
  const { text } = await pipeline.results(caller, id);
  const rows = text.trimEnd().split('\n').slice(1);
  const responses = await Promise.all(
    emails.map((email) => call(`email=${email}&fields=id&required=${required}`)),
  );
  return { rows, statuses: responses.map(({ status }) => status) };
}

describe('a required field', () => {
  test.each([
    ['workEmail', [200, 404, 404]],
    ['mobile', [404, 200, 404]],
    ['workEmail,summary', [200, 404, 404]],
    ['workEmail,mobile', [404, 404, 404]],
    ['id', [200, 200, 404]],
  ])('%s decides in a list as in calls', async (required, expected) => {
    const emails = ['whole@home.example', 'bare@home.example', 'nobody@home.example'];
    const { rows, statuses } = await inBoth(emails, required);
    expect(statuses).toEqual(expected);
    const outcome = (status: number, index: number) =>
      status === 200
        ? `${emails[index]},matched,email,,false,1,${index + 1}`
        : `${emails[index]},no_match,email,not_found,,0,`;
    expect(rows).toEqual(expected.map(outcome));
  });

  test('costs nothing when it is missing, and the response is that of an unknown person', async () => {
    const before = await pipeline.wallet(caller);
    const missing = await call('email=bare@home.example&required=workEmail');
    expect(missing.headers.get('x-credits-charged')).toBe('0');
    const unknown = await call('email=nobody@home.example&required=workEmail');
    const [one, other] = await Promise.all(
      [missing, unknown].map(async (response) => {
        const { request_id, ...problem } = (await response.json()) as Record<string, unknown>;
        expect(request_id).toBeTypeOf('string');
        return problem;
      }),
    );
    expect(one).toEqual(other);
    expect(one).toMatchObject({ code: 'no_match', detail: expect.stringMatching(/workEmail/) });
    expect(await pipeline.wallet(caller)).toEqual(before);
  });

  test('leaves the decision to the next identifier of the row', async () => {
    const list = 'email,twitter\nbare@home.example,third\nbare@home.example,fourth\n';
    const options = { operation: 'people.enrich', fields: 'id', required: 'workEmail' };
    const id = await pipeline.enrich(caller, list, options);
    expect((await pipeline.results(caller, id)).text.trimEnd().split('\n').slice(1)).toEqual([
      'bare@home.example,third,matched,twitter,,false,1,3',
      'bare@home.example,fourth,no_match,email twitter,not_found,,0,',
    ]);
  });

  test('is one that the record has', async () => {
    const wrong = { status: 400, code: 'invalid_parameter' };
    const problem = await expectProblem(await call('email=x@y.example&required=shoe'), wrong);
    expect(problem.errors).toMatchObject([{ field: 'required' }]);
    const list = await pipeline.call(caller, '/v1/batches?operation=people.enrich&required=shoe', {
      method: 'POST',
      headers: { 'Content-Type': 'text/csv' },
      body: 'email\nx@y.example\n',
    });
    await expectProblem(list, wrong);
  });

  test('can be set on a held list', async () => {
    const options = { operation: 'people.enrich', fields: 'id', hold: 'true' };
    const list = 'email\nwhole@home.example\nbare@home.example\n';
    const id = await pipeline.enrich(caller, list, options);
    const changed = await pipeline.call(caller, `/v1/batches/${id}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ required: ['workEmail'] }),
    });
    expect(await changed.json()).toMatchObject({ required: ['workEmail'] });
    await pipeline.call(caller, `/v1/batches/${id}/start`, { method: 'POST' });
    await pipeline.runUntilIdle();
    expect(await pipeline.batch(caller, id)).toMatchObject({
      rows: { matched: 1, no_match: 1 },
      credits: { charged: 1 },
    });
  });
});

describe('an export', () => {
  test('leaves out people without the required fields', async () => {
    const body = { filter: 'id=1-9', fields: ['id'], required: ['workEmail'] };
    const id = await pipeline.makeExport(caller, body);
    await pipeline.runUntilIdle();
    expect((await pipeline.people(caller, id)).text).toBe('person.id\n1\n3\n');
    expect(await pipeline.exportOf(caller, id)).toMatchObject({
      filter: 'id=1-9&workEmail=*',
      rows: { total: 2, matched: 2 },
      credits: { charged: 2 },
    });
  });

  test('takes a field either in its filter or as required', async () => {
    for (const required of [['workEmail'], ['shoe']]) {
      const response = await pipeline.call(caller, '/v1/exports', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ filter: 'workEmail=null', required }),
      });
      await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    }
  });
});
