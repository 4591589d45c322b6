/** Searches that an account keeps under a name. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.unmeteredAccount(1);
});
afterAll(() => pipeline.close());

const save = (name: string, filter = 'gender=2', as = caller) =>
  pipeline.call(as, '/v1/searches', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, filter }),
  });

const listOf = async (as: Caller) => {
  const page = await (await pipeline.call(as, '/v1/searches?limit=100')).json();
  return (page as { data: { id: string; name: string; filter: string }[] }).data;
};

test('are kept as sent, one for each name, and up to 100', async () => {
  const filter = 'positionList=[Engineer|CEO]&not.companyId=[1|2]';
  const first = (await (await save(' Leads ', filter)).json()) as { id: string };
  expect(first).toMatchObject({ name: 'Leads', filter });
  expect(await (await save('Leads', 'gender=1')).json()).toMatchObject({
    id: first.id,
    filter: 'gender=1',
  });
  for (let n = 2; n <= 100; n++) expect((await save(`Search ${n}`)).status).toBe(201);
  await expectProblem(await save('One more'), { status: 409, code: 'too_many_searches' });
  // One that is there can still be changed.
  expect((await save('Leads')).status).toBe(201);
  const gone = await pipeline.call(caller, `/v1/searches/${first.id}`, { method: 'DELETE' });
  expect(gone.status).toBe(204);
  expect((await save('One more')).status).toBe(201);
  const names = (await listOf(caller)).map(({ name }) => name);
  expect([names.length, names[0], names.includes('Leads')]).toEqual([100, 'One more', false]);
});

test('are those of the account and mode alone', async () => {
  const owner = await pipeline.unmeteredAccount(1);
  const { id } = (await (await save('Ours', 'gender=2', owner)).json()) as { id: string };
  const inTest = await pipeline.keyOf(owner.accountId, 'test');
  for (const stranger of [caller, inTest]) {
    expect((await listOf(stranger)).map((one) => one.id)).not.toContain(id);
    const refused = await pipeline.call(stranger, `/v1/searches/${id}`, { method: 'DELETE' });
    await expectProblem(refused, { status: 404, code: 'not_found' });
  }
  expect(await listOf(owner)).toHaveLength(1);
});

test('are refused with the place of what is wrong', async () => {
  for (const [filter, code] of [
    ['gender=3', 'invalid_parameter'],
    ['nme=x', 'invalid_parameter'],
    ['', 'filter_required'],
    ['limit=3', 'invalid_parameter'],
  ] as const) {
    await expectProblem(await save('Wrong', filter), { status: 400, code });
  }
});
