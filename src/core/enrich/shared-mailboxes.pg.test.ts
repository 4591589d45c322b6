/** Rows with the mailbox of a function, which the graph knows of one person. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../../tests/support/pipeline.ts';
import { emptyPerson } from '../../../tests/support/small-graph.ts';

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  const person = (id: number, name: string, surname: string, email: string) => {
    return { ...emptyPerson, id, name, surname, email };
  };
  const persons = [
    person(1, 'Ada', 'Lovely', 'info@lark.example'),
    person(2, 'Bob', 'Breezy', 'bob@lark.example'),
    { ...person(3, 'Cora', 'Quiet', 'noreply@lark.example'), pastCompany: 'Lark Ltd' },
  ];
  await importGraph(pipeline.sql, { persons } as never);
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

test.each([
  ['Ada Lovely,info@lark.example', /,matched,email,,false,1,yes,1$/],
  ['A. Lovely,info@lark.example', /,matched,email,,false,1,yes,1$/],
  [',info@lark.example', /,matched,email,,false,1,unknown,1$/],
  ['Carol Distant,info@lark.example', /,no_match,email,not_found,,0,,$/],
  ['Carol Distant,bob@lark.example', /,matched,email,,false,1,no,2$/],
  ['Bob Breezy,info@lark.example;bob@lark.example', /,matched,email,,\w+,1,yes,2$/],
  ['Cora Quiet,noreply@lark.example', /,matched,email,,false,1,yes,3$/],
  [',noreply@lark.example', /,no_match,email,not_found,,0,,$/],
  ['Cora Distant,noreply@lark.example', /,no_match,email,not_found,,0,,$/],
])('who is meant by a shared mailbox says the name: %s', async (row, expected) => {
  const options = { operation: 'people.enrich', fields: 'id' };
  const list = await pipeline.enrich(caller, `Name,Email\n${row}\n`, options);
  const { text } = await pipeline.results(caller, list);
  expect(text.split('\n')[1]).toMatch(expected);
});

test.each(['', 'Cora Distant', 'test'])(
  'an employer does not say who reads an address of none: %j',
  async (name) => {
    const options = { operation: 'people.enrich', fields: 'id' };
    const row = `${name},noreply@lark.example,Lark Ltd`;
    const list = await pipeline.enrich(caller, `Name,Email,Company\n${row}\n`, options);
    const { text } = await pipeline.results(caller, list);
    expect(text.split('\n')[1]).toMatch(/,no_match,email,not_found,,0,,$/);
  },
);

test('an address that stands for none finds no one in a call, and may be verified', async () => {
  const { status } = await pipeline.call(caller, '/v1/people/enrich?email=noreply%40lark.example');
  expect(status).toBe(404);
  const workEmail = 'no-reply@acme.example';
  await importGraph(pipeline.sql, { persons: [{ ...emptyPerson, id: 4, workEmail }] } as never);
  const verified = await pipeline.call(caller, `/v1/people/email/verify?email=${workEmail}`);
  expect(verified.status).toBe(200);
});
