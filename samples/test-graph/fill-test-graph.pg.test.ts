import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type Database } from '../../src/core/db/client.ts';
import { enrichMany } from '../../src/core/enrich/enrich-many.ts';
import {
  type MagicWord,
  magicIdentifier,
  magicWords,
} from '../../src/core/enrich/magic-identifiers.ts';
import { type OperationName, operations } from '../../src/core/operations.ts';
import { createTestDatabase, type TestDatabase } from '../../tests/support/database.ts';
import { rowOf } from '../../tests/support/rows.ts';
import { fillTestGraphAt } from './fill-test-graph.ts';

let database: TestDatabase;
let testSql: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  // Two processes start concurrently, and one starts later.
  await Promise.all([fillTestGraphAt(database.url), fillTestGraphAt(database.url)]);
  await fillTestGraphAt(database.url);
  testSql = connect({ url: database.url, connections: 2, graph: 'graph_test' });
});
afterAll(async () => {
  await testSql.end();
  await database.drop();
});

const outcomes: Record<MagicWord, string> = {
  matched: 'matched',
  'no-match': 'no_match',
  ambiguous: 'ambiguous',
  suppressed: 'no_match',
  slow: 'matched',
  402: 'no_match',
  429: 'no_match',
  503: 'no_match',
};

const cases = Object.entries(operations).flatMap(([operation, { identifiers }]) =>
  identifiers.flatMap((kind) =>
    magicWords.map((word) => [operation as OperationName, kind, word, outcomes[word]] as const),
  ),
);

describe('every magic identifier has its outcome', () => {
  test.each(cases)('%s by %s: %s is %s', async (operation, kind, word, status) => {
    const row = rowOf(operation, { [kind]: magicIdentifier(word, kind) });
    const [outcome] = await enrichMany(testSql, operation, [row]);
    expect(outcome?.status).toBe(status);
  });
});

test('the graph also has a thousand synthetic people, and the live graph none', async () => {
  const [row] = await database.sql`
    select (select count(*) from graph_test.persons where id <= 1000) as people,
      (select count(*) from graph_test.persons where id > 1000) as magic,
      (select count(*) from graph.persons) as live`;
  expect(row).toEqual({ people: 1000, magic: 5, live: 0 });
});
