/** Mappings that an account keeps under a name. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { listNamedMappings } from '../jobs/batch/named-mappings.sql.ts';

let pipeline: Pipeline;
let caller: Caller;
let list: string;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.unmeteredAccount(1);
  const options = { operation: 'people.enrich', hold: 'true' };
  list = await pipeline.enrich(caller, 'Mail,Who\na@b.example,Ann Lee\n', options);
});
afterAll(() => pipeline.close());

const save = (name: string, batch_id = list, as = caller) =>
  pipeline.call(as, '/v1/mappings', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name, batch_id }),
  });

const namesOf = async (as: Caller) => {
  const page = await (await pipeline.call(as, '/v1/mappings?limit=100')).json();
  return (page as { data: { name: string }[] }).data.map(({ name }) => name);
};

test('are kept by the names of their columns, one for each name, and up to 100', async () => {
  const first = (await (await save('CRM')).json()) as { id: string };
  expect(first).toMatchObject({ operation: 'people.enrich', columns: { email: ['Mail'] } });
  expect(await (await save('CRM')).json()).toMatchObject({ id: first.id });
  for (let n = 2; n <= 100; n++) expect((await save(`List ${n}`)).status).toBe(201);
  await expectProblem(await save('One more'), { status: 409, code: 'too_many_mappings' });
  // One that is there can still be changed.
  expect((await save('CRM')).status).toBe(201);
  const gone = await pipeline.call(caller, `/v1/mappings/${first.id}`, { method: 'DELETE' });
  expect(gone.status).toBe(204);
  expect((await save('One more')).status).toBe(201);
  expect(await namesOf(caller)).toHaveLength(100);
});

test('have names of 16 KiB at most, and a page reads no more than it shows', async () => {
  const as = await pipeline.account(0);
  const columns = Array.from({ length: 50 }, (_, column) => `${column}${'\u4e2d'.repeat(250)}`);
  const numbers = columns.map((_, column) => column + 1);
  const mapping = JSON.stringify({ email: numbers });
  const options = { operation: 'people.enrich', hold: 'true', mapping };
  const long = await pipeline.enrich(as, `${columns.join()}\na@b.example\n`, options);
  const problem = await expectProblem(await save('Long', long, as), {
    status: 400,
    code: 'invalid_parameter',
  });
  expect(problem.detail).toMatch(/more than 16384 bytes/);
  // Those of earlier versions may be longer.
  await pipeline.sql`
    insert into named_mappings (id, account_id, live, operation, name, columns)
    select gen_random_uuid(), ${as.accountId}, true, 'people.enrich', 'Long ' || number,
      ${pipeline.sql.json({ email: columns, phone: columns, city: columns, country: columns })}
    from generate_series(1, 20) number`;
  const owner = { accountId: as.accountId, live: true };
  const page = { operation: null, before: null, limit: 101, bytesMax: 400_000 };
  expect(await listNamedMappings(pipeline.sql, owner, page)).toHaveLength(3);
});

test('are those of the account alone, and of lists with a header', async () => {
  const stranger = await pipeline.unmeteredAccount(1);
  expect(await namesOf(stranger)).toEqual([]);
  await expectProblem(await save('Theirs', list, stranger), { status: 404, code: 'not_found' });
  const options = { operation: 'people.enrich', hold: 'true', header: 'false' };
  const bare = await pipeline.enrich(stranger, 'a@b.example\n', options);
  const refused = await save('Bare', bare, stranger);
  const problem = await expectProblem(refused, { status: 400, code: 'invalid_parameter' });
  expect(problem.errors[0]?.field).toBe('batch_id');
});
