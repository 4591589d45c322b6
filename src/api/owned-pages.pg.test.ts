/** A page that charges for no one tells no name of those whom its filter matches. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';
import { changeOwnedDays } from '../core/credits/owned.ts';
import { cursorAfter } from '../core/search/page.ts';
import { parseSearchQuery } from '../core/search/parse.ts';

/** Keller is owned; of the others a caller knows only where they work. */
const surnames = ['Keller', 'Adler', 'Zeller'];
const filters = surnames.map((_, at) => `companyId=[10|${10 + at}]`);

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, {
    persons: surnames.map((surname, at) => ({
      id: 5 - at,
      surname,
      email: `${surname.toLowerCase()}@list.example`,
      companyId: 10 + at,
    })),
    companies: surnames.map((_, at) => ({ id: 10 + at })),
  });
  caller = await pipeline.account(10);
  await changeOwnedDays(pipeline.sql, caller.accountId, 30);
  expect((await search('companyId=10')).charged).toBe('1');
});
afterAll(() => pipeline.close());

async function search(query: string) {
  const response = await pipeline.call(caller, `/personsearch/?${query}`);
  expect(response.status).toBe(200);
  return {
    people: (await response.json()) as { surname: string }[],
    charged: response.headers.get('X-Credits-Charged'),
    hasNext: response.headers.get('Link') !== null,
  };
}

test.each([
  ['surname', 'surname', 'keller'],
  ['id', 'id', null],
] as const)(
  'by a link after a place that the caller makes up in the order of %s',
  async (sort, by, key) => {
    for (const filter of filters) {
      const order = { by, descending: false };
      const cursor = cursorAfter({ id: 4, key }, parseSearchQuery(filter).filter, order);
      const page = await search(`${filter}&sort=${sort}&limit=1&cursor=${cursor}`);
      expect(page).toMatchObject({ people: [{ surname: 'Keller' }], charged: '0', hasNext: true });
    }
  },
);

test.each(['surname', '-surname'])('by its place in the order of %s', async (sort) => {
  const path = `/personsearch/?companyId=[10|11]&sort=${sort}&limit=1&skip=1`;
  const refused = await pipeline.call(caller, path);
  const { errors } = await expectProblem(refused, { status: 400, code: 'invalid_parameter' });
  expect(errors).toMatchObject([{ field: 'skip' }]);
  expect((await search(`companyId=10&sort=${sort}&skip=0&limit=1`)).people).toHaveLength(1);
});

test('by whether a page in the order of surnames can be paid', async () => {
  const poor = await pipeline.account(1);
  const filter = 'companyId=[11|12]';
  const order = { by: 'surname', descending: false } as const;
  // Two people sort after the first place, and no one after the second.
  for (const key of ['a', 'zz']) {
    const cursor = cursorAfter({ id: 0, key }, parseSearchQuery(filter).filter, order);
    const path = `/personsearch/?${filter}&sort=surname&limit=2&cursor=${cursor}`;
    const refused = await pipeline.call(poor, path);
    const told = { status: 402, code: 'insufficient_credits', needed: 2, available: 1 };
    await expectProblem(refused, told);
  }
  const part = await pipeline.call(poor, `/personsearch/?${filter}&sort=surname&partial=true`);
  expect(await part.json()).toMatchObject([{ surname: 'Adler' }]);
});

test('by the place of the own person after someone whose address the caller knows', async () => {
  // Zeller has the lowest id: stored, the owned person is the second one.
  for (const other of ['zeller@list.example', 'no.one@list.example']) {
    const filter = `email=[keller@list.example|${other}]`;
    const refused = await pipeline.call(caller, `/personsearch/?${filter}&limit=1&skip=1`);
    const { errors } = await expectProblem(refused, { status: 400, code: 'invalid_parameter' });
    expect(errors).toMatchObject([{ field: 'skip' }]);
    const owner = await pipeline.account(10);
    const page = await pipeline.call(owner, `/personsearch/?${filter}&limit=1&skip=2`);
    expect([page.status, await page.json()]).toEqual([200, []]);
  }
});
