/** `sort`: pages of a search in the order of a value, by a cursor and by `skip`, without a gap or a repetition. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import { expectProblem } from '../../tests/support/problem.ts';

const PEOPLE = 23;
const LIMIT = 4;

let pipeline: Pipeline;
let caller: Caller;
beforeAll(async () => {
  pipeline = await openPipeline();
  caller = await pipeline.unmeteredAccount(100_000);
  await importGraph(pipeline.sql, {
    persons: Array.from({ length: PEOPLE }, (_, index) => ({
      id: index + 1,
      name: 'Ada',
      // Several people share each value, and the orders differ.
      surname: ['Ærø', 'zulu', 'Alpha', 'O’Neil', '日本'][(index * 3) % 5] ?? '',
      createdAt: `2020-01-0${1 + (index % 4)}T00:00:00`,
      whenUpdated: `2024-0${9 - ((index * 7) % 6)}-01T12:00:00`,
    })),
  });
});
afterAll(() => pipeline.close());

interface Person {
  id: number;
  surname: string;
  createdAt: string;
  whenUpdated: string;
}

async function read(path: string): Promise<{ people: Person[]; next: string | null }> {
  const response = await pipeline.call(caller, path);
  expect(response.status).toBe(200);
  const next = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '')?.[1] ?? null;
  return { people: (await response.json()) as Person[], next };
}

const ids = (people: readonly Person[]) => people.map(({ id }) => id);

describe.each(['id', 'whenUpdated', 'createdAt', 'surname'] as const)('by %s', (by) => {
  test.each(['', '-'])('%s', async (minus) => {
    const query = `/personsearch/?name=Ada&sort=${minus}${by}`;
    const { people } = await read(query);
    expect(people).toHaveLength(PEOPLE);
    for (const [index, person] of people.entries()) {
      const before = people[index - 1];
      if (before === undefined) continue;
      const [first, second] = minus === '' ? [before, person] : [person, before];
      // Texts are in the order of their folded letters: the surname is checked by its groups below.
      if (by !== 'surname') expect(first[by] <= second[by]).toBe(true);
      if (first[by] === second[by]) expect(first.id).toBeLessThan(second.id);
    }
    const changes = people.filter((person, index) => person[by] !== people[index - 1]?.[by]);
    expect(changes).toHaveLength(new Set(people.map((person) => person[by])).size);
    const byCursor: Person[] = [];
    for (let next: string | null = `${query}&limit=${LIMIT}`; next !== null; ) {
      const page = await read(next);
      byCursor.push(...page.people);
      next = page.next;
    }
    expect(ids(byCursor)).toEqual(ids(people));
    const bySkip: Person[] = [];
    for (let skip = 0; skip < PEOPLE; skip += LIMIT) {
      bySkip.push(...(await read(`${query}&limit=${LIMIT}&skip=${skip}`)).people);
    }
    expect(ids(bySkip)).toEqual(ids(people));
    // A position that no page has ended at.
    expect(ids((await read(`${query}&skip=${PEOPLE - 2}`)).people)).toEqual(ids(people).slice(-2));
  });
});

test('the latest first', async () => {
  const { people } = await read('/personsearch/?name=Ada&sort=-whenUpdated&limit=1');
  expect(people[0]?.whenUpdated).toBe('2024-09-01T12:00:00');
});

test('a cursor belongs to its order', async () => {
  const { next } = await read('/personsearch/?name=Ada&sort=surname&limit=2');
  for (const other of ['sort=-surname', 'sort=id']) {
    const response = await pipeline.call(caller, next?.replace('sort=surname', other) ?? '');
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field: 'cursor' }]);
  }
});

test.each([
  ['surname', ['a\0b']],
  [
    'whenUpdated',
    ['', 'x', 'now', '\0', '0000-01-01 00:00:00', '2024-02-30 00:00:00', '99999-01-01 00:00:00'],
  ],
  ['-createdAt', ['x', '2024-01-01 25:00:00', '2024-01-01 00:00:00+25']],
] as const)('a cursor whose place in the order of %s is made up is refused', async (sort, keys) => {
  const { next } = await read(`/personsearch/?name=Ada&sort=${sort}&limit=2`);
  const [before = '', cursor = ''] = next?.split('cursor=') ?? [];
  const [search, id] = Buffer.from(cursor, 'base64url').toString().split('.');
  for (const key of keys) {
    const place = `${search}.${id}.${Buffer.from(key).toString('base64url')}`;
    const forged = `${before}cursor=${Buffer.from(place).toString('base64url')}`;
    const response = await pipeline.call(caller, forged);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field: 'cursor' }]);
  }
});

test.each(['name', '', '-', '--id', 'surname,id'])(
  '`%s` is refused, and the orders named',
  async (sort) => {
    const response = await pipeline.call(caller, `/personsearch/?name=Ada&sort=${sort}`);
    const problem = await expectProblem(response, { status: 400, code: 'invalid_parameter' });
    expect(problem.errors).toMatchObject([{ field: 'sort' }]);
    expect(problem.detail).toContain('whenUpdated');
  },
);
