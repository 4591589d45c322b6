/** A list whose columns of given and family name hold each other's names is noticed. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importGraph } from '../../tests/support/graph.ts';
import { type Caller, openPipeline, type Pipeline } from '../../tests/support/pipeline.ts';
import type { BatchView } from '../jobs/batch/batch-view.ts';

let pipeline: Pipeline;
let caller: Caller;

const given = ['Anna', 'Bernd', 'Clara', 'Dieter', 'Emma', 'Franz', 'Greta', 'Hugo'];
const family = ['Weber', 'Lorenz', 'Krause', 'Vogt', 'Seidel', 'Brandt', 'Kuhn', 'Haas'];
const people = given.flatMap((name, first) =>
  family.flatMap((surname, last) =>
    [1000, 2000].map((id) => ({ id: id + first * 8 + last, name, surname })),
  ),
);
/** Too few for a free response to tell how many have their family name. */
const few = Array.from({ length: 9 }, (_, at) => ({
  id: 3001 + at,
  name: `M${at}`,
  surname: 'Quast',
}));

beforeAll(async () => {
  pipeline = await openPipeline();
  await importGraph(pipeline.sql, { persons: [...people, ...few] });
  caller = await pipeline.unmeteredAccount(100);
});
afterAll(() => pipeline.close());

const listOf = (rows: readonly (readonly [string, string])[], header = 'First name,Last name') =>
  `${header},Company\n${rows.map((row) => `${row.join(',')},Acme\n`).join('')}`;
const straight = given.map((name, index) => [name, family[index] ?? ''] as const);
const swapped = straight.map(([first, last]) => [last, first] as const);

async function held(csv: string): Promise<BatchView> {
  const options = { operation: 'people.enrich', match: 'likely', hold: 'true' };
  const id = await pipeline.enrich(caller, csv, options);
  return pipeline.batch(caller, id);
}

test('said by the list and its preview, until the columns are mapped the other way round', async () => {
  const { id, dialect } = await held(listOf(swapped));
  expect(dialect.doubts).toContain('names');
  const preview = await pipeline.call(caller, `/v1/batches/${id}/preview`);
  expect(await preview.json()).toMatchObject({ dialect: { doubts: dialect.doubts } });
  const mapping = { person_name: [2, 1], company_name: 3 };
  const patched = await pipeline.call(caller, `/v1/batches/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ mapping }),
  });
  const after = (await patched.json()) as BatchView;
  expect(after).toMatchObject({
    state: 'ready',
    mapping: { person_name: [{ column: 2 }, { column: 1 }] },
  });
  expect(after.dialect.doubts).not.toContain('names');
});

test.each([
  ['in their own columns', listOf(straight)],
  ['in columns whose header says so', listOf(swapped, 'Last name,First name')],
  ['that are swapped in some rows', listOf([...straight, ...swapped.slice(0, 4)])],
  ['of which too few tell', listOf(swapped.slice(0, 4))],
  ['that the graph does not know', listOf(swapped.map(([a, b]) => [`${a}xx`, `${b}xx`]))],
  ['that fewer than ten people have', listOf(swapped.map(() => ['Quast', 'Nix']))],
  ['in one column', `Name,Company\n${swapped.map((row) => `${row.join(' ')},Acme\n`).join('')}`],
])('not said of names %s', async (_, csv) => {
  const { dialect } = await held(csv);
  expect(dialect.doubts).not.toContain('names');
});
